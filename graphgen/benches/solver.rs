//! How long one solve takes, over a rotation of seeds, for the shapes of problems that operators pose.

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use ir::Stream;
use ir::dim::{Arena, Dim, Sym};
use onnxsmith_graphgen::solver::{Budget, Problem};
use ops::Rule;

fn measure(c: &mut Criterion, name: &str, problem: &Problem<'_>) {
    let mut rng = Stream::new(0).rng();
    c.bench_function(name, |b| b.iter(|| black_box(problem.solve(&mut rng, Budget::default()))));
}

/// `a·b·c = d·e·f`: a Reshape with everything open.
fn products(c: &mut Criterion) {
    let arena = Arena::new();
    let d: Vec<Sym<'_>> = (0..6).map(|_| arena.unknown(1, 64)).collect();
    let mut problem = Problem::new(&arena);
    problem.eq(Dim::product(&d[..3]), Dim::product(&d[3..])).expect("unknowns contradict nothing");
    measure(c, "products", &problem);
}

/// `2·3·4·5 = a·b·c`: a Reshape of a known tensor.
fn reshape(c: &mut Criterion) {
    let arena = Arena::new();
    let d: Vec<Sym<'_>> = (0..3).map(|_| arena.unknown(1, 120)).collect();
    let mut problem = Problem::new(&arena);
    problem.eq(Sym::Known(120), Dim::product(&d)).expect("unknowns contradict nothing");
    measure(c, "reshape", &problem);
}

/// Six Convs in a chain, along one axis, with a wanted output.
fn convolutions(c: &mut Criterion) {
    let one = Sym::Known(1);
    let arena = Arena::new();
    let mut problem = Problem::new(&arena);
    let mut x = arena.unknown(1, 1024);
    for _ in 0..6 {
        let [w, dilation, stride] = [(1, 7), (1, 3), (1, 3)].map(|(low, high)| arena.unknown(low, high));
        let room = x + arena.unknown(0, 3) + arena.unknown(0, 3) - ((w - one) * dilation + one);
        problem.le(Sym::Known(0), room).expect("unknowns contradict nothing");
        x = room / stride + one;
    }
    problem.eq(x, Sym::Known(5)).expect("unknowns contradict nothing");
    measure(c, "six convolutions", &problem);
}

criterion_group!(benches, products, reshape, convolutions);
criterion_main!(benches);
