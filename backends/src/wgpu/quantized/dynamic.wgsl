// From the range of all elements, which has 0 in it.
fn scale(highest_of: A, lowest_of: B) -> T {
    return (largest(highest_of, 0.0) - smallest(lowest_of, 0.0)) / 255.0;
}

fn point(lowest_of: A, scale: B) -> u32 {
    let steps = -smallest(lowest_of, 0.0) / scale;
    if (is_nan(steps)) { return 0u; }
    return u32(clamp(round(steps), 0.0, 255.0));
}
