// How many elements before each one are there, counted by one invocation from where the launch before it stopped.
fn element(i: u32) {
    var count = 0u;
    if (params.start > 0u) {
        count = load_out(params.start - 1u) + select(0u, 1u, is_there(load_x(params.start - 1u)));
    }
    for (var k = params.start; k < params.end; k++) {
        store_out(k, count);
        count += select(0u, 1u, is_there(load_x(k)));
    }
}
