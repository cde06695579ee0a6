//! Two sweeps compared: what got worse.
//!
//! A larger sample has a larger greatest error, and another seed another share of what is off. So rows are compared that have
//! the same sample: what decides it is the same in both sweeps, and so is the number of elements.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::plan::Scope;
use crate::rows::{Counts, Row, Rows};
use crate::table::ulps;

/// What comes of comparing a sweep with an earlier one.
#[derive(Clone, PartialEq, Default, Debug, Serialize)]
pub struct Compared {
    /// How many rows are compared. Where it is none, nothing is said of what got worse.
    pub compared: u64,
    /// How many rows the sweep has, less those that both sweeps lack.
    pub of: u64,
    /// The rows that are worse than they were.
    pub worse: Vec<Worse>,
    /// What cannot be compared.
    pub not_comparable: NotComparable,
}

/// Why rows of two sweeps cannot be compared.
#[derive(Clone, PartialEq, Default, Debug, Serialize)]
pub struct NotComparable {
    /// The settings that differ and decide the samples: where there is one, no row is compared.
    pub settings: Vec<Setting>,
    /// The rows with other numbers of elements, although the settings are the same.
    pub rows: Vec<Sample>,
    /// The rows that the earlier sweep has not.
    pub only_now: Vec<Place>,
    /// The rows that the earlier sweep alone has.
    pub only_before: Vec<Place>,
}

/// Which row.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
pub struct Place {
    /// The operator.
    pub op: String,
    /// The dtype.
    pub dtype: String,
    /// The backend.
    pub backend: String,
}

/// A setting that two sweeps differ in.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Setting {
    /// The flag.
    pub flag: &'static str,
    /// What it was.
    pub before: String,
    /// What it is.
    pub now: String,
}

/// A row with how many elements it has in two sweeps.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Sample {
    /// Which.
    #[serde(flatten)]
    pub row: Place,
    /// How many elements it had.
    pub before: u64,
    /// How many it has.
    pub now: u64,
}

/// A row that is worse than it was.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Worse {
    /// Which.
    #[serde(flatten)]
    pub row: Place,
    /// In which respects.
    pub what: Vec<Change>,
}

/// A number that grew.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Change {
    /// Which.
    pub of: &'static str,
    /// What it was.
    pub before: f64,
    /// What it is.
    pub now: f64,
}

/// A number of a row.
type Measure = fn(&Counts) -> f64;

/// What counts as worse when it grows.
const MEASURES: [(&str, Measure); 5] = [
    ("max_ulp", |c| c.max_ulp),
    ("p99_ulp", |c| c.p99_ulp),
    ("beyond_tight_share", |c| share(c.beyond_tight, c)),
    ("beyond_spec_share", |c| share(c.beyond_spec, c)),
    ("non_finite_share", |c| share(c.non_finite, c)),
];

fn share(part: u64, of: &Counts) -> f64 {
    if of.judged == 0 { 0.0 } else { part as f64 / of.judged as f64 }
}

/// The rows that are worse than in an earlier sweep: errors grew, or answers fail now. Only rows that both
/// sweeps have on the same sample are compared.
pub fn compare(before: (&Scope, &Rows), now: (&Scope, &Rows)) -> Compared {
    let mut known: BTreeMap<Place, &Row> = before.1.rows.iter().map(|row| (row.into(), row)).collect();
    let mut compared = Compared::default();
    compared.not_comparable.settings = settings(before.0, now.0);
    for now in &now.1.rows {
        compared.take(known.remove(&now.into()), now);
    }
    if compared.not_comparable.settings.is_empty() {
        let left = known.into_iter().filter(|(_, row)| row.says_something());
        compared.not_comparable.only_before = left.map(|(place, _)| place).collect();
    }
    compared
}

impl Compared {
    /// Whether no row is compared.
    pub fn is_empty(&self) -> bool {
        self.compared == 0
    }

    /// Adds a row, and the same row of the earlier sweep, if that has it.
    fn take(&mut self, before: Option<&Row>, now: &Row) {
        if !now.says_something() && !before.is_some_and(Row::says_something) {
            return;
        }
        self.of += 1;
        if self.not_comparable.settings.is_empty() {
            match before {
                Some(before) => self.compare(before, now),
                None => self.not_comparable.only_now.push(now.into()),
            }
        }
    }

    fn compare(&mut self, before: &Row, now: &Row) {
        let (row, what) = (Place::from(now), changes(before, now));
        let is_comparable = !(before.has_answers() && now.has_answers()) || is_same_sample(before, now);
        self.compared += u64::from(is_comparable || !what.is_empty());
        if !what.is_empty() {
            self.worse.push(Worse { row, what });
        } else if !is_comparable {
            let (before, now) = (before.total.elements, now.total.elements);
            self.not_comparable.rows.push(Sample { row, before, now });
        }
    }
}

