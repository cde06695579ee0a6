// Rows and columns are tensors of places, so that broadcasting makes the matrix.
fn diagonal(row: A, column: B, k: C) -> T { return select(T(0), T(1), column - row == k); }
