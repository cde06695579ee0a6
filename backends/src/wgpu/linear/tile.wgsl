// What a workgroup has of both operands at a time: 8 places of the inner dimension, of 32 rows and of 32 columns.
var<workgroup> left: array<T, 256>;

var<workgroup> right: array<T, 256>;

// A matrix of the result: where it begins, and its size.
struct Matrix {
    at: u32,
    rows: u32,
    columns: u32,
}

// A square of 32 rows and columns in it: where that begins, and the corner of the 4 rows by 4 columns that an invocation adds up.
struct Square {
    first_row: u32,
    first_column: u32,
    row: u32,
    column: u32,
}

// How many squares a matrix takes.
fn squares_of(matrix: Matrix) -> u32 {
    return ((matrix.columns + 31u) / 32u) * ((matrix.rows + 31u) / 32u);
}

fn square_of(matrix: Matrix, tile: u32, local: u32) -> Square {
    let across = (matrix.columns + 31u) / 32u;
    let row = (tile / across) * 32u;
    let column = (tile % across) * 32u;
    return Square(row, column, row + (local / 8u) * 4u, column + (local % 8u) * 4u);
}

// The sums of an invocation: four columns in each of four rows.
struct Sums {
    a: vec4<T>,
    b: vec4<T>,
    c: vec4<T>,
    d: vec4<T>,
}

// The sums with what 8 places of the inner dimension add to them. All of the workgroup must have filled `left` and `right`.
fn with_places(sums: Sums, local: u32) -> Sums {
    workgroupBarrier();
    var more = sums;
    for (var k = 0u; k < 8u; k++) { more = with_products(more, k, local); }
    workgroupBarrier();
    return more;
}

fn with_products(sums: Sums, k: u32, local: u32) -> Sums {
    let y = k * 32u + (local / 8u) * 4u;
    let x = k * 32u + (local % 8u) * 4u;
    let columns = vec4<T>(right[x], right[x + 1u], right[x + 2u], right[x + 3u]);
    return Sums(
        sums.a + left[y] * columns,
        sums.b + left[y + 1u] * columns,
        sums.c + left[y + 2u] * columns,
        sums.d + left[y + 3u] * columns);
}

// What the launches before this one have added up.
fn so_far(matrix: Matrix, square: Square) -> Sums {
    return Sums(row_so_far(matrix, square.row, square.column), row_so_far(matrix, square.row + 1u, square.column),
        row_so_far(matrix, square.row + 2u, square.column), row_so_far(matrix, square.row + 3u, square.column));
}

fn row_so_far(matrix: Matrix, row: u32, column: u32) -> vec4<T> {
    if (row >= matrix.rows) { return vec4<T>(); }
    let at = matrix.at + row * matrix.columns;
    let last = matrix.columns - 1u;
    return vec4<T>(load_out(at + min(column, last)), load_out(at + min(column + 1u, last)),
        load_out(at + min(column + 2u, last)), load_out(at + min(column + 3u, last)));
}

fn put(matrix: Matrix, square: Square, sums: Sums) {
    put_row(matrix, square.row, square.column, sums.a);
    put_row(matrix, square.row + 1u, square.column, sums.b);
    put_row(matrix, square.row + 2u, square.column, sums.c);
    put_row(matrix, square.row + 3u, square.column, sums.d);
}

fn put_row(matrix: Matrix, row: u32, column: u32, sums: vec4<T>) {
    if (row >= matrix.rows) { return; }
    let at = matrix.at + row * matrix.columns + column;
    if (column < matrix.columns) { store_out(at, sums.x); }
    if (column + 1u < matrix.columns) { store_out(at + 1u, sums.y); }
    if (column + 2u < matrix.columns) { store_out(at + 2u, sums.z); }
    if (column + 3u < matrix.columns) { store_out(at + 3u, sums.w); }
}
