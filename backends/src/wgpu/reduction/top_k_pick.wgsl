// Element `i`, if it is among the first k, goes to its place in the order.
fn element(i: u32) {
    let rank = load_order(i);
    if (rank >= params.k) { return; }
    let outer = i / (params.n * params.inner);
    store_out((outer * params.k + rank) * params.inner + i % params.inner, picked(i));
}

fn value(i: u32) -> Bits { return load_x(i); }

fn place(i: u32) -> u32 { return (i / params.inner) % params.n; }
