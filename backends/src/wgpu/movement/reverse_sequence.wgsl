// Element `i` of `[outer, middle, inner]` is at the mirrored step in time, within the length of its batch.
fn element(i: u32) {
    let inner = i % params.inner;
    let batch_first = params.batch_first == 1u;
    let middle = (i / params.inner) % params.middle;
    let outer = i / (params.inner * params.middle);
    let batch = select(middle, outer, batch_first);
    let time = select(outer, middle, batch_first);
    // A length beyond the end is the whole.
    let length = min(load_lengths(batch), params.steps);
    let step = select(time, length - 1u - time, time < length);
    let row = select(step * params.middle + middle, outer * params.middle + step, batch_first);
    store_out(i, load_x(row * params.inner + inner));
}
