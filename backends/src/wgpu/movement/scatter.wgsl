// What a launch finds: the element as it was, or as the launch before this one left it.
fn so_far(i: u32) -> Value {
    if (params.start > 0u) { return load_out(i); }
    return load_x(i);
}

fn replaced(r: Value, update: Value) -> Value { return update; }

fn sum(r: Value, update: Value) -> Value { return r + update; }

fn product(r: Value, update: Value) -> Value { return r * update; }
