// Adds up, over the places of this launch, how many elements of its lane come before element `i`.
fn element(i: u32) {
    let own = (i / params.inner) % params.n;
    let base = (i / (params.n * params.inner)) * params.n * params.inner + i % params.inner;
    let b = load_x(i);
    var count = 0u;
    if (params.start > 0u) { count = load_out(i); }
    for (var k = params.start; k < params.end; k++) {
        if (before(load_x(base + k * params.inner), b, k < own)) { count++; }
    }
    store_out(i, count);
}

// Whether `a` comes before `b`: a NaN is larger than every number, and of equals the one at the lower place is first.
fn before(a: T, b: T, lower_place: bool) -> bool {
    let largest = params.largest == 1u;
    let na = unordered(a);
    let nb = unordered(b);
    if (na || nb) { return select(select(!na, na, largest), lower_place, na && nb); }
    return select((a < b), (a > b), largest) || (a == b && lower_place);
}
