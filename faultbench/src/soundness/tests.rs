//! No conforming implementation is outside of the bounds, and each grant that is taken from the bounds alone is missed.

use interp::Accuracy;
use ops::arith::Fun;

use super::*;

/// How many answers of an operator's are refuted.
fn refuted(contract: Contract<'_>, operator: &str) -> u64 {
    let sample = Sample { seed: 1, cases: 8, implementations: 8 };
    run(sample, &[contract], &[operator.to_owned()]).unwrap().refuted()
}

#[test]
fn every_operator_stays_inside_whatever_a_conforming_implementation_does() {
    let results = run(Sample { seed: 0, cases: 8, implementations: 6 }, &Contract::ALL, &[]).unwrap();
    assert_eq!(results.refuted(), 0, "{}", text(&results));
    let bounded: usize = results.rows.iter().map(|row| row.tally.bounded()).sum();
    assert!(bounded > 5000, "only {bounded} elements have a bound that could be refuted");
}

/// Half of what is granted.
fn halved(accuracy: Accuracy) -> Accuracy {
    match accuracy {
        Accuracy::Ulp(n) => Accuracy::Ulp(n / 2.0),
        Accuracy::Either { ulp, abs } => Accuracy::Either { ulp: ulp / 2.0, abs: abs / 2.0 },
        Accuracy::Slope { base, per_unit, least } => {
            Accuracy::Slope { base: base / 2.0, per_unit: per_unit / 2.0, least: least / 2.0 }
        }
        Accuracy::Near { low, high, abs, ulp } => {
            Accuracy::Near { low, high, abs: abs / 2.0, ulp: ulp / 2.0 }
        }
        Accuracy::Only { low, high, abs } => Accuracy::Only { low, high, abs: abs / 2.0 },
        Accuracy::Formula { abs } => Accuracy::Formula { abs: abs / 2.0 },
    }
}

const fn declared(claimed: &Profile) -> Contract<'_> {
    Contract { kept: &Profile::DECLARED, claimed }
}

const fn wgsl(claimed: &Profile) -> Contract<'_> {
    Contract { kept: &Profile::WGSL, claimed }
}

/// What is granted, taken from the bounds and not from the implementations, and an operator that needs it. The running variance
/// is seen in an output that is rarely drawn; `interp/tests/soundness.rs` has it. Casts to either neighbour, the variance of one
/// pass, powers by products or of integers and transformed convolutions are not seen in so few cases; of these `interp/tests` has the
/// variance and the convolutions.
const TAKEN: [(&str, &str, Contract<'_>); 15] = [
    ("half of the rounding", "Add", wgsl(&Profile { rounding: 0.5, ..Profile::WGSL })),
    ("half of the division", "Div", declared(&Profile { division: |_| 1.25, ..Profile::DECLARED })),
    (
        "half of each function",
        "Tanh",
        declared(&Profile {
            function: |f: Fun, d| halved((Profile::DECLARED.function)(f, d)),
            ..Profile::DECLARED
        }),
    ),
    (
        "half of the power",
        "Pow",
        declared(&Profile { power: |d| halved((Profile::DECLARED.power)(d)), ..Profile::DECLARED }),
    ),
    ("folding", "LogSoftmax", declared(&Profile { folds: false, ..Profile::DECLARED })),
    ("flushing", "Abs", declared(&Profile { flush_to_zero: false, ..Profile::DECLARED })),
    ("the sign of zero", "Neg", declared(&Profile { ignores_zero_sign: false, ..Profile::DECLARED })),
    ("saturation", "Mul", declared(&Profile { integers_may_saturate: false, ..Profile::DECLARED })),
    ("NaN that loses", "ReduceMax", declared(&Profile { nan_may_lose: false, ..Profile::DECLARED })),
    ("the remainder by a formula", "Mod", wgsl(&Profile { remainder_by_formula: false, ..Profile::WGSL })),
    ("moderate divisors", "Reciprocal", wgsl(&Profile { moderate_divisors: false, ..Profile::WGSL })),
    ("quotients by powers of two", "Div", wgsl(&Profile { scales_exactly: true, ..Profile::WGSL })),
    ("positions in f32", "GridSample", declared(&Profile { narrows_positions: false, ..Profile::DECLARED })),
    ("what is not finite", "Exp", wgsl(&Profile { nonfinite_is_indeterminate: false, ..Profile::WGSL })),
    (
        "the library",
        "Sigmoid",
        Contract {
            kept: &Profile::WGSL_RUNTIME,
            claimed: &Profile { library: None, ..Profile::WGSL_RUNTIME },
        },
    ),
];

#[test]
fn whatever_is_taken_from_the_bounds_alone_is_missed() {
    let is_missed = |&(_, operator, contract): &(&str, &str, Contract<'_>)| {
        let unharmed = Contract { kept: contract.kept, claimed: contract.kept };
        refuted(unharmed, operator) == 0 && refuted(contract, operator) > 0
    };
    let unseen: Vec<&str> = TAKEN.iter().filter(|taken| !is_missed(taken)).map(|(what, ..)| *what).collect();
    assert!(unseen.is_empty(), "as well without {unseen:?}");
}
