// Places are compared as signed numbers: the diagonal may lie left of the matrix.
fn element(i: u32) {
    let column = i32(i % params.columns);
    let diagonal = i32((i / params.columns) % params.rows) + params.k;
    if (select(column <= diagonal, column >= diagonal, params.upper == 1u)) {
        store_out(i, load_x(i));
    } else {
        store_out(i, Bits());
    }
}
