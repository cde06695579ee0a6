// Comparisons under their ONNX names, by the library's, which are right about NaN. Bool is 0 or 1.

fn Equal(a: T, b: T) -> i32 { return select(0, 1, equal(a, b)); }

fn Less(a: T, b: T) -> i32 { return select(0, 1, less(a, b)); }

fn LessOrEqual(a: T, b: T) -> i32 { return select(0, 1, less_equal(a, b)); }

fn Greater(a: T, b: T) -> i32 { return select(0, 1, less(b, a)); }

fn GreaterOrEqual(a: T, b: T) -> i32 { return select(0, 1, less_equal(b, a)); }
