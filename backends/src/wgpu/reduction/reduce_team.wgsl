// One chunk by a workgroup: its invocations take every 64th element each, and combine what they have.
fn team(number: u32, local: u32) {
    let chunk = chunk_of(number);
    var r = neutral();
    for (var k = chunk.start + local; k < chunk.end; k += 64u) {
        r = combine(r, before(load_x(chunk.base + k)));
    }
    r = together(r, local);
    if (local == 0u) { store_out(number, after(r)); }
}
