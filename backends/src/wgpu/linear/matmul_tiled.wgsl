// A square of 32 rows and columns of a product, by a workgroup. It takes 8 places of the inner dimension at a time into memory that it
// shares; each invocation adds up 4 rows by 4 columns. What lies beyond the matrices counts as 0.
var<workgroup> left: array<T, 256>;

var<workgroup> right: array<T, 256>;

fn team(number: u32, local: u32) {
    let across = (params.columns + 31u) / 32u;
    let tiles = across * ((params.rows + 31u) / 32u);
    let tile = number % tiles;
    let matrices = places(number / tiles);
    let first_row = (tile / across) * 32u;
    let first_column = (tile % across) * 32u;
    // The corner of what this invocation adds up.
    let row = first_row + (local / 8u) * 4u;
    let column = first_column + (local % 8u) * 4u;
    let out = (number / tiles) * params.rows * params.columns;
    var sums = Sums(vec4<T>(), vec4<T>(), vec4<T>(), vec4<T>());
    if (params.start > 0u) {
        sums = Sums(so_far(out, row, column), so_far(out, row + 1u, column),
            so_far(out, row + 2u, column), so_far(out, row + 3u, column));
    }
    for (var start = params.start; start < params.end; start += 8u) {
        for (var i = local; i < 256u; i += 64u) {
            let k = start + i % 8u;
            let y = first_row + i / 8u;
            var element = T(0);
            if (k < params.end && y < params.rows) {
                element = load_a(matrices[0] + y * params.a_row_step + k * params.a_column_step);
            }
            left[(i % 8u) * 32u + i / 8u] = element;
        }
        for (var i = local; i < 256u; i += 64u) {
            let k = start + i / 32u;
            let x = first_column + i % 32u;
            var element = T(0);
            if (k < params.end && x < params.columns) {
                element = load_b(matrices[1] + x * params.b_column_step + k * params.b_row_step);
            }
            right[i] = element;
        }
        workgroupBarrier();
        for (var k = 0u; k < 8u; k++) { sums = with_products(sums, k, local); }
        workgroupBarrier();
    }
    put(out, row, column, sums.a);
    put(out, row + 1u, column, sums.b);
    put(out, row + 2u, column, sums.c);
    put(out, row + 3u, column, sums.d);
}

// What the launches before this one have added up.
fn so_far(out: u32, row: u32, column: u32) -> vec4<T> {
    if (row >= params.rows) { return vec4<T>(); }
    let at = out + row * params.columns;
    let last = params.columns - 1u;
    return vec4<T>(load_out(at + min(column, last)), load_out(at + min(column + 1u, last)),
        load_out(at + min(column + 2u, last)), load_out(at + min(column + 3u, last)));
}

fn put(out: u32, row: u32, column: u32, sums: vec4<T>) {
    if (row >= params.rows) { return; }
    let at = out + row * params.columns + column;
    if (column < params.columns) { store_out(at, sums.x); }
    if (column + 1u < params.columns) { store_out(at + 1u, sums.y); }
    if (column + 2u < params.columns) { store_out(at + 2u, sums.z); }
    if (column + 3u < params.columns) { store_out(at + 3u, sums.w); }
}
