// Element `i` of the result is the element of `x` that every axis says, or the value where one says that it lies outside.
fn element(i: u32) {
    var rest = i;
    var at = 0u;
    var outside = false;
    for (var a = 0u; a < params.rank; a++) {
        let size = params.axes[4u * a];
        let own = i32(params.axes[4u * a + 1u]);
        let before = i32(params.axes[4u * a + 2u]);
        let stride = params.axes[4u * a + 3u];
        let s = source(i32(rest % size) - before, own);
        rest = rest / size;
        outside = outside || s < 0 || s >= own;
        at += u32(s) * stride;
    }
    if (!outside) {
        store_out(i, load_x(at));
    } else if (params.has_value == 1u) {
        store_out(i, load_value(0u));
    } else {
        store_out(i, Bits());
    }
}

// Which element of an axis of `n` is at position `c`; in the border, none.
fn nowhere(c: i32, n: i32) -> i32 { return c; }

// In the border, the nearest.
fn nearest(c: i32, n: i32) -> i32 { return clamp(c, 0, n - 1); }

// The axis mirrored at its first and last element, which are not repeated.
fn mirrored(c: i32, n: i32) -> i32 {
    let period = max(2 * n - 2, 1);
    let m = u32(select(c, -c, c < 0)) % u32(period);
    return select(i32(m), period - i32(m), i32(m) >= n);
}

// The axis repeated. Remainders are of unsigned numbers: drivers differ in those of negative ones.
fn repeated(c: i32, n: i32) -> i32 {
    if (c >= 0) { return i32(u32(c) % u32(n)); }
    return n - 1 - i32(u32(-c - 1) % u32(n));
}
