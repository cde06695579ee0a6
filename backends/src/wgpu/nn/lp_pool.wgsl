// The sum so far, and where the channel begins.
struct State {
    sum: T,
    image: u32,
}

fn visit(state: State, cell: Cell) -> State {
    return State(state.sum + power(load_x(state.image + cell.at)), state.image);
}

fn element(i: u32) {
    let place = place_of(i, params.channels);
    let image = image_of(place, params.channels);
    store_out(i, norm(slide(place, State(T(0), image)).sum));
}

fn square(a: T) -> T { return a * a; }

fn itself(r: T) -> T { return r; }
