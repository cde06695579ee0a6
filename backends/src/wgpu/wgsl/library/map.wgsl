// An elementwise function, `value`, of as many operands as there are.
fn of_one(i: u32) {
    let at = places(i);
    store_out(i, value(load_a(at[0])));
}

fn of_two(i: u32) {
    let at = places(i);
    store_out(i, value(load_a(at[0]), load_b(at[1])));
}

fn of_three(i: u32) {
    let at = places(i);
    store_out(i, value(load_a(at[0]), load_b(at[1]), load_c(at[2])));
}

fn of_four(i: u32) {
    let at = places(i);
    store_out(i, value(load_a(at[0]), load_b(at[1]), load_c(at[2]), load_d(at[3])));
}

fn of_five(i: u32) {
    let at = places(i);
    store_out(i, value(load_a(at[0]), load_b(at[1]), load_c(at[2]), load_d(at[3]), load_e(at[4])));
}
