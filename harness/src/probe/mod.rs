//! Finding out what a target lacks.
//!
//! | module | holds |
//! |---|---|
//! | `uses` | drawing uses of operators, alone or many in a model, and running them |
//! | `composites` | the same of operators that are written out where they are read, by dtype alone |
//! | `bodies` | forms of programs with bodies: If, Loop and Scan |
//! | `learn` | from uses and what the engine said of them to the forms that it refuses |
//!
//! A graph of ten nodes tests nothing if the engine lacks the form of one operator in it. So before a campaign each
//! operator is tried alone, on each dtype, in drawn opsets, with drawn attributes. If the engine says that it lacks
//! some of these uses, the probe guesses which forms it refuses. It tries each guess on further uses of that form, and
//! on other uses what the guesses do not cover, until nothing surprises it. Then graphs of ten nodes are drawn without
//! these forms. If one is refused all the same, each of its operators is tried alone, and the probe goes on from there.
//!
//! Only uses that an engine *says* it does not support are kept out of its graphs. Uses that it refuses in other words,
//! crashes on or gets wrong stay in: to find these is the campaign's work.

mod bodies;
mod composites;
mod learn;
mod uses;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use graphgen::support::UseForm;
use graphgen::{Refused, Settings};
use ir::Stream;
use ops::Spec;
use worker::WorkerError;

use crate::support::Lacking;
use crate::target::Target;
use learn::{Evidence, Guess, UseTrial};
use uses::{Runner, Wanted};

/// How many uses of an operator are tried alone at first, at least.
const FIRST: usize = 16;
/// How often each pair of dtypes is tried. A form of two facts that explains fewer uses is not guessed.
const PAIR: usize = 2;
/// How many uses outside of all guesses are tried in each round, for each operator of which some uses are refused.
const OUTSIDE: u64 = 8;
/// How often guesses are made and tried.
const ROUNDS: u64 = 6;
/// How often graphs are drawn to see whether something was missed.
const AUDITS: u64 = 3;
/// How many graphs are drawn at least, however few operators there are.
const LEAST_GRAPHS: u64 = 20;
/// How many models with functions are tried.
const FUNCTIONS: u64 = 6;

/// How much a probe does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ProbeBudget {
    /// How many graphs are drawn to see whether something was missed, each time.
    pub graphs: u64,
    /// How many models run at the same time. What is found out does not depend on it.
    pub jobs: usize,
}

impl ProbeBudget {
    /// What a campaign spends on probes before it starts.
    pub fn usual(jobs: usize) -> Self {
        Self { graphs: 300, jobs }
    }
}

/// What a probe cost, and what it leaves open.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Probed {
    /// How many models were run.
    pub runs: u64,
    /// How many graphs were drawn in the end, without what the target was found to lack, to see what was missed.
    pub graphs: u64,
    /// How many of these graphs the target still did not support.
    pub refused: u64,
}

/// Why what a target lacks is not known.
#[derive(Debug, thiserror::Error)]
pub enum ProbeError {
    /// The target's worker does not start, or answers nothing.
    #[error(transparent)]
    Worker(#[from] WorkerError),
    /// The probe was stopped.
    #[error("stopped while operators were tried on {engine}")]
    Stopped {
        /// The engine.
        engine: String,
    },
}

/// Who looks on while a target is probed.
#[derive(Clone, Copy)]
pub struct Watch<'w> {
    /// Is told of each model that is run.
    pub on_run: &'w (dyn Fn() + Sync),
    /// Says whether to end before the next.
    pub stop: &'w (dyn Fn() -> bool + Sync),
}

