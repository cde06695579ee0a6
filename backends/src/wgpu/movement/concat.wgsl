// Element `i` of a part goes to its place in the result.
fn element(i: u32) {
    let row = i / params.own;
    store_out(row * params.row + params.start + i % params.own, load_x(i));
}