impl From<&Row> for Place {
    fn from(row: &Row) -> Self {
        Self { op: row.op.clone(), dtype: row.dtype.clone(), backend: row.backend.clone() }
    }
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { op, dtype, backend } = self;
        write!(f, "{op} {dtype} on {backend}")
    }
}

/// The settings that decide what a row's elements are, as far as they differ.
fn settings(before: &Scope, now: &Scope) -> Vec<Setting> {
    let forms = |scope: &Scope| scope.forms.iter().map(|form| form.name()).collect::<Vec<_>>().join(",");
    let of = |scope: &Scope| {
        [
            ("--seed", scope.seed.to_string()),
            ("--opset", scope.opset.to_string()),
            ("--forms", forms(scope)),
            ("--samples", scope.samples.to_string()),
            ("--cases", scope.cases.to_string()),
        ]
    };
    let both = of(before).into_iter().zip(of(now));
    let setting = |((flag, before), (_, now))| Setting { flag, before, now };
    both.map(setting).filter(|setting| setting.before != setting.now).collect()
}

/// Whether two rows have as many elements in each form.
fn is_same_sample(before: &Row, now: &Row) -> bool {
    let elements =
        |row: &Row| row.forms.iter().map(|(form, tally)| (*form, tally.elements)).collect::<Vec<_>>();
    elements(before) == elements(now)
}

fn changes(before: &Row, now: &Row) -> Vec<Change> {
    let failures = |row: &Row| row.failed.values().map(|failed| failed.parts).sum::<u64>() as f64;
    let lacks = |row: &Row| f64::from(u8::from(!row.has_answers()));
    let mut all = vec![
        Change { of: "failed", before: failures(before), now: failures(now) },
        Change { of: "lacking", before: lacks(before), now: lacks(now) },
    ];
    if before.has_answers() && now.has_answers() && is_same_sample(before, now) {
        let (before, now) = (Counts::from(&before.total), Counts::from(&now.total));
        all.extend(MEASURES.map(|(of, measure)| Change { of, before: measure(&before), now: measure(&now) }));
    }
    all.retain(|change| change.now > change.before);
    all
}

/// How many rows are named that cannot be compared.
const NAMED: usize = 5;

/// What got worse, for people, how much was compared, and what cannot be.
pub fn text(compared: &Compared) -> String {
    let NotComparable { settings, rows, only_now, only_before } = &compared.not_comparable;
    let different = |Sample { row, before, now }: &Sample| format!("{row} ({before} and {now})");
    worse(compared)
        + &format!("{} of {} rows compared\n", compared.compared, compared.of)
        + &differ(settings)
        + &listed(
            rows,
            "not comparable, as the numbers of elements differ",
            different,
            "; sweep both times to the end with the same version of onnxsmith",
        )
        + &listed(only_now, "not in the earlier sweep", ToString::to_string, "")
        + &listed(only_before, "in the earlier sweep alone", ToString::to_string, "")
}

/// What got worse, where something is compared.
fn worse(compared: &Compared) -> String {
    let line = |one: &Worse| {
        let what = one
            .what
            .iter()
            .map(|change| format!("{} {} → {}", change.of, told(change.before), told(change.now)));
        format!("{}: {}\n", one.row, what.collect::<Vec<_>>().join(", "))
    };
    match &compared.worse[..] {
        _ if compared.is_empty() => String::new(),
        [] => "nothing is worse than before\n".to_owned(),
        all => format!("worse than before:\n{}", all.iter().map(line).collect::<String>()),
    }
}

/// A number in as many digits as say something, shares included.
fn told(number: f64) -> String {
    if number == 0.0 || number >= 0.01 { ulps(number) } else { format!("{number:.1e}") }
}

/// What to do about settings that differ.
fn differ(settings: &[Setting]) -> String {
    if settings.is_empty() {
        return String::new();
    }
    let differ: Vec<String> = settings
        .iter()
        .map(|Setting { flag, before, now }| format!("{flag} was {before} and is {now}"))
        .collect();
    let again: Vec<String> =
        settings.iter().map(|Setting { flag, before, .. }| format!("{flag} {before}")).collect();
    format!(
        "not comparable with the earlier sweep, which has other samples: {}; sweep again with {}\n",
        differ.join(", "),
        again.join(" ")
    )
}

