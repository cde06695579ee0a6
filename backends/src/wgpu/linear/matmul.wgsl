// One element of a product: the part of its sum that this launch adds, in the order of the inner dimension, to what the
// launches before it have.
fn element(i: u32) {
    let column = i % params.columns;
    let row = (i / params.columns) % params.rows;
    let matrices = places(i / (params.rows * params.columns));
    var at = matrices[0] + row * params.a_row_step + params.start * params.a_column_step;
    var bt = matrices[1] + column * params.b_column_step + params.start * params.b_row_step;
    var r = T(0);
    if (params.start > 0u) { r = load_out(i); }
    for (var k = params.start; k < params.end; k++) {
        r += load_a(at) * load_b(bt);
        at += params.a_column_step;
        bt += params.b_row_step;
    }
    store_out(i, r);
}
