// The difference as an integer, the product in f32.
fn element(i: u32) {
    let scale = scale_of(i);
    var steps = i32(load_x(i));
    if (params.has_point == 1u) { steps -= i32(load_point(scale)); }
    store_out(i, f32(steps) * load_scale(scale));
}