/// Fills in what the target lacks, among the operators and dtypes of the settings.
pub fn probe(
    target: &mut Target,
    settings: &Settings,
    effort: ProbeBudget,
    watch: Watch<'_>,
) -> Result<Probed, ProbeError> {
    // A hang does not say that something is lacking.
    let asked = target.briefly();
    let runner = Runner::new(&asked, effort.jobs, watch);
    let stated = (*target.support).clone();
    let opset = match stated.opset {
        Some(stated) => {
            greet(&runner, stated)?;
            Some(stated)
        }
        None => newest(&runner)?,
    };
    let support = stated.with_opset(opset).with_functions(true).with_lacking(Vec::new());
    // Sizes stay at their defaults: large ones would be slow, and teach nothing about forms.
    let base = support.narrow(Settings {
        operators: settings.operators.clone(),
        dtypes: settings.dtypes,
        opset: settings.opset,
        max_rank: settings.max_rank,
        empty_dims: settings.empty_dims,
        function: 0.0,
        ..Settings::default()
    });
    let mut probe = Probe {
        runner: &runner,
        base,
        tried: BTreeMap::new(),
        guesses: BTreeMap::new(),
        guessed_at: BTreeMap::new(),
    };
    probe.first()?;
    let graphs = probe.graphs(effort.graphs);
    let mut refused = 0;
    for audit in 0..AUDITS {
        let Audited { refused: now, is_news } = probe.audit(audit, graphs)?;
        refused = now;
        if !is_news {
            break;
        }
    }
    let functions = has_functions(&runner, &probe.narrowed())?;
    let forms = bodies::lacking(&runner, &probe.narrowed())?;
    let composites = composites::lacking(&runner, &support, opset)?;
    let probed = Probed { runs: runner.runs(), graphs, refused };
    let lacking = probe.lacking();
    let support = support.with_opset(opset).with_functions(functions).with_lacking_forms(forms);
    target.support = Arc::new(support.with_lacking(lacking).with_composites(composites));
    Ok(probed)
}

/// The outcome of graphs that were drawn without the refused forms.
struct Audited {
    /// How many were refused all the same.
    refused: u64,
    /// Whether one of their operators was refused alone.
    is_news: bool,
}

/// What is known so far.
struct Probe<'r> {
    runner: &'r Runner<'r>,
    base: Settings,
    /// The uses of each operator.
    tried: BTreeMap<&'static str, Vec<UseTrial>>,
    /// The guesses for operators of which some uses are refused.
    guesses: BTreeMap<&'static str, Vec<Guess>>,
    /// How many uses of the operator had been tried when a form was first guessed.
    guessed_at: BTreeMap<(&'static str, UseForm), usize>,
}

