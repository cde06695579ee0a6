// Element `i`, with the updates that the indices of its lane send to it, one after the other. A lane of the indices may be shorter, and
// there may be fewer of them.
fn element(i: u32) {
    var lane = 0u;
    var own = 0u;
    var is_met = true;
    var rest = i;
    for (var left = params.rank; left > 0u; left--) {
        let first = 3u * (left - 1u);
        let c = rest % params.axes[first];
        rest = rest / params.axes[first];
        if (left - 1u == params.axis) {
            own = c;
        } else {
            is_met = is_met && c < params.axes[first + 1u];
            lane += c * params.axes[first + 2u];
        }
    }
    let extent = params.axes[3u * params.axis];
    let step = params.axes[3u * params.axis + 2u];
    var r = so_far(i);
    for (var k = params.start; k < params.end && is_met; k++) {
        let at = lane + k * step;
        if (wrapped(load_indices(at), extent) == own) { r = combine(r, load_updates(at)); }
    }
    store_out(i, r);
}
