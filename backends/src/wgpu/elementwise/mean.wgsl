// The sum divided by the number of operands.
fn mean(sum: A) -> T { return T(sum / T(params.operands)); }
