// A square of the result by a workgroup: 32 maps of a group by 32 positions of the window. What the window meets there makes the columns
// of a matrix that is nowhere in memory; padding is zeros in it.
fn team(number: u32, local: u32) {
    let volume = params.window.output[0] * params.window.output[1] * params.window.output[2];
    let tiles = squares_of(Matrix(0u, params.maps_per_group, volume));
    // The parts of the result are the groups of each batch.
    let part = number / tiles;
    let groups = params.maps / params.maps_per_group;
    let matrix = Matrix(part * params.maps_per_group * volume, params.maps_per_group, volume);
    let square = square_of(matrix, number % tiles, local);
    let first_map = (part % groups) * params.maps_per_group;
    let first_channel = (part / groups) * params.channels + (part % groups) * params.channels_per_group;
    let size = params.window.kernel[0] * params.window.kernel[1] * params.window.kernel[2];
    let end = params.end * size;
    var sums = Sums(vec4<T>(), vec4<T>(), vec4<T>(), vec4<T>());
    if (params.start > 0u) {
        sums = so_far(matrix, square);
    } else if (params.has_bias == 1u) {
        sums = biases(first_map, square.row);
    }
    for (var start = params.start * size; start < end; start += 8u) {
        for (var i = local; i < 256u; i += 64u) {
            let k = start + i % 8u;
            let row = square.first_row + i / 8u;
            var element = T(0);
            if (k < end && row < matrix.rows) {
                element = load_w((first_map + row) * params.channels_per_group * size + k);
            }
            left[(i % 8u) * 32u + i / 8u] = element;
        }
        for (var i = local; i < 256u; i += 64u) {
            let k = start + i / 32u;
            let column = square.first_column + i % 32u;
            var element = T(0);
            if (k < end && column < volume) { element = met(first_channel + k / size, k % size, column); }
            right[i] = element;
        }
        sums = with_places(sums, local);
    }
    put(matrix, square, sums);
}

// What element `k` of the window meets in a channel of the whole tensor, at a position of the window.
fn met(channel: u32, k: u32, position: u32) -> T {
    let window = vec3<u32>(k / (params.window.kernel[1] * params.window.kernel[2]),
        (k / params.window.kernel[2]) % params.window.kernel[1], k % params.window.kernel[2]);
    let at = vec3<u32>(position / (params.window.output[1] * params.window.output[2]),
        (position / params.window.output[2]) % params.window.output[1], position % params.window.output[2]);
    let z = i32(at.x * params.window.strides[0] + window.x * params.window.dilations[0]) - i32(params.window.pads[0]);
    let y = i32(at.y * params.window.strides[1] + window.y * params.window.dilations[1]) - i32(params.window.pads[1]);
    let x = i32(at.z * params.window.strides[2] + window.z * params.window.dilations[2]) - i32(params.window.pads[2]);
    let inside = z >= 0 && z < i32(params.window.input[0]) && y >= 0 && y < i32(params.window.input[1])
        && x >= 0 && x < i32(params.window.input[2]);
    if (!inside) { return T(0); }
    let plane = (u32(z) * params.window.input[1] + u32(y)) * params.window.input[2] + u32(x);
    return load_x(channel * volume_of_input() + plane);
}

// Sums that begin with the bias of each map.
fn biases(first_map: u32, row: u32) -> Sums {
    return Sums(vec4<T>(bias_of(first_map, row)), vec4<T>(bias_of(first_map, row + 1u)),
        vec4<T>(bias_of(first_map, row + 2u)), vec4<T>(bias_of(first_map, row + 3u)));
}

fn bias_of(first_map: u32, row: u32) -> T { return load_bias(first_map + min(row, params.maps_per_group - 1u)); }
