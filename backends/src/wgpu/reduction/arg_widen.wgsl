// Positions are found as u32 and given out as i64.
fn element(i: u32) {
    store_out(i, load_positions(i));
}
