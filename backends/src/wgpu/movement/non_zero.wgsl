// Element `i`, if it is not zero, has a column of its own, with a row for each axis.
fn element(i: u32) {
    let column = load_ranks(i);
    if (column >= params.columns || !is_there(load_x(i))) { return; }
    var rest = i;
    for (var left = params.rank; left > 0u; left--) {
        store_out((left - 1u) * params.columns + column, rest % params.extents[left - 1u]);
        rest = rest / params.extents[left - 1u];
    }
}
