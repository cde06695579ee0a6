// A square of a product. What lies beyond the matrices counts as 0.
fn team(number: u32, local: u32) {
    let size = params.rows * params.columns;
    let tiles = squares_of(Matrix(0u, params.rows, params.columns));
    let matrix = Matrix((number / tiles) * size, params.rows, params.columns);
    let square = square_of(matrix, number % tiles, local);
    let operands = places(number / tiles);
    var sums = Sums(vec4<T>(), vec4<T>(), vec4<T>(), vec4<T>());
    if (params.start > 0u) { sums = so_far(matrix, square); }
    for (var start = params.start; start < params.end; start += 8u) {
        for (var i = local; i < 256u; i += 64u) {
            let k = start + i % 8u;
            let row = square.first_row + i / 8u;
            var element = T(0);
            if (k < params.end && row < params.rows) {
                element = load_a(operands[0] + row * params.a_row_step + k * params.a_column_step);
            }
            left[(i % 8u) * 32u + i / 8u] = element;
        }
        for (var i = local; i < 256u; i += 64u) {
            let k = start + i / 32u;
            let column = square.first_column + i % 32u;
            var element = T(0);
            if (k < params.end && column < params.columns) {
                element = load_b(operands[1] + column * params.b_column_step + k * params.b_row_step);
            }
            right[i] = element;
        }
        sums = with_places(sums, local);
    }
    put(matrix, square, sums);
}
