// How many iterations of a loop the driver runs. The state `x` makes the loop impossible to shorten; its result is used
// so that it cannot be dropped.
fn element(i: u32) {
    var x = load_x(0u);
    var n = 0u;
    while (n < load_x(0u)) {
        x = (x ^ (x << 13u)) * 1664525u + 1013904223u;
        n = n + 1u;
    }
    store_out(i, select(n, n + (x & params.zero), x != 0u));
}
