// The largest so far, its number in its channel, whether there is one, and where the channel begins.
struct State {
    most: T,
    place: u32,
    any: bool,
    image: u32,
}

fn visit(state: State, cell: Cell) -> State {
    let a = load_x(state.image + cell.at);
    if (state.any && !better(a, state.most)) { return state; }
    return State(a, number_of(cell), true, state.image);
}

// A NaN is better than every number, and of equals the first stays.
fn better(a: T, most: T) -> bool { return !unordered(most) && (unordered(a) || a > most); }

// Within a channel, elements are numbered along the last axis first, or along the first.
fn number_of(cell: Cell) -> u32 {
    let along_first = (cell.x * params.window.input[1] + cell.y) * params.window.input[0] + cell.z;
    return select(cell.at, along_first, params.first_axis_first == 1u);
}

fn element(i: u32) {
    let place = place_of(i, params.channels);
    let image = image_of(place, params.channels);
    store_out(i, image + slide(place, State(T(0), 0u, false, image)).place);
}
