// WGSL takes the amount modulo the width, and a 64-bit amount has to become 32 bits first: an amount beyond the width
// of the dtype, or one that changes on the way, shifts everything out. Of signed numbers the sign comes in from the left.
fn left(a: T, b: T) -> T { return select(T(0), a << u32(b), u32(b) < BITS && b == T(u32(b))); }

fn right(a: T, b: T) -> T {
    let sign = select(T(0), ~T(0), a < T(0));
    return select(sign, a >> u32(b), u32(b) < BITS && b == T(u32(b)));
}
