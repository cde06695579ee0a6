// The sums of an invocation: four columns in each of four rows.
struct Sums {
    a: vec4<T>,
    b: vec4<T>,
    c: vec4<T>,
    d: vec4<T>,
}

// The sums with what one place of the inner dimension adds to them.
fn with_products(sums: Sums, k: u32, local: u32) -> Sums {
    let y = k * 32u + (local / 8u) * 4u;
    let x = k * 32u + (local % 8u) * 4u;
    let columns = vec4<T>(right[x], right[x + 1u], right[x + 2u], right[x + 3u]);
    return Sums(
        sums.a + left[y] * columns,
        sums.b + left[y + 1u] * columns,
        sums.c + left[y + 2u] * columns,
        sums.d + left[y + 3u] * columns);
}
