// One element after a step: the row with the largest element of the column has changed places with that of the step, one
// of both with its sign turned, and every row below has lost its multiple of that.
fn element(i: u32) {
    let rows = params.rows;
    let column = i % rows;
    let row = (i / rows) % rows;
    let base = i - row * rows - column;
    let pivot = largest_below(base);
    if (row <= params.step || column < params.step) {
        store_out(i, swapped(base, row, column, pivot));
        return;
    }
    let first = load_x(base + pivot * rows + params.step);
    let own = swapped(base, row, column, pivot);
    // A column of zeros leaves nothing to eliminate, and the diagonal a 0.
    if (first == T(0)) {
        store_out(i, own);
        return;
    }
    let factor = swapped(base, row, params.step, pivot) / first;
    store_out(i, own - factor * load_x(base + pivot * rows + column));
}

fn largest_below(base: u32) -> u32 {
    var best = params.step;
    for (var r = params.step + 1u; r < params.rows; r++) {
        let size = abs(load_x(base + r * params.rows + params.step));
        if (size > abs(load_x(base + best * params.rows + params.step))) { best = r; }
    }
    return best;
}

fn swapped(base: u32, row: u32, column: u32, pivot: u32) -> T {
    if (row == params.step) { return load_x(base + pivot * params.rows + column); }
    if (row == pivot) { return -load_x(base + params.step * params.rows + column); }
    return load_x(base + row * params.rows + column);
}
