// A window, by the element of the result that it gives: its channel, its batch, and its corner, which may lie in the
// padding.
struct Place {
    channel: u32,
    batch: u32,
    z: i32,
    y: i32,
    x: i32,
}

// `channels` is the number of channels of the result.
fn place_of(i: u32, channels: u32) -> Place {
    let w = i % params.window.output[2];
    let h = (i / params.window.output[2]) % params.window.output[1];
    let plane = params.window.output[2] * params.window.output[1];
    let d = (i / plane) % params.window.output[0];
    let volume = plane * params.window.output[0];
    return Place(
        (i / volume) % channels,
        i / (volume * channels),
        i32(d * params.window.strides[0]) - i32(params.window.pads[0]),
        i32(h * params.window.strides[1]) - i32(params.window.pads[1]),
        i32(w * params.window.strides[2]) - i32(params.window.pads[2]));
}

// An element of a window that lies inside the tensor: where it is in its channel, and its number in the window.
struct Cell {
    z: u32,
    y: u32,
    x: u32,
    at: u32,
    k: u32,
}

// What becomes of `state` when every element of a window that lies inside the tensor is visited, in order.
fn slide(place: Place, start: State) -> State {
    var state = start;
    for (var kz = 0u; kz < params.window.kernel[0]; kz++) {
        let z = place.z + i32(kz * params.window.dilations[0]);
        if (z < 0 || z >= i32(params.window.input[0])) { continue; }
        for (var ky = 0u; ky < params.window.kernel[1]; ky++) {
            let y = place.y + i32(ky * params.window.dilations[1]);
            if (y < 0 || y >= i32(params.window.input[1])) { continue; }
            for (var kx = 0u; kx < params.window.kernel[2]; kx++) {
                let x = place.x + i32(kx * params.window.dilations[2]);
                if (x < 0 || x >= i32(params.window.input[2])) { continue; }
                let at = (u32(z) * params.window.input[1] + u32(y)) * params.window.input[2] + u32(x);
                let k = (kz * params.window.kernel[1] + ky) * params.window.kernel[2] + kx;
                state = visit(state, Cell(u32(z), u32(y), u32(x), at, k));
            }
        }
    }
    return state;
}

// The number of elements of one channel of the tensor.
fn volume_of_input() -> u32 {
    return params.window.input[0] * params.window.input[1] * params.window.input[2];
}

// Where the channel of a tensor begins that a window of the same channel of the result slides over.
fn image_of(place: Place, channels: u32) -> u32 {
    return (place.batch * channels + place.channel) * volume_of_input();
}
