fn diagonal(row: A, column: B, k: C) -> T { return select(T(0), T(1), column - row == k); }
