// The view says where in `x` the lane begins; its stride along the axis is left to the index.
fn element(i: u32) {
    let at = wrapped(load_indices(i), params.extent);
    store_out(i, load_x(places(i)[0] + at * params.stride));
}
