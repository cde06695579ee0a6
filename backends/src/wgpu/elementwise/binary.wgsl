// Functions of two elements, under their ONNX names. Bool is 0 or 1.

fn Add(a: T, b: T) -> T { return a + b; }

fn Sub(a: T, b: T) -> T { return a - b; }

fn Mul(a: T, b: T) -> T { return a * b; }

fn Div(a: T, b: T) -> T { return a / b; }

fn And(a: T, b: T) -> T { return a & b; }

fn Or(a: T, b: T) -> T { return a | b; }

fn Xor(a: T, b: T) -> T { return a ^ b; }

fn BitwiseAnd(a: T, b: T) -> T { return a & b; }

fn BitwiseOr(a: T, b: T) -> T { return a | b; }

fn BitwiseXor(a: T, b: T) -> T { return a ^ b; }
