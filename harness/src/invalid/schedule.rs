//! Which case is at which level.
//!
//! An adaptive campaign makes a case valid with probability p, and at the level `violate` otherwise. After HirFuzz, p
//! moves towards the level that finds something: up by α for each new signature of a valid case, down by α for each of
//! a relaxed one. HirFuzz's best were p = 0.6 and α = 0.01. p stays within [`BOUNDS`], so that no level dies out.
//!
//! p depends on results, and results come in an order that depends on threads. So that the cases of a campaign do not,
//! p moves once per [`ROUND`] cases: round r uses the p that the signatures of rounds up to r - 2 give, taken in the
//! order of case numbers. A thread that would start a case of round r waits until round r - 2 is complete. With
//! shards, each counts its own cases and sees its own signatures: the shards of an adaptive campaign have other cases
//! than the whole would have.
//!
//! A signature is new in one case only, the first that has it. So p's whole history follows from the first case of each
//! signature, and a campaign that goes on after its death ([`Schedule::resume`]) needs no other record.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use graphgen::Settings;
use ir::Stream;
use onnx::violate::Rule;
use rand::RngExt;
use serde::{Deserialize, Serialize};

use crate::case::{Case, CaseError, Maker};
use crate::validity::Validity;

/// The cases between two moves of p.
pub const ROUND: u64 = 32;

/// The least and the greatest p.
pub const BOUNDS: (f64, f64) = (0.05, 0.95);

/// The most points of the path that are kept.
const MAX_POINTS: usize = 256;

/// Which levels a campaign has.
#[derive(Clone, Debug, Default)]
pub struct Levels {
    /// How a case gets its level.
    pub choice: Choice,
    /// The only rules that are broken; all, and random models as well, where there is none here.
    pub rules: Vec<&'static Rule>,
}

/// How a case gets its level.
#[derive(Clone, Copy, PartialEq, Default, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Choice {
    /// All are valid.
    #[default]
    Valid,
    /// None is meant to be.
    Violate,
    /// Valid with probability p.
    Adaptive {
        /// p at the start.
        p: f64,
        /// By how much a new signature moves it.
        alpha: f64,
    },
}

impl Levels {
    /// The case of that number at a level.
    pub fn make(
        &self,
        maker: &Maker<'_>,
        index: u64,
        settings: &Settings,
        level: Validity,
    ) -> Result<Case, CaseError> {
        match level {
            Validity::Valid => maker.make_within(index, settings),
            Validity::Violate | Validity::Random => super::make(maker, index, settings, &self.rules),
        }
    }
}

/// p over time.
#[derive(Clone, PartialEq, Default, Debug, Serialize, Deserialize)]
pub struct Path {
    /// By how much a new signature moves p.
    pub alpha: f64,
    /// The cases from which on p had another value, with that value. If p moved often, only some of them.
    pub points: Vec<(u64, f64)>,
}

impl Path {
    fn add(&mut self, case: u64, p: f64) {
        self.points.push((case, p));
        if self.points.len() > MAX_POINTS {
            let mut number = 0;
            self.points.retain(|_| {
                number += 1;
                number % 2 == 1
            });
        }
    }
}

/// The levels of a campaign's cases, as it runs.
#[derive(Debug)]
pub struct Schedule {
    choice: Choice,
    state: Mutex<State>,
    moved: Condvar,
}

#[derive(Debug)]
struct State {
    /// p by round, as far as it is known.
    p: Vec<f64>,
    /// The cases below this number were complete at the start.
    resumed: u64,
    /// What the other cases of rounds that are not complete have found, by number.
    found: BTreeMap<u64, (Validity, Vec<String>)>,
    seen: BTreeSet<String>,
    path: Path,
}

/// A case that has a level. Later cases wait until it has told what it found ([`Turn::found`]), or is dropped, which
/// says that it found nothing.
#[derive(Debug)]
pub struct Turn<'s> {
    schedule: &'s Schedule,
    number: u64,
    /// Its level.
    pub level: Validity,
    signatures: Vec<String>,
}

