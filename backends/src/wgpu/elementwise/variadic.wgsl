// One more operand. Where the sum is kept in a wider dtype, the operand is still in its own.
fn Max(a: A, b: B) -> T { return largest(a, b); }

fn Min(a: A, b: B) -> T { return smallest(a, b); }

fn Sum(a: A, b: B) -> T { return T(a) + T(b); }
