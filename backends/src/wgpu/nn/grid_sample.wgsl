// What elements along an axis give to a place between them: up to four, how heavy each is, and whether it is there at all.
struct Taps {
    count: u32,
    at: vec4<u32>,
    weight: vec4<f32>,
    there: vec4<bool>,
}

// Element `i` of `[images, channels, positions]`: sums along the last axis, of these along the one before, and so on.
fn element(i: u32) {
    let channel = i / params.positions;
    let grid = ((channel / params.channels) * params.positions + i % params.positions) * params.axes;
    var along_z = taps(grid, 0u);
    var along_y = taps(grid, 1u);
    var along_x = taps(grid, 2u);
    // The nearest element is moved, and a denormal stays one.
    if (params.mode == 0u) {
        let line = (channel * params.space[0] + along_z.at[0]) * params.space[1] + along_y.at[0];
        let is_there = along_z.there[0] && along_y.there[0] && along_x.there[0];
        store_out(i, 0.0);
        if (is_there) { store_out(i, load_x(line * params.space[2] + along_x.at[0])); }
        return;
    }
    var sum = 0.0;
    for (var z = 0u; z < along_z.count; z++) {
        var plane = 0.0;
        for (var y = 0u; y < along_y.count; y++) {
            var row = 0.0;
            let line = (channel * params.space[0] + along_z.at[z]) * params.space[1] + along_y.at[y];
            for (var x = 0u; x < along_x.count; x++) {
                let is_there = along_z.there[z] && along_y.there[y] && along_x.there[x];
                if (is_there) { row += along_x.weight[x] * load_x(line * params.space[2] + along_x.at[x]); }
            }
            plane += along_y.weight[y] * row;
        }
        sum += along_z.weight[z] * plane;
    }
    store_out(i, sum);
}

// The taps along one of three axes, of which the first may be none of the image's. The grid has the last axis first.
fn taps(grid: u32, axis: u32) -> Taps {
    if (axis + params.axes < 3u) { return Taps(1u, vec4<u32>(), vec4<f32>(1.0), vec4<bool>(true)); }
    let size = f32(params.space[axis]);
    let position = f32(load_grid(grid + 2u - axis));
    var index = ((position + 1.0) * size - 1.0) * 0.5;
    if (params.align_corners == 1u) { index = (position + 1.0) * 0.5 * (size - 1.0); }
    var first = round(index);
    var taps = Taps(1u, vec4<u32>(), vec4<f32>(1.0), vec4<bool>(true));
    if (params.mode > 0u) {
        index = moved(index, size);
        first = floor(index);
        let part = index - first;
        taps.count = 2u;
        taps.weight = vec4<f32>(1.0 - part, part, 0.0, 0.0);
        if (params.mode > 1u) {
            first -= 1.0;
            taps.count = 4u;
            taps.weight = vec4<f32>(far(part + 1.0), near(part), near(1.0 - part), far(2.0 - part));
        }
    }
    for (var tap = 0u; tap < taps.count; tap++) {
        let at = moved(first + f32(tap), size);
        taps.there[tap] = params.padding > 0u || (at >= 0.0 && at <= size - 1.0);
        taps.at[tap] = u32(clamp(at, 0.0, size - 1.0));
    }
    return taps;
}

// The index as padding moves it: not at all, to the border, or back by reflection.
fn moved(index: f32, size: f32) -> f32 {
    let low = select(-0.5, 0.0, params.align_corners == 1u);
    let high = size - 1.0 - low;
    if (params.padding == 0u || (index >= low && index <= high)) { return index; }
    if (params.padding == 1u) { return clamp(index, 0.0, size - 1.0); }
    let width = high - low;
    if (width == 0.0) { return 0.0; }
    // By one width, not by two: what is beyond twice the axis would lose a bit.
    let beyond = index - low;
    let times = floor(beyond / width);
    let rest = beyond - times * width;
    return select(low + rest, high - rest, times - 2.0 * floor(times * 0.5) > 0.5);
}

// Two pieces of a cubic curve, for what is up to one element away and up to two.
fn near(d: f32) -> f32 { return (1.25 * d - 2.25) * d * d + 1.0; }

fn far(d: f32) -> f32 { return ((-0.75 * d + 3.75) * d - 6.0) * d + 3.0; }