impl Turn<'_> {
    /// Counts the signatures that the case has found.
    pub fn found(mut self, signatures: Vec<String>) {
        self.signatures = signatures;
    }
}

impl Schedule {
    /// The start of a campaign.
    pub fn new(choice: Choice) -> Self {
        Self::resume(choice, 0, BTreeMap::new())
    }

    /// The rest of a campaign, from a case number on: the cases before it have found these signatures first.
    pub fn resume(choice: Choice, from: u64, firsts: BTreeMap<u64, (Validity, Vec<String>)>) -> Self {
        let (mut p, mut path) = (Vec::new(), Path::default());
        if let Choice::Adaptive { p: start, alpha } = choice {
            let start = start.clamp(BOUNDS.0, BOUNDS.1);
            p = vec![start; 2];
            path.alpha = alpha;
            path.add(0, start);
        }
        let mut state = State { p, resumed: from, found: firsts, seen: BTreeSet::new(), path };
        if let Choice::Adaptive { alpha, .. } = choice {
            while state.close_round(alpha) {}
        }
        Self { choice, state: Mutex::new(state), moved: Condvar::new() }
    }

    /// The level of the case that is `number`-th of this campaign, whose random numbers come from `stream`. Every
    /// number from 0 on must be asked for once. It may wait for earlier cases.
    pub fn turn(&self, number: u64, stream: Stream) -> Turn<'_> {
        let level = match self.choice {
            Choice::Valid => Validity::Valid,
            Choice::Violate => Validity::Violate,
            Choice::Adaptive { .. } => {
                let is_valid = stream.child("level").rng().random_bool(self.p(number / ROUND));
                if is_valid { Validity::Valid } else { Validity::Violate }
            }
        };
        Turn { schedule: self, number, level, signatures: Vec::new() }
    }

    /// p over time, in an adaptive campaign.
    pub fn path(&self) -> Option<Path> {
        matches!(self.choice, Choice::Adaptive { .. }).then(|| self.lock().path.clone())
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The p of a round, once it is known.
    fn p(&self, round: u64) -> f64 {
        let mut state = self.lock();
        loop {
            match state.p.get(round as usize) {
                Some(&p) => return p,
                None => state = self.moved.wait(state).unwrap_or_else(PoisonError::into_inner),
            }
        }
    }

    fn done(&self, number: u64, level: Validity, signatures: Vec<String>) {
        let Choice::Adaptive { alpha, .. } = self.choice else { return };
        let mut state = self.lock();
        state.found.insert(number, (level, signatures));
        while state.close_round(alpha) {
            self.moved.notify_all();
        }
    }
}

