// The largest so far, whether there is one, and where the channel begins. Padding is never the largest.
struct State {
    most: T,
    any: bool,
    image: u32,
}

fn visit(state: State, cell: Cell) -> State {
    let a = load_x(state.image + cell.at);
    return State(select(a, largest(state.most, a), state.any), true, state.image);
}

fn element(i: u32) {
    let place = place_of(i, params.channels);
    let image = image_of(place, params.channels);
    store_out(i, slide(place, State(T(0), false, image)).most);
}
