// The sum so far, of how many elements, and where the channel begins.
struct State {
    sum: T,
    count: u32,
    image: u32,
}

fn visit(state: State, cell: Cell) -> State {
    return State(state.sum + load_x(state.image + cell.at), state.count + 1u, state.image);
}

fn element(i: u32) {
    let place = place_of(i, params.channels);
    let image = image_of(place, params.channels);
    let state = slide(place, State(T(0), 0u, image));
    store_out(i, state.sum / T(divisor(place, state.count)));
}

fn without_padding(place: Place, count: u32) -> u32 { return count; }

// A window that rounding up pushed past the padding is divided by the part inside the padding.
fn with_padding(place: Place, count: u32) -> u32 {
    return inside(place.z, 0u) * inside(place.y, 1u) * inside(place.x, 2u);
}

fn inside(corner: i32, axis: u32) -> u32 {
    let room = i32(params.window.input[axis] + params.pads_end[axis]) - 1 - corner;
    return min(params.window.kernel[axis], u32(max(room, 0)) / params.window.dilations[axis] + 1u);
}
