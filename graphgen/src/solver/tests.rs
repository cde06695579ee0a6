//! Tests of the solver: against brute force on small problems, and on the shapes of problems operators pose.

use std::collections::BTreeSet;

use ir::Stream;
use ir::dim::{Arena, Dim, LIMIT, Sym};
use ops::{Reject, Rule};
use rand::seq::IndexedRandom;
use rand::{Rng, RngExt};

use super::{Budget, Problem, Solution};

const AMPLE: Budget = Budget { steps: 1 << 20 };

fn k<'a>(v: i64) -> Sym<'a> {
    Sym::Known(v)
}

fn solve(problem: &Problem<'_>, seed: u64) -> Option<Solution> {
    problem.solve(&mut Stream::new(seed).rng(), Budget::default())
}

/// How many of 1000 seeds find a solution, and how many of these differ in the given symbols.
fn spread<'a>(problem: &Problem<'a>, symbols: &[Sym<'a>]) -> (usize, usize) {
    let solutions: Vec<Vec<i64>> = (0..1000)
        .filter_map(|seed| solve(problem, seed))
        .map(|s| symbols.iter().map(|&d| s.value(d)).collect())
        .collect();
    (solutions.len(), solutions.iter().collect::<BTreeSet<_>>().len())
}

/// Whether any assignment is a solution, found out without propagation.
fn brute_force(problem: &Problem<'_>, domains: &[(i64, i64)]) -> bool {
    fn any(problem: &Problem<'_>, domains: &[(i64, i64)], values: &mut Vec<i64>) -> bool {
        let Some(&(low, high)) = domains.get(values.len()) else {
            // The unknowns are the first expressions of the arena, except for the results of broadcasts.
            return completions(problem, values);
        };
        (low..=high).any(|v| {
            values.push(v);
            let found = any(problem, domains, values);
            values.pop();
            found
        })
    }
    fn completions(problem: &Problem<'_>, values: &[i64]) -> bool {
        let extra: Vec<usize> = problem.unknowns().filter(|&u| u >= values.len()).collect();
        let most = if extra.is_empty() { 0 } else { 12 };
        assert!(extra.len() <= 1, "one broadcast at most");
        (0..=most).any(|c| problem.evaluate(|u| values.get(u).copied().unwrap_or(c)).is_some())
    }
    !problem.infeasible && any(problem, domains, &mut Vec::new())
}

/// A random expression over a pool of symbols.
fn grow<'a>(pool: &[Sym<'a>], rng: &mut impl Rng) -> Sym<'a> {
    let [a, b] = [(); 2].map(|()| *pool.choose(rng).expect("the pool is not empty"));
    match rng.random_range(0..6) {
        0 => a + b,
        1 => a - b,
        2 => a * b,
        3 => a / b,
        4 => a.at_most(b),
        _ => a.at_least(b),
    }
}

#[test]
fn finds_a_solution_exactly_where_brute_force_does() {
    let (mut feasible, mut infeasible) = (0, 0);
    for seed in 0..1500 {
        let rng = &mut Stream::new(seed).rng();
        let arena = Arena::new();
        let domains: Vec<(i64, i64)> = (0..rng.random_range(1..=4))
            .map(|_| (rng.random_range(-3..=1), rng.random_range(2..=6)))
            .collect();
        let mut pool: Vec<Sym<'_>> = domains.iter().map(|&(low, high)| arena.unknown(low, high)).collect();
        pool.extend([k(1), k(rng.random_range(-2..=9))]);
        let mut problem = Problem::new(&arena);
        if rng.random_ratio(1, 3) {
            let c = problem.broadcast(pool[0], *pool.choose(rng).expect("the pool is not empty"));
            pool.extend(c);
        }
        for _ in 0..rng.random_range(1..=5) {
            let grown = grow(&pool, rng);
            pool.push(grown);
        }
        for _ in 0..rng.random_range(1..=4) {
            let [a, b] = [(); 2].map(|()| *pool.choose(rng).expect("the pool is not empty"));
            let _known_and_false = if rng.random() { problem.eq(a, b) } else { problem.le(a, b) };
        }
        let found = problem.solve(rng, AMPLE);
        assert_eq!(found.is_some(), brute_force(&problem, &domains), "seed {seed}: {problem:?}");
        match found {
            Some(s) => {
                assert_eq!(problem.evaluate(|u| s.0[u]), Some(s), "seed {seed}");
                feasible += 1;
            }
            None => infeasible += 1,
        }
    }
    assert!(feasible > 300 && infeasible > 300, "{feasible} feasible, {infeasible} infeasible");
}

