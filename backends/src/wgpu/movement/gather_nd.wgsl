// Element `i` of `[batch, lists, inner]` is of the slice that its list of indices names, within its part of the batch.
fn element(i: u32) {
    let list = i / params.inner;
    var at = (list / params.lists) * params.size + i % params.inner;
    for (var a = 0u; a < params.pointed; a++) {
        at += wrapped(load_indices(list * params.pointed + a), params.axes[2u * a]) * params.axes[2u * a + 1u];
    }
    store_out(i, load_x(at));
}
