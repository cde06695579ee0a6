// In the type of a dtype.
fn element(i: u32) {
    store_out(i, load_x(i) * T(3) + T(1));
}
