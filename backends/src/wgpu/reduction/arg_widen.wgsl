fn element(i: u32) {
    store_out(i, load_positions(i));
}
