// The sum so far, and where the channel of x and that of w begin.
struct State {
    sum: T,
    image: u32,
    weights: u32,
}

fn visit(state: State, cell: Cell) -> State {
    var next = state;
    next.sum += load_x(state.image + cell.at) * load_w(state.weights + cell.k);
    return next;
}

// One element: the bias, then one channel of its group after the other. This launch adds some of them to what the
// launches before it have.
fn element(i: u32) {
    let place = place_of(i, params.maps);
    var r = T(0);
    if (params.start > 0u) {
        r = load_out(i);
    } else if (params.has_bias == 1u) {
        r = load_bias(place.channel);
    }
    let first = (place.channel / params.maps_per_group) * params.channels_per_group;
    let size = params.window.kernel[0] * params.window.kernel[1] * params.window.kernel[2];
    for (var g = params.start; g < params.end; g++) {
        let image = (place.batch * params.channels + first + g) * volume_of_input();
        let weights = (place.channel * params.channels_per_group + g) * size;
        r = slide(place, State(r, image, weights)).sum;
    }
    store_out(i, r);
}
