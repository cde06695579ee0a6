// The low word of an index, counted from the end if negative. One out of range means the nearest element, so that no
// kernel reads outside of a tensor.
fn wrapped(index: u32, extent: u32) -> u32 {
    let at = bitcast<i32>(index);
    return u32(clamp(select(at, at + i32(extent), at < 0), 0, i32(extent) - 1));
}
