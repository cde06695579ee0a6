// x moved by the bias towards 0 outside of +-lambd, and 0 inside.
fn shrink(a: T) -> T {
    return select(select(0.0, a - params.bias, a > params.lambd), a + params.bias, a < -params.lambd);
}
