// What a launch finds: the element as it was, or as the launch before this one left it.
fn so_far(i: u32) -> Value {
    if (params.start > 0u) { return load_out(i); }
    return load_x(i);
}

fn replaced(r: Value, update: Value) -> Value { return update; }

// As a parameter and not as functions of their own, since compiling one kernel takes longer than running all four.
fn combined(r: Value, update: Value) -> Value {
    if (params.reduction == 1u) { return r + update; }
    if (params.reduction == 2u) { return r * update; }
    if (params.reduction == 3u) { return largest(r, update); }
    return smallest(r, update);
}
