// The product of the diagonal of matrix `i`.
fn element(i: u32) {
    var product = T(1);
    for (var k = 0u; k < params.rows; k++) {
        product *= load_x((i * params.rows + k) * params.rows + k);
    }
    store_out(i, product);
}