impl State {
    /// Moves p by what a round has found, if that is complete.
    fn close_round(&mut self, alpha: f64) -> bool {
        let round = self.p.len() as u64 - 2;
        let cases = round * ROUND..(round + 1) * ROUND;
        if !cases.clone().all(|number| number < self.resumed || self.found.contains_key(&number)) {
            return false;
        }
        let before = self.p[self.p.len() - 1];
        let mut p = before;
        for (level, signatures) in cases.filter_map(|number| self.found.remove(&number)) {
            let fresh = signatures.into_iter().filter(|s| self.seen.insert(s.clone())).count() as f64;
            p += alpha * if level == Validity::Valid { fresh } else { -fresh };
            p = p.clamp(BOUNDS.0, BOUNDS.1);
        }
        self.p.push(p);
        if p.total_cmp(&before).is_ne() {
            self.path.add((round + 2) * ROUND, p);
        }
        true
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.schedule.done(self.number, self.level, std::mem::take(&mut self.signatures));
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::*;

    const CASES: u64 = 20 * ROUND;

    fn adaptive(p: f64) -> Choice {
        Choice::Adaptive { p, alpha: 0.01 }
    }

    /// Runs cases on threads; a case finds what `found` says. Returns the levels and the path.
    fn run(jobs: usize, start: f64, found: fn(u64, Validity) -> Vec<String>) -> (Vec<Validity>, Path) {
        run_rest(jobs, &Schedule::new(adaptive(start)), 0, found)
    }

    fn run_rest(
        jobs: usize,
        schedule: &Schedule,
        from: u64,
        found: fn(u64, Validity) -> Vec<String>,
    ) -> (Vec<Validity>, Path) {
        let next = AtomicU64::new(from);
        let levels = Mutex::new(BTreeMap::new());
        std::thread::scope(|scope| {
            for _ in 0..jobs {
                scope.spawn(|| {
                    loop {
                        let number = next.fetch_add(1, Ordering::Relaxed);
                        if number >= CASES {
                            break;
                        }
                        let turn = schedule.turn(number, Stream::new(1).at(number));
                        let level = turn.level;
                        turn.found(found(number, level));
                        levels.lock().unwrap().insert(number, level);
                    }
                });
            }
        });
        (levels.into_inner().unwrap().into_values().collect(), schedule.path().unwrap())
    }

    fn only(wanted: Validity, n: u64, level: Validity) -> Vec<String> {
        if level == wanted { vec![n.to_string()] } else { Vec::new() }
    }

    #[test]
    fn p_moves_towards_the_level_that_finds_something() {
        let (_, up) = run(1, 0.6, |n, level| only(Validity::Valid, n, level));
        let (_, down) = run(1, 0.6, |n, level| only(Validity::Violate, n, level));
        let (_, still) = run(1, 0.6, |_, _| Vec::new());
        let last = |path: &Path| path.points.last().unwrap().1;
        assert_eq!([last(&up), last(&down), last(&still)], [BOUNDS.1, BOUNDS.0, 0.6]);
        assert_eq!(up.points[0], (0, 0.6));
        assert_eq!(up.points[1].0, 2 * ROUND);
    }

    #[test]
    fn a_signature_is_new_once() {
        let (_, path) = run(1, 0.6, |_, level| only(Validity::Valid, 0, level));
        let values: Vec<f64> = path.points.iter().map(|point| point.1).collect();
        assert_eq!(values, [0.6, 0.61]);
    }

    #[test]
    fn neither_levels_nor_p_depend_on_threads() {
        let found = |n: u64, level: Validity| match level {
            Validity::Valid if n.is_multiple_of(5) => vec![format!("valid {}", n / 3)],
            Validity::Valid => vec!["common".to_owned()],
            _ => vec![format!("relaxed {}", n / 7)],
        };
        assert_eq!(run(1, 0.5, found), run(8, 0.5, found));
    }

    #[test]
    fn the_rest_of_a_campaign_is_as_if_it_had_not_been_interrupted() {
        let found = |n: u64, level: Validity| match level {
            Validity::Valid => vec![format!("valid {}", n / 40)],
            _ => vec![format!("relaxed {}", n / 9), format!("more {}", n / 50)],
        };
        let (levels, path) = run(1, 0.5, found);
        for from in [1, ROUND - 1, ROUND, 3 * ROUND + 5, 7 * ROUND, CASES - 1, CASES] {
            let (mut seen, mut firsts) = (BTreeSet::new(), BTreeMap::new());
            for (number, level) in (0..from).zip(levels.iter().copied()) {
                let fresh: Vec<_> =
                    found(number, level).into_iter().filter(|s| seen.insert(s.clone())).collect();
                if !fresh.is_empty() {
                    firsts.insert(number, (level, fresh));
                }
            }
            let rest = run_rest(2, &Schedule::resume(adaptive(0.5), from, firsts), from, found);
            assert_eq!(rest, (levels[from as usize..].to_vec(), path.clone()), "from {from}");
        }
    }

    #[test]
    fn a_long_path_is_thinned() {
        let mut path = Path::default();
        (0..10_000).for_each(|n| path.add(n, 0.5));
        assert!(path.points.len() <= MAX_POINTS);
        assert_eq!(path.points[0].0, 0);
    }
}
