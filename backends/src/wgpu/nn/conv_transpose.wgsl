// Where on an axis an element is spread from that reaches a place by a cell; `size`, if there is none.
fn origin(place: u32, cut: u32, cell: u32, dilation: u32, stride: u32, size: u32) -> u32 {
    let steps = i32(place + cut) - i32(cell * dilation);
    if (steps < 0) { return size; }
    let steps_up = u32(steps);
    if (steps_up % stride != 0u) { return size; }
    return min(steps_up / stride, size);
}

// One element: the bias, then what each channel of its group spreads to it.
fn element(i: u32) {
    let ox = i % params.output[2];
    let oy = (i / params.output[2]) % params.output[1];
    let plane = params.output[2] * params.output[1];
    let oz = (i / plane) % params.output[0];
    let volume = plane * params.output[0];
    let map = (i / volume) % params.maps;
    let batch = i / (volume * params.maps);
    let first = (map / params.maps_per_group) * params.channels_per_group;
    let size = params.kernel[0] * params.kernel[1] * params.kernel[2];
    let area = params.input[0] * params.input[1] * params.input[2];
    var r = T(0);
    if (params.has_bias == 1u) { r = load_bias(map); }
    for (var g = 0u; g < params.channels_per_group; g++) {
        let image = (batch * params.channels + first + g) * area;
        let weights = ((first + g) * params.maps_per_group + map % params.maps_per_group) * size;
        for (var kz = 0u; kz < params.kernel[0]; kz++) {
            let z = origin(oz, params.cut[0], kz, params.dilations[0], params.strides[0], params.input[0]);
            if (z == params.input[0]) { continue; }
            for (var ky = 0u; ky < params.kernel[1]; ky++) {
                let y = origin(oy, params.cut[1], ky, params.dilations[1], params.strides[1], params.input[1]);
                if (y == params.input[1]) { continue; }
                for (var kx = 0u; kx < params.kernel[2]; kx++) {
                    let x = origin(ox, params.cut[2], kx, params.dilations[2], params.strides[2], params.input[2]);
                    if (x == params.input[2]) { continue; }
                    let at = (z * params.input[1] + y) * params.input[2] + x;
                    let cell = (kz * params.kernel[1] + ky) * params.kernel[2] + kx;
                    r += load_x(image + at) * load_w(weights + cell);
                }
            }
        }
    }
    store_out(i, r);
}
