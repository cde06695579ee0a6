// The sum of the numbers of a workgroup.
fn team(number: u32, local: u32) {
    let sum = together(load_x(number * 64u + local), local);
    if (local == 0u) { store_out(number, sum); }
}

fn plus(a: T, b: T) -> T { return a + b; }
