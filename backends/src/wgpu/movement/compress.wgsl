// Element `i` of `[outer, size, inner]` goes to its place in `[outer, count, inner]`, if its slice stays.
fn element(i: u32) {
    let place = (i / params.inner) % params.size;
    if (place >= params.conditions) { return; }
    let rank = load_ranks(place);
    if (load_condition(place) == 0u || rank >= params.count_of_slices) { return; }
    let outer = i / (params.inner * params.size);
    store_out((outer * params.count_of_slices + rank) * params.inner + i % params.inner, load_x(i));
}
