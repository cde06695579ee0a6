// One chunk, combined in the order of its elements.
fn element(i: u32) {
    let chunk = chunk_of(i);
    var r = neutral();
    for (var k = chunk.start; k < chunk.end; k++) {
        r = combine(r, before(load_x(chunk.base + k * params.stage.inner)));
    }
    store_out(i, after(r));
}

fn itself(a: T) -> T { return a; }

fn square(a: T) -> T { return a * a; }

fn sum(r: T, a: T) -> T { return r + a; }

fn product(r: T, a: T) -> T { return r * a; }

fn zero() -> T { return T(0); }

fn one() -> T { return T(1); }

fn over_total(r: T) -> T { return r / T(params.total); }

fn logarithm(r: T) -> T { return f_log(r); }
