fn one_operand(i: u32) {
    let a = along(0u, i, 0u, params.kept);
    var r = so_far(i);
    for (var k = params.start; k < params.end; k++) { r += load_a(a + summed(0u, k)); }
    store_out(i, r);
}

fn two_operands(i: u32) {
    let a = along(0u, i, 0u, params.kept);
    let b = along(1u, i, 0u, params.kept);
    var r = so_far(i);
    for (var k = params.start; k < params.end; k++) {
        r += load_a(a + summed(0u, k)) * load_b(b + summed(1u, k));
    }
    store_out(i, r);
}

fn three_operands(i: u32) {
    let a = along(0u, i, 0u, params.kept);
    let b = along(1u, i, 0u, params.kept);
    let c = along(2u, i, 0u, params.kept);
    var r = so_far(i);
    for (var k = params.start; k < params.end; k++) {
        r += load_a(a + summed(0u, k)) * load_b(b + summed(1u, k)) * load_c(c + summed(2u, k));
    }
    store_out(i, r);
}

fn four_operands(i: u32) {
    let a = along(0u, i, 0u, params.kept);
    let b = along(1u, i, 0u, params.kept);
    let c = along(2u, i, 0u, params.kept);
    let d = along(3u, i, 0u, params.kept);
    var r = so_far(i);
    for (var k = params.start; k < params.end; k++) {
        let first = load_a(a + summed(0u, k)) * load_b(b + summed(1u, k));
        r += first * load_c(c + summed(2u, k)) * load_d(d + summed(3u, k));
    }
    store_out(i, r);
}

// What the launches before this one have added up.
fn so_far(i: u32) -> T {
    if (params.start > 0u) { return load_out(i); }
    return T(0);
}

// How far an operand is along all axes that are summed, at term `k`.
fn summed(operand: u32, k: u32) -> u32 { return along(operand, k, params.kept, params.axes_in_all); }

// How far it is along some of the axes, at place `i` of them.
fn along(operand: u32, i: u32, first: u32, end: u32) -> u32 {
    var at = 0u;
    var rest = i;
    for (var axis = first; axis < end; axis++) {
        let numbers = axis * (params.operands + 1u);
        at += (rest % params.axes[numbers]) * params.axes[numbers + 1u + operand];
        rest = rest / params.axes[numbers];
    }
    return at;
}
