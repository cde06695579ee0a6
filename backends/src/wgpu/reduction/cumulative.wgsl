// Lane `i`, or the part of it that this launch walks.
fn element(i: u32) {
    let base = (i / params.inner) * params.n * params.inner + i % params.inner;
    var r = neutral();
    if (params.start > 0u) {
        let last = base + place(params.start - 1u) * params.inner;
        r = load_out(last);
        // What is exclusive leaves out its own element, which the next one needs.
        if (params.exclusive == 1u) { r = combine(r, load_x(last)); }
    }
    for (var k = params.start; k < params.end; k++) {
        let at = base + place(k) * params.inner;
        let before = r;
        r = combine(r, load_x(at));
        store_out(at, select(r, before, params.exclusive == 1u));
    }
}

fn place(k: u32) -> u32 { return select(k, params.n - 1u - k, params.reverse == 1u); }

fn sum(r: T, a: T) -> T { return r + a; }

fn product(r: T, a: T) -> T { return r * a; }

fn zero() -> T { return T(0); }

fn one() -> T { return T(1); }