/// How many rows cannot be compared for a reason, which are the first of them, and what to do about it.
fn listed<T>(rows: &[T], why: &str, name: impl Fn(&T) -> String, advice: &str) -> String {
    let named: Vec<String> = rows.iter().take(NAMED).map(name).collect();
    let (named, more) = (named.join(", "), if rows.len() > NAMED { ", …" } else { "" });
    match rows.len() {
        0 => String::new(),
        1 => format!("1 row is {why}: {named}{advice}\n"),
        many => format!("{many} rows are {why}: {named}{more}{advice}\n"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::form::PartForm;
    use crate::tally::Tally;

    fn scope(samples: u64) -> Scope {
        Scope {
            seed: 0,
            opset: 20,
            operators: ["Exp".to_owned()].into(),
            dtypes: ["f32".to_owned()].into(),
            forms: [PartForm::Unary].into(),
            samples,
            cases: 1,
        }
    }

    /// A row of so many elements, of which so many are beyond the tight tier.
    fn rows(elements: u64, beyond_tight: u64) -> Rows {
        let total = Tally { elements, judged: elements, beyond_tight, ..Tally::default() };
        let row = Row {
            op: "Exp".to_owned(),
            dtype: "f32".to_owned(),
            backend: "cpu".to_owned(),
            forms: BTreeMap::from([(PartForm::Unary, total.clone())]),
            total,
            most: elements,
            lengths: BTreeMap::new(),
            lacks: BTreeMap::new(),
            failed: BTreeMap::new(),
            late_faults: BTreeMap::new(),
        };
        Rows { rows: vec![row], pairs: Vec::new() }
    }

    #[test]
    fn on_the_same_sample_more_that_is_off_is_worse() {
        let (before, now) = (rows(100, 1), rows(100, 2));
        let compared = compare((&scope(100), &before), (&scope(100), &now));
        assert_eq!(compared.not_comparable, NotComparable::default());
        assert!(text(&compared).contains("Exp f32 on cpu: beyond_tight_share 0.01 → 0.02"));
        assert_eq!(compare((&scope(100), &now), (&scope(100), &before)).worse, []);
    }

    #[test]
    fn another_sample_is_not_worse_but_not_comparable() {
        let (before, now) = (rows(100, 1), rows(1000, 90));
        let compared = compare((&scope(100), &before), (&scope(1000), &now));
        assert!(compared.worse.is_empty());
        let said = text(&compared);
        assert!(said.contains("--samples was 100 and is 1000; sweep again with --samples 100"), "{said}");
        assert!(!said.contains("worse"), "{said}");
        let seeds = compare((&scope(100), &before), (&Scope { seed: 1, ..scope(100) }, &before));
        assert_eq!(seeds.not_comparable.settings[0].flag, "--seed");
    }

    /// The same rows of another backend.
    fn on(backend: &str, mut rows: Rows) -> Rows {
        rows.rows.iter_mut().for_each(|row| row.backend = backend.to_owned());
        rows
    }

    #[test]
    fn rows_that_one_sweep_lacks_are_named_and_nothing_is_said_of_what_got_worse() {
        let (before, now) = (rows(100, 1), on("wgpu", rows(100, 90)));
        let compared = compare((&scope(100), &before), (&scope(100), &now));
        assert!(compared.is_empty());
        assert_eq!(
            text(&compared),
            "0 of 1 rows compared\n1 row is not in the earlier sweep: Exp f32 on wgpu\n\
             1 row is in the earlier sweep alone: Exp f32 on cpu\n"
        );
    }

    #[test]
    fn what_is_compared_is_counted_beside_what_is_not() {
        let (before, mut now) = (rows(100, 1), rows(100, 1));
        now.rows.extend(on("wgpu", rows(100, 90)).rows);
        let said = text(&compare((&scope(100), &before), (&scope(100), &now)));
        assert!(said.starts_with("nothing is worse than before\n1 of 2 rows compared\n"), "{said}");
    }

    #[test]
    fn what_both_sweeps_lack_is_no_row_to_compare() {
        let lacking = rows(0, 0);
        let compared = compare((&scope(100), &lacking), (&scope(100), &lacking));
        assert_eq!((compared.compared, compared.of), (0, 0));
    }

    #[test]
    fn a_row_with_other_elements_is_named_and_not_compared() {
        let (before, now) = (rows(100, 1), rows(90, 50));
        let compared = compare((&scope(100), &before), (&scope(100), &now));
        assert!(compared.worse.is_empty());
        assert!(text(&compared).contains("1 row is not comparable"), "{}", text(&compared));
        assert!(text(&compared).contains("0 of 1 rows compared"), "{}", text(&compared));
    }

    #[test]
    fn what_fails_now_is_worse_whatever_is_left() {
        let (before, mut now) = (rows(100, 1), rows(90, 1));
        let first = crate::plan::Name {
            op: "Exp".to_owned(),
            dtype: "f32".to_owned(),
            form: PartForm::Unary,
            number: 0,
            length: None,
        };
        now.rows[0].failed.insert("timeout".to_owned(), crate::rows::Failed { parts: 1, first });
        let compared = compare((&scope(100), &before), (&scope(100), &now));
        assert_eq!(compared.worse[0].what, [Change { of: "failed", before: 0.0, now: 1.0 }]);
    }
}
