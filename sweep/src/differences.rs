//! What tells two sweeps apart, in words: one that goes on must be the one that began.

use std::collections::BTreeSet;

use crate::form::PartForm;
use crate::plan::Scope;
use crate::store::{Identity, Swept};

/// How many names a line has of a set that has more.
const SHOWN: usize = 5;

impl Identity {
    /// What differs from another sweep, a line each: the flag or the property, its value there (in this one), and here (in the other).
    pub fn differences(&self, here: &Self) -> Vec<String> {
        let Self { onnxsmith, scope, targets } = self;
        let mut found = of_scopes(scope, &here.scope);
        found.extend(of_targets(targets, &here.targets));
        found.extend(of_values("version of onnxsmith", onnxsmith, &here.onnxsmith));
        found
    }
}

fn of_scopes(there: &Scope, here: &Scope) -> Vec<String> {
    let Scope { seed, opset, operators, dtypes, forms, samples, cases } = there;
    let names =
        |forms: &BTreeSet<PartForm>| forms.iter().map(|form| form.name().to_owned()).collect::<BTreeSet<_>>();
    [
        of_sets("--ops", operators, &here.operators),
        of_sets("--dtypes", dtypes, &here.dtypes),
        of_sets("--forms", &names(forms), &names(&here.forms)),
        of_values("--seed", seed, &here.seed),
        of_values("--opset", opset, &here.opset),
        of_values("--samples", samples, &here.samples),
        of_values("--cases", cases, &here.cases),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// Other backends, or another order of them, are one difference; of the same ones each is looked at.
fn of_targets(there: &[Swept], here: &[Swept]) -> Vec<String> {
    let names = |all: &[Swept]| all.iter().map(|swept| swept.on.as_str()).collect::<Vec<_>>().join(",");
    let other = of_values("--on", &names(there), &names(here));
    if other.is_some() {
        return other.into_iter().collect();
    }
    there.iter().zip(here).flat_map(|(there, here)| of_one(there, here)).collect()
}

fn of_one(there: &Swept, here: &Swept) -> Vec<String> {
    let Swept { name, on, version, profile } = there;
    let about = |what: &str| format!("{what} of {on}");
    let all = [
        of_values(&about("name"), name, &here.name),
        of_values(&about("version"), version, &here.version),
        of_values(&about("accuracy"), profile, &here.profile),
    ];
    all.into_iter().flatten().collect()
}

fn of_values<T: PartialEq + ToString>(what: &str, there: &T, here: &T) -> Option<String> {
    (there != here).then(|| format!("{what}: {} there, {} here", there.to_string(), here.to_string()))
}

fn of_sets(what: &str, there: &BTreeSet<String>, here: &BTreeSet<String>) -> Option<String> {
    let only = |one: &BTreeSet<String>, other: &BTreeSet<String>| list(one.difference(other));
    (there != here)
        .then(|| format!("{what}: only there {}; only here {}", only(there, here), only(here, there)))
}

/// The first of some names, and how many more there are.
fn list<'n>(names: impl Iterator<Item = &'n String>) -> String {
    let names: Vec<&str> = names.map(String::as_str).collect();
    match names.len() {
        0 => "nothing".to_owned(),
        count if count > SHOWN => format!("{} and {} more", names[..SHOWN].join(", "), count - SHOWN),
        _ => names.join(", "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sweep() -> Identity {
        let set = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
        let scope = Scope {
            seed: 0,
            opset: 28,
            operators: set(&["Add", "Neg"]),
            dtypes: set(&["f32"]),
            forms: [PartForm::Unary, PartForm::Pairs].into(),
            samples: 4096,
            cases: 2,
        };
        let swept = |on: &str| Swept {
            name: on.to_owned(),
            on: on.to_owned(),
            version: "1".to_owned(),
            profile: "tight".to_owned(),
        };
        Identity { onnxsmith: "0.1.0".to_owned(), scope, targets: vec![swept("cpu"), swept("rten:all")] }
    }

    #[test]
    fn each_setting_that_differs_is_named_with_both_values() {
        let there = sweep();
        assert_eq!(there.differences(&there), [""; 0]);
        let mut here = sweep();
        let letters = |letters: &str| letters.chars().map(String::from).collect();
        here.scope = Scope {
            seed: 7,
            opset: 21,
            operators: letters("ABCDEFG"),
            dtypes: letters("x"),
            forms: [PartForm::Unary].into(),
            samples: 64,
            cases: 3,
        };
        here.onnxsmith = "0.2.0".to_owned();
        here.targets[1].version = "2".to_owned();
        here.targets[1].profile = "declared".to_owned();
        let found = [
            "--ops: only there Add, Neg; only here A, B, C, D, E and 2 more",
            "--dtypes: only there f32; only here x",
            "--forms: only there pairs; only here nothing",
            "--seed: 0 there, 7 here",
            "--opset: 28 there, 21 here",
            "--samples: 4096 there, 64 here",
            "--cases: 2 there, 3 here",
            "version of rten:all: 1 there, 2 here",
            "accuracy of rten:all: tight there, declared here",
            "version of onnxsmith: 0.1.0 there, 0.2.0 here",
        ];
        assert_eq!(there.differences(&here), found);
    }

    #[test]
    fn other_backends_and_another_order_of_them_are_one_difference() {
        let there = sweep();
        let mut here = sweep();
        here.targets.reverse();
        assert_eq!(there.differences(&here), ["--on: cpu,rten:all there, rten:all,cpu here"]);
        here.targets.pop();
        assert_eq!(there.differences(&here), ["--on: cpu,rten:all there, rten:all here"]);
    }
}
