// The chunk that gives element `i` of `[outer, chunks, inner]`: where in memory its lane begins, and which of the lane's
// elements it has.
struct Chunk {
    base: u32,
    start: u32,
    end: u32,
}

fn chunk_of(i: u32) -> Chunk {
    let lane = i / (params.stage.inner * params.stage.chunks);
    let start = ((i / params.stage.inner) % params.stage.chunks) * params.stage.length;
    let base = lane * params.stage.n * params.stage.inner + i % params.stage.inner;
    return Chunk(base, start, min(start + params.stage.length, params.stage.n));
}
