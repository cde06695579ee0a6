// Whether an element is not zero. A denormal is not, even where the driver flushes it.
fn number_is_there(a: T) -> bool { return a != T(0); }

fn float_is_there(a: T) -> bool { return !is_zero(a); }
