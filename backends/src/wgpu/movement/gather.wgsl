// Element `i` of `[outer, indices, inner]` is of the slice of `[outer, extent, inner]` that its index names.
fn element(i: u32) {
    let inner = i % params.inner;
    let k = (i / params.inner) % params.indices;
    let outer = i / (params.inner * params.indices);
    let at = wrapped(load_indices(k), params.extent);
    store_out(i, load_x((outer * params.extent + at) * params.inner + inner));
}
