// The number of the scale of element `i`.
fn scale_of(i: u32) -> u32 {
    let within = i % params.scales.inside;
    let outer = i / params.scales.inside;
    let along = (outer % params.scales.size) / params.scales.block;
    if (params.scales.is_list == 1u) { return along; }
    return ((outer / params.scales.size) * params.scales.along + along) * params.scales.inside + within;
}
