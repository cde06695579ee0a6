// The plainest of kernels.
fn element(i: u32) {
    store_out(i, load_x(i) * 3u + 1u);
}