#[test]
fn equal_products_have_many_solutions() {
    let arena = Arena::new();
    let d: Vec<Sym<'_>> = (0..6).map(|_| arena.unknown(1, 64)).collect();
    let mut problem = Problem::new(&arena);
    problem.eq(Dim::product(&d[..3]), Dim::product(&d[3..])).unwrap();
    let (found, distinct) = spread(&problem, &d);
    assert!(found == 1000 && distinct > 900, "{found} found, {distinct} distinct");
}

#[test]
fn a_reshape_reaches_every_factorisation() {
    let arena = Arena::new();
    let d: Vec<Sym<'_>> = (0..3).map(|_| arena.unknown(1, 120)).collect();
    let mut problem = Problem::new(&arena);
    problem.eq(Dim::product(&[2, 3, 4, 5].map(k)), Dim::product(&d)).unwrap();
    // 120 = 2³·3·5 has C(5,2)·3·3 = 90 ordered factorisations into three.
    assert_eq!(spread(&problem, &d), (1000, 90));
}

#[test]
fn a_count_stated_twice_is_one_count() {
    // A Reshape with everything open under a cap on the elements, the two computed apart.
    let arena = Arena::new();
    let d: Vec<Sym<'_>> = (0..8).map(|_| arena.unknown(1, LIMIT)).collect();
    let mut problem = Problem::new(&arena);
    problem.eq(Dim::product(&d[..4]), Dim::product(&d[4..])).unwrap();
    problem.le(Dim::product(&d[..4]), k(1 << 16)).unwrap();
    let few = Budget { steps: 64 };
    assert!((0..1000).all(|seed| problem.solve(&mut Stream::new(seed).rng(), few).is_some()));
}

/// Six chained convolutions along one axis with a wanted output: the unknowns of all, and the problem.
fn convolutions<'a>(arena: &'a Arena<'a>, wanted: i64) -> (Vec<Sym<'a>>, Problem<'a>) {
    let mut problem = Problem::new(arena);
    let mut x = arena.unknown(1, 1024);
    let mut unknowns = vec![x];
    for _ in 0..6 {
        let [w, dilation, stride] = [(1, 7), (1, 3), (1, 3)].map(|(low, high)| arena.unknown(low, high));
        let pads = [(); 2].map(|()| arena.unknown(0, 3));
        let span = (w - k(1)) * dilation + k(1);
        let room = x + pads[0] + pads[1] - span;
        problem.le(k(0), room).unwrap();
        x = room / stride + k(1);
        unknowns.extend([w, dilation, stride, pads[0], pads[1]]);
    }
    problem.eq(x, k(wanted)).unwrap();
    (unknowns, problem)
}

#[test]
fn chained_convolutions_have_many_solutions() {
    let arena = Arena::new();
    let (unknowns, problem) = convolutions(&arena, 5);
    let (found, distinct) = spread(&problem, &unknowns);
    assert!(found == 1000 && distinct > 950, "{found} found, {distinct} distinct");
}

#[test]
fn a_broadcast_takes_all_three_forms() {
    let arena = Arena::new();
    let [a, b] = [(); 2].map(|()| arena.unknown(1, 9));
    let mut problem = Problem::new(&arena);
    let c = problem.broadcast(a, b).unwrap();
    problem.eq(c, k(7)).unwrap();
    let forms: BTreeSet<_> =
        (0..100).filter_map(|s| solve(&problem, s)).map(|s| (s.value(a), s.value(b))).collect();
    assert_eq!(forms, BTreeSet::from([(7, 7), (1, 7), (7, 1)]));
}

