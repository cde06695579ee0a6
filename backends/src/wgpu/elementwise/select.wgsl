// Bool is 0 or 1.
fn where_true(condition: A, x: T, y: T) -> T { return select(y, x, condition != 0); }
