// The quotient to the nearest integer, the even one of two, from the zero point on, as far as the dtype goes. What is far beyond all
// that any of these dtypes holds is cut before it becomes an integer, and NaN is 0.
fn element(i: u32) {
    let scale = scale_of(i);
    let quotient = T(load_x(i)) / load_scale(scale);
    var steps = 0;
    if (!is_nan(quotient)) { steps = i32(clamp(round(quotient), -262144.0, 262144.0)); }
    if (params.has_point == 1u) { steps += i32(load_point(scale)); }
    store_out(i, Y(clamp(steps, params.low, params.high)));
}
