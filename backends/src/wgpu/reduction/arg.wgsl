// The position of the best of one chunk of candidates.
fn element(i: u32) {
    let chunk = chunk_of(i);
    // With one element per chunk of candidates, the chunk's base counts candidates and the tensor's own base is this.
    let lane = i / (params.stage.inner * params.stage.chunks);
    let own = lane * params.extent * params.stage.inner + i % params.stage.inner;
    var at = position(chunk, chunk.start);
    var best = load_x(own + at * params.stage.inner);
    for (var k = chunk.start + 1u; k < chunk.end; k++) {
        let candidate = position(chunk, k);
        let a = load_x(own + candidate * params.stage.inner);
        if (better(a, best)) {
            best = a;
            at = candidate;
        }
    }
    store_out(i, at);
}

// In the first stage, the candidates are the elements.
fn own_position(chunk: Chunk, k: u32) -> u32 { return k; }

// Later, they are what the stage before has found.
fn found_position(chunk: Chunk, k: u32) -> u32 { return load_found(chunk.base + k * params.stage.inner); }

// (Without the inner brackets, WGSL reads `a < b, c > d` as a template.)
//
// Whether a later element takes the place of the best so far. A NaN is better than every number.
fn better(a: T, best: T) -> bool {
    let largest = params.largest == 1u;
    let last = params.last == 1u;
    if (unordered(best)) { return last && unordered(a); }
    if (unordered(a)) { return true; }
    let beyond = select((a < best), (a > best), largest);
    let reaches = select((a <= best), (a >= best), largest);
    return select(beyond, reaches, last);
}
