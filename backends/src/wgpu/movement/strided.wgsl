// Element `i` of the result is the element that its view names.
fn element(i: u32) {
    store_out(i, load_x(places(i)[0]));
}