impl Probe<'_> {
    /// Tries each operator alone, and follows up what is refused.
    fn first(&mut self) -> Result<(), ProbeError> {
        let mut wanted = Vec::new();
        for spec in ops::registry().filter(|spec| self.base.operators.contains(spec.name)) {
            let dtypes = uses::dtypes(spec, 0, &self.base);
            let each = FIRST.div_ceil(dtypes.len().max(1)) as u64;
            for (at, dtype) in dtypes.iter().enumerate() {
                let stream = uses::stream(spec).child("first").at(at as u64);
                wanted
                    .extend((0..each).map(|i| Wanted::new(spec, &self.base, stream.at(i)).on(&[(0, dtype)])));
            }
        }
        let tried = self.runner.alone(&wanted)?;
        let mut refused = self.take(tried);
        let tried = self.runner.alone(&self.pairs())?;
        refused.extend(self.take(tried));
        self.refine(refused, "first")
    }

    /// Uses of operators that take operands of two dtypes, on each pair: an engine may lack one pair in a hundred.
    fn pairs(&self) -> Vec<Wanted> {
        let mut wanted = Vec::new();
        for (spec, tried) in self.tried.iter().filter_map(|(name, tried)| Some((ops::find(name)?, tried))) {
            let firsts = uses::dtypes(spec, 0, &self.base);
            for operand in 1..spec.inputs.len() {
                let seen: Vec<_> = tried.iter().filter_map(|t| t.dtypes(operand)).collect();
                if seen.iter().all(|(first, other)| first == other) {
                    continue;
                }
                let stream = uses::stream(spec).child("pairs").at(operand as u64);
                let others = uses::dtypes(spec, operand, &self.base);
                let all = firsts.iter().flat_map(|first| others.iter().map(move |other| (first, other)));
                let rare = all.flat_map(|pair| {
                    let times = seen.iter().filter(|seen| **seen == pair).count();
                    std::iter::repeat_n(pair, PAIR.saturating_sub(times))
                });
                wanted.extend(rare.zip(0..).map(|((first, other), at)| {
                    Wanted::new(spec, &self.base, stream.at(at)).on(&[(0, first), (operand, other)])
                }));
            }
        }
        wanted
    }

    /// Counts uses. Gives the operators of which some are refused.
    fn take(&mut self, tried: Vec<(&'static Spec, UseTrial)>) -> BTreeSet<&'static str> {
        let mut refused = BTreeSet::new();
        for (spec, tried) in tried {
            if tried.said.is_some() {
                refused.insert(spec.name);
            }
            self.tried.entry(spec.name).or_default().push(tried);
        }
        refused
    }

    /// Guesses what is refused of some operators, and tries the guesses until nothing surprises.
    fn refine(&mut self, mut open: BTreeSet<&'static str>, stage: &str) -> Result<(), ProbeError> {
        for round in 0..ROUNDS {
            let mut wanted = Vec::new();
            for spec in open.iter().filter_map(|name| ops::find(name)) {
                self.guess(spec);
                wanted.extend(self.follow_up(spec, uses::stream(spec).child(stage).at(round)));
            }
            let tried = self.runner.alone(&wanted)?;
            let surprising =
                tried.iter().filter(|(spec, tried)| self.expects(spec, tried) != tried.said.is_some());
            open = surprising.map(|(spec, _)| spec.name).collect();
            self.take(tried);
        }
        open.iter().filter_map(|name| ops::find(name)).for_each(|spec| self.guess(spec));
        Ok(())
    }

    /// Guesses what is refused of an operator.
    fn guess(&mut self, spec: &'static Spec) {
        let tried = &self.tried[spec.name];
        let guesses = learn::guesses(spec, tried);
        for atom in guesses.iter().flat_map(|guess| learn::atoms(&guess.form)) {
            self.guessed_at.entry((spec.name, atom)).or_insert(tried.len());
        }
        self.guesses.insert(spec.name, guesses);
    }

    /// Whether a use is refused if the guesses are right.
    fn expects(&self, spec: &Spec, tried: &UseTrial) -> bool {
        let mut guesses = self.guesses.get(spec.name).into_iter().flatten();
        guesses.any(|guess| tried.has(&guess.form))
    }

    /// How many uses of a form, and of no other guess, were tried. The first few of the operator are left out.
    fn seen(&self, operator: &str, form: &UseForm, others: &[Guess], since: usize) -> usize {
        let tried = self.tried.get(operator).into_iter().flatten().skip(since);
        tried.filter(|t| t.has(form) && !others.iter().any(|other| t.has(&other.form))).count()
    }

    /// How many more uses of a form must be refused before it is kept out. Uses that earlier guesses explain are no
    /// evidence.
    fn missing(&self, operator: &'static str, atom: &UseForm, before: &[Guess]) -> usize {
        let (needed, since) = match learn::needed(atom) {
            Evidence::Planned(needed) => (needed, 0),
            Evidence::Sought(needed) => {
                (needed, self.guessed_at.get(&(operator, atom.clone())).copied().unwrap_or(usize::MAX))
            }
        };
        needed.saturating_sub(self.seen(operator, atom, before, since))
    }

    /// Uses that would tell whether the guesses about an operator are right: uses of each form of which too few were
    /// seen, and uses of no form.
    fn follow_up(&self, spec: &'static Spec, stream: Stream) -> Vec<Wanted> {
        let guesses = &self.guesses[spec.name];
        let mut wanted = Vec::new();
        let mut rest = self.base.clone();
        for (at, guess) in guesses.iter().enumerate() {
            for (number, atom) in learn::atoms(&guess.form).into_iter().enumerate() {
                let stream = stream.child("within").at(at as u64).at(number as u64);
                let missing = self.missing(spec.name, &atom, &guesses[..at]) as u64;
                let one = |i| Wanted::new(spec, &rest, stream.at(i)).of_form(atom.clone());
                wanted.extend((0..missing).map(one));
            }
            rest.refused.insert(spec.name, guess.form.clone());
        }
        wanted.extend((0..OUTSIDE).map(|i| Wanted::new(spec, &rest, stream.child("outside").at(i))));
        wanted
    }

    /// How many graphs an audit draws: fewer where there are few operators to be met.
    fn graphs(&self, usual: u64) -> u64 {
        let operators = self.base.available().len() as u64;
        (usual * operators / ops::registry().count() as u64).clamp(LEAST_GRAPHS.min(usual), usual)
    }

    /// Draws graphs without the refused forms. If the engine refuses a graph all the same, its operators are
    /// tried alone.
    fn audit(&mut self, number: u64, graphs: u64) -> Result<Audited, ProbeError> {
        let maker = uses::maker(self.narrowed());
        let cases: Vec<u64> = (number * graphs..(number + 1) * graphs).collect();
        let together = self.runner.together(&maker, &cases)?;
        let refused = together.iter().filter(|t| t.said.is_some()).count() as u64;
        let open = self.take(together.into_iter().flat_map(|t| t.tried).collect());
        let is_news = !open.is_empty();
        self.refine(open, &format!("audit {number}"))?;
        Ok(Audited { refused, is_news })
    }

    /// The settings without what is refused so far.
    fn narrowed(&self) -> Settings {
        let mut refused = Refused::new();
        self.lacking().into_iter().for_each(|lacking| refused.insert(lacking.operator, lacking.form));
        uses::without(&self.base, &refused)
    }

    /// The forms of which enough uses were refused, and no use was taken.
    fn lacking(&self) -> Vec<Lacking> {
        let mut all = Vec::new();
        for (operator, guesses) in &self.guesses {
            let confirmed = guesses.iter().enumerate().filter_map(|(at, guess)| {
                Some((self.confirmed(operator, &guess.form, &guesses[..at])?, &guess.said))
            });
            let mut forms: Vec<(UseForm, &String)> = Vec::new();
            for (form, said) in confirmed {
                let merged =
                    forms.iter().enumerate().find_map(|(i, (other, _))| Some((i, other.merged(&form)?)));
                match merged {
                    Some((i, both)) => forms[i].0 = both,
                    None => forms.push((form, said)),
                }
            }
            all.extend(forms.into_iter().map(|(form, said)| {
                let tried = self.seen(operator, &form, &[], 0) as u64;
                Lacking { operator, form, tried, said: said.clone() }
            }));
        }
        all
    }

    /// The form without those words of which too few uses were seen; `None` if nothing is left.
    fn confirmed(&self, operator: &'static str, form: &UseForm, before: &[Guess]) -> Option<UseForm> {
        let mut confirmed = learn::atoms(form);
        confirmed.retain(|atom| self.missing(operator, atom, before) == 0);
        let (first, rest) = confirmed.split_first()?;
        Some(rest.iter().fold(first.clone(), |all, atom| all.merged(atom).unwrap_or(all)))
    }
}

/// Asks about a model of one Relu first, if there is an opset for it. An engine that has answered once is not silent,
/// even if it crashes on every use of the few operators that are wanted: to find that is the campaign's work.
fn greet(runner: &Runner<'_>, newest: u32) -> Result<(), ProbeError> {
    let opset = newest.min(*ir::graph::OPSETS.end());
    if ir::graph::OPSETS.contains(&opset) {
        runner.runs_it(&uses::trivial(opset))?;
    }
    Ok(())
}

/// The newest opset of which the target runs a model of one Relu; `None` if there is none.
fn newest(runner: &Runner<'_>) -> Result<Option<u32>, ProbeError> {
    for opset in ir::graph::OPSETS.rev() {
        if runner.runs_it(&uses::trivial(opset))? {
            return Ok(Some(opset));
        }
    }
    Ok(None)
}

/// Whether at least one model with a function is not answered with "unsupported".
fn has_functions(runner: &Runner<'_>, settings: &Settings) -> Result<bool, ProbeError> {
    let maker = uses::maker(Settings { nodes: 3, function: 1.0, ..settings.clone() });
    let mut are_lacking = false;
    for case in (0..FUNCTIONS).filter_map(|index| maker.make(index).ok()) {
        if case.model.functions.is_empty() {
            continue;
        }
        if runner.lacks(&case)?.is_none() {
            return Ok(true);
        }
        are_lacking = true;
    }
    Ok(!are_lacking)
}