#[test]
fn a_broadcast_with_a_known_extent_needs_no_unknown() {
    let arena = Arena::new();
    let d = arena.unknown(0, 9);
    let mut problem = Problem::new(&arena);
    assert_eq!(problem.broadcast(k(1), d), Ok(d));
    assert_eq!(problem.broadcast(d, k(4)), Ok(k(4)));
    assert_eq!(problem.broadcast(k(1), k(0)), Ok(k(0)));
    assert_eq!(arena.len(), 1);
    let values: BTreeSet<_> = (0..100).filter_map(|s| solve(&problem, s)).map(|s| s.value(d)).collect();
    assert_eq!(values, BTreeSet::from([1, 4]));
    assert_eq!(problem.broadcast(k(2), k(3)).unwrap_err(), Reject::NoBroadcast(2, 3));
    assert_eq!(solve(&problem, 0), None);
}

#[test]
fn every_value_is_reachable() {
    let arena = Arena::new();
    let [a, b] = [arena.unknown(-20, 40), arena.unknown(1, 50)];
    let mut problem = Problem::new(&arena);
    problem.le(a * b, k(300)).unwrap();
    for (unknown, range) in [(a, -20..=40), (b, 1..=50)] {
        let seen: BTreeSet<i64> =
            (0..2000).filter_map(|s| solve(&problem, s)).map(|s| s.value(unknown)).collect();
        assert_eq!(seen, range.collect());
    }
}

#[test]
fn contradictions_are_found() {
    let arena = Arena::new();
    let [a, b] = [(); 2].map(|()| arena.unknown(1, 1 << 40));
    let mut creeping = Problem::new(&arena);
    creeping.le(a + k(1), b).unwrap();
    creeping.le(b + k(1), a).unwrap();
    assert_eq!(solve(&creeping, 0), None);

    let mut parity = Problem::new(&arena);
    parity.eq(a * k(2), k(7)).unwrap();
    assert_eq!(solve(&parity, 0), None);

    let mut known = Problem::new(&arena);
    assert_eq!(known.le(k(3), k(2)).unwrap_err(), Reject::Exceeds(3, 2));
    assert_eq!(known.eq(k(3), k(2)).unwrap_err(), Reject::NotEqual(3, 2));
    assert_eq!(solve(&known, 0), None);
}

#[test]
fn overflow_is_rejected() {
    let arena = Arena::new();
    let big = arena.unknown(i64::MAX / 2, i64::MAX);
    let _unused = big * k(3);
    assert_eq!(solve(&Problem::new(&arena), 0), None, "an expression without a value");

    let arena = Arena::new();
    let d = arena.unknown(1, i64::MAX);
    let mut problem = Problem::new(&arena);
    let cube = d * d * d;
    problem.le(k(1 << 40), cube).unwrap();
    let s = solve(&problem, 0).expect("many cubes fit");
    assert!(i128::from(s.value(d)).pow(3) == i128::from(s.value(cube)));

    let overflow = k(i64::MAX) + k(1);
    assert_eq!(problem.le(overflow, d).unwrap_err(), Reject::Overflow);
    assert_eq!(solve(&problem, 0), None);

    let arena = Arena::new();
    let _poisoned = arena.unknown(0, 3).at_least(overflow);
    assert_eq!(solve(&Problem::new(&arena), 0), None, "a maximum hides no overflow");
}

#[test]
fn an_exact_division_finds_a_group_count() {
    // The groups of a Conv: both channel counts are multiples of an unknown.
    let arena = Arena::new();
    let [groups, per_group, filters] =
        [(1, 96), (1, 96), (1, 96)].map(|(low, high)| arena.unknown(low, high));
    let mut problem = Problem::new(&arena);
    problem.eq(groups * per_group, k(96)).unwrap();
    problem.eq(filters / groups * groups, filters).unwrap();
    let (found, _) = spread(&problem, &[groups, per_group, filters]);
    assert_eq!(found, 1000);
    assert_eq!(spread(&problem, &[groups]), (1000, 12));
}

#[test]
fn the_same_numbers_give_the_same_solution() {
    let solutions = [(); 2].map(|()| {
        let arena = Arena::new();
        let (_, problem) = convolutions(&arena, 3);
        solve(&problem, 7)
    });
    assert!(solutions[0].is_some() && solutions[0] == solutions[1]);
}

#[test]
fn a_spent_budget_ends_the_search() {
    let arena = Arena::new();
    let (_, problem) = convolutions(&arena, 5);
    assert_eq!(problem.solve(&mut Stream::new(0).rng(), Budget { steps: 3 }), None);
}
