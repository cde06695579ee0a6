// One chunk, combined in the order of its elements.
fn element(i: u32) {
    let chunk = chunk_of(i);
    var r = neutral();
    for (var k = chunk.start; k < chunk.end; k++) {
        r = combine(r, before(load_x(chunk.base + k * params.stage.inner)));
    }
    store_out(i, after(r));
}
