// What the driver does to NaNs, denormals and the order of operations. The numbers are read from memory, so that no
// compiler can know them.
fn element(i: u32) {
    let one = bitcast<f32>(load_x(0u));
    let nan = bitcast<f32>(load_x(1u));
    let tiny = bitcast<f32>(load_x(2u));
    let large = bitcast<f32>(load_x(3u));
    var results = array<u32, 4>(
        select(0u, 1u, nan != nan),
        select(0u, 1u, is_nan(nan)),
        bitcast<u32>(tiny * 0.5),
        bitcast<u32>((large + one) - large));
    store_out(i, results[i]);
}
