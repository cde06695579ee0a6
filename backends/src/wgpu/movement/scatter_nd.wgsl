// Element `i`, with the updates of the slices that begin where its own does, one after the other.
fn element(i: u32) {
    let within = i % params.inner;
    var r = so_far(i);
    for (var list = params.start; list < params.end; list++) {
        var slice = 0u;
        for (var a = 0u; a < params.pointed; a++) {
            let index = load_indices(list * params.pointed + a);
            slice += wrapped(index, params.axes[2u * a]) * params.axes[2u * a + 1u];
        }
        if (slice == i - within) { r = combine(r, load_updates(list * params.inner + within)); }
    }
    store_out(i, r);
}
