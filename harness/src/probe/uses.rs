//! Draws uses of operators, alone or many in a model, and asks an engine about them.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use graphgen::support::{Fact, Subject, Test, Use, UseForm};
use graphgen::{DRAWN, Refused, Settings, Weights};
use interp::{Profile, Taps};
use ir::{DType, DTypes, Interface, NodeKind, Stream, Tensor, Type};
use ops::{Model, Spec};
use oracles::{differential, message};
use worker::{Fault, Outcome, Run, WorkerError};

use super::learn::UseTrial;
use super::{ProbeError, Watch};
use crate::case::{self, Case, Maker, Values};
use crate::isolate::isolate;
use crate::target::Target;
use crate::threads;

/// How many draws are made to get a use of a certain form.
const DRAWS: u64 = 96;

/// An engine that has answered none of its first models, of which there were so many, is taken to answer nothing: each
/// further model would cost a new process.
const SILENT: u64 = 20;

/// An engine that has answered no model, and has hung on so many, is taken to answer nothing as well: each hang costs
/// the time of a case besides.
const HUNG: u64 = 5;

/// Runs what is drawn.
pub(super) struct Runner<'t> {
    pub(super) target: &'t Target,
    pub(super) jobs: usize,
    /// How many models were run so far.
    runs: AtomicU64,
    /// Whether the engine has answered a model yet; until then, what it did with the first one.
    silent: Mutex<Silent>,
    watch: Watch<'t>,
}

/// Whether an engine has answered anything yet.
#[derive(Default)]
enum Silent {
    /// The engine was asked nothing yet.
    #[default]
    Unasked,
    /// The engine has answered none of the `asked` models that it got, and it hung on `hung` of them. `fault` and
    /// `stderr` are what came of the first.
    So { asked: u64, hung: u64, fault: Fault, stderr: String },
    /// The engine has answered.
    Answered,
}

impl Silent {
    /// The state after one more model.
    fn after(self, ran: &Run) -> Self {
        let Outcome::Fault(fault) = &ran.outcome else { return Self::Answered };
        let hangs = u64::from(ran.has_hung());
        match self {
            Self::Unasked => {
                Self::So { asked: 1, hung: hangs, fault: fault.clone(), stderr: ran.stderr.clone() }
            }
            Self::So { asked, hung, fault, stderr } => {
                Self::So { asked: asked + 1, hung: hung + hangs, fault, stderr }
            }
            Self::Answered => Self::Answered,
        }
    }

    /// The error, if the engine has shown that it answers nothing.
    fn error(&self, engine: &str) -> Option<WorkerError> {
        match self {
            Self::So { asked, hung, fault, stderr } if *asked >= SILENT || *hung >= HUNG => {
                let (engine, fault) = (engine.to_owned(), Box::new(fault.clone()));
                Some(WorkerError::Silent { engine, asked: *asked, fault, stderr: stderr.clone() })
            }
            Self::Unasked | Self::So { .. } | Self::Answered => None,
        }
    }
}

/// A use that is wanted.
pub(super) struct Wanted {
    pub(super) spec: &'static Spec,
    /// What may be drawn.
    pub(super) settings: Settings,
    /// The form that it must have.
    pub(super) form: UseForm,
    /// The stream from which everything random about it comes.
    pub(super) stream: Stream,
}

impl Wanted {
    /// A use of an operator alone in a model, within settings.
    pub(super) fn new(spec: &'static Spec, settings: &Settings, stream: Stream) -> Self {
        let settings =
            Settings { nodes: 1, operators: [spec.name].into(), function: 0.0, ..settings.clone() };
        Self { spec, settings, form: UseForm::default(), stream }
    }

    /// This use, with operands of these dtypes.
    pub(super) fn on(self, dtypes: &[(usize, DType)]) -> Self {
        let fact = |&(operand, dtype): &(usize, DType)| words(Subject::DType(operand), DTypes::of(&[dtype]));
        self.of_form(dtypes.iter().map(fact).collect())
    }

    /// This use, of a form.
    pub(super) fn of_form(mut self, form: UseForm) -> Self {
        // Whatever draws know of themselves need not be drawn in vain.
        for fact in form.facts() {
            if let (Subject::DType(operand), Test::OneOf(wanted)) = (&fact.subject, &fact.test) {
                let others = DRAWN.iter().filter(|d| !wanted.contains(d.name())).collect();
                let other = words(Subject::DType(*operand), others);
                self.settings.refused.insert(self.spec.name, [other].into_iter().collect());
            }
        }
        self.form = form;
        self
    }

    /// The case of such a use and the use itself, if one is drawn.
    fn draw(&self) -> Option<(Case, Use)> {
        (0..DRAWS).find_map(|draw| {
            let stream = self.stream.at(draw);
            let mut settings = self.settings.clone();
            settings.opset = self.opset(stream)?;
            let generated = graphgen::generate(&settings, &Weights, stream.child("structure"));
            let (_, use_) = case::uses(&generated.model, &BTreeSet::new(), |_| true).pop()?;
            if self.form.holds(&use_) != Some(true) {
                return None;
            }
            let filled = filled(generated.model, &generated.constants, stream)?;
            Some((filled, use_))
        })
    }

    /// An opset that the form allows.
    fn opset(&self, stream: Stream) -> Option<u32> {
        use rand::seq::IndexedRandom;
        let about_opset: Vec<&Fact> = self.form.facts().filter(|f| f.subject == Subject::Opset).collect();
        let first = self.spec.since().max(*ir::graph::OPSETS.start());
        let reads = |opset: u32| graphgen::support::Reading::Number(i64::from(opset));
        let allowed: Vec<u32> = (first..=self.settings.opset)
            .filter(|&opset| about_opset.iter().all(|fact| fact.test.accepts(&reads(opset))))
            .collect();
        allowed.choose(&mut stream.child("opset").rng()).copied()
    }
}

fn words(subject: Subject, dtypes: DTypes) -> Fact {
    Fact { subject, test: Test::OneOf(dtypes.iter().map(|d| d.name().to_owned()).collect()) }
}

/// A case with values on which everything is defined, if some are found.
fn filled(model: Model, constants: &[ir::NodeId], stream: Stream) -> Option<Case> {
    let case = Maker::fill(Case::bare(model), constants, Values::Unjudged, stream.child("values")).ok()?;
    let onnx = case::export(&case.model).ok()?;
    case.all_defined.then_some(Case { onnx, ..case })
}

impl<'t> Runner<'t> {
    pub(super) fn new(target: &'t Target, jobs: usize, watch: Watch<'t>) -> Self {
        Self { target, jobs, runs: AtomicU64::new(0), silent: Mutex::default(), watch }
    }

    /// How many models were run so far.
    pub(super) fn runs(&self) -> u64 {
        self.runs.load(Ordering::Relaxed)
    }

    /// Runs a case. An error where the engine has shown that it answers nothing, or the probe is stopped.
    fn run(&self, case: &Case) -> Result<Outcome, ProbeError> {
        self.goes_on()?;
        self.runs.fetch_add(1, Ordering::Relaxed);
        (self.watch.on_run)();
        let ran = self.target.run(&case.onnx, &case.inputs, &Interface::of(&case.model))?;
        {
            let mut silent = self.silent.lock().unwrap_or_else(PoisonError::into_inner);
            *silent = std::mem::take(&mut *silent).after(&ran);
        }
        self.goes_on().map(|()| ran.outcome)
    }

    /// An error where the engine has shown that it answers nothing, or the probe is stopped.
    fn goes_on(&self) -> Result<(), ProbeError> {
        if (self.watch.stop)() {
            return Err(ProbeError::Stopped { engine: self.target.engine.clone() });
        }
        let silent = self.silent.lock().unwrap_or_else(PoisonError::into_inner);
        silent.error(&self.target.engine).map_or(Ok(()), |error| Err(error.into()))
    }

    /// The engine's statement that it lacks something in a case, if it makes one, without what varies between cases.
    pub(super) fn lacks(&self, case: &Case) -> Result<Option<String>, ProbeError> {
        Ok(differential::lacks(&self.run(case)?).map(message::normalise))
    }

    /// Whether the engine can hold all values of a case. An engine that computes in narrower integers says
    /// that it lacks larger values, which teaches nothing about the operator.
    pub(super) fn takes_values_of(&self, case: &Case) -> bool {
        let constants = case.model.graph.nodes.iter().filter_map(|node| match &node.kind {
            NodeKind::Constant(tensor) => Some(&**tensor),
            _ => None,
        });
        let fits = |tensor: &Tensor| {
            tensor.dtype() != DType::I64 || tensor.to_i128s().iter().all(|&v| i32::try_from(v).is_ok())
        };
        !self.target.shortens_integers() || case.inputs.iter().map(|(_, t)| t).chain(constants).all(fits)
    }

    /// Whether the engine gives outputs.
    pub(super) fn runs_it(&self, case: &Case) -> Result<bool, ProbeError> {
        Ok(matches!(self.run(case)?, Outcome::Outputs(_)))
    }

    /// Tries each of the uses that are wanted and can be drawn, in their order.
    pub(super) fn alone(&self, wanted: &[Wanted]) -> Result<Vec<(&'static Spec, UseTrial)>, ProbeError> {
        let tried = self.each(wanted, |wanted| {
            let drawn = wanted.draw().filter(|(case, _)| self.takes_values_of(case));
            let Some((case, use_)) = drawn else { return Ok(None) };
            Ok(Some((wanted.spec, UseTrial { use_, said: self.lacks(&case)? })))
        })?;
        Ok(tried.into_iter().flatten().collect())
    }

    /// Makes and runs cases of many operators. If the engine refuses a case, each of its operators is tried alone.
    pub(super) fn together(&self, maker: &Maker<'_>, cases: &[u64]) -> Result<Vec<Together>, ProbeError> {
        self.each(cases, |&index| {
            let made = maker.make(index).ok().filter(|case| self.takes_values_of(case));
            let Some(case) = made else { return Ok(Together::default()) };
            let Some(said) = self.lacks(&case)? else {
                return Ok(Together { said: None, tried: all(&case, None) });
            };
            Ok(Together { said: Some(said), tried: self.isolated(&case)? })
        })
    }

    /// The operators of a case alone, with the values that they have in it.
    fn isolated(&self, whole: &Case) -> Result<Vec<(&'static Spec, UseTrial)>, ProbeError> {
        let inputs = case::tensors(&whole.inputs);
        let Ok(evaluation) = interp::evaluate(&whole.model, &inputs, &Profile::DECLARED, Taps::All) else {
            return Ok(Vec::new());
        };
        let mut tried = Vec::new();
        for (id, node) in whole.model.graph.iter() {
            let NodeKind::Operator(_) = node.kind else { continue };
            let Some((model, inputs)) = isolate(&whole.model, id, &evaluation) else { continue };
            let Ok(onnx) = case::export(&model) else { continue };
            let alone = Case { inputs: case::named(&model, inputs), onnx, ..Case::bare(model) };
            if !self.takes_values_of(&alone) {
                continue;
            }
            let said = self.lacks(&alone)?;
            tried.extend(all(&alone, said.as_ref()));
        }
        Ok(tried)
    }

    /// Does something with each, on as many threads as there are jobs. The results are in the order of the items.
    pub(super) fn each<T: Sync, R: Send>(
        &self,
        items: &[T],
        work: impl Fn(&T) -> Result<R, ProbeError> + Sync,
    ) -> Result<Vec<R>, ProbeError> {
        // If nothing is answered any more, what is left would take as long as all the rest.
        threads::each(self.jobs, items, |item| self.goes_on().and_then(|()| work(item))).into_iter().collect()
    }
}

/// All uses of a case, of which the engine said the same.
fn all(case: &Case, said: Option<&String>) -> Vec<(&'static Spec, UseTrial)> {
    let tried = |(spec, use_)| (spec, UseTrial { use_, said: said.cloned() });
    case::uses(&case.model, &case.unseen, |_| true).into_iter().map(tried).collect()
}

/// A model of one Relu.
pub(super) fn trivial(opset: u32) -> Case {
    let text = format!(
        "onnxsmith 1 opset {opset}\ngraph {{\n  %0: f32[1] = variable \"x\"\n  %1: f32[1] = Relu(%0)\n  return \"y\" = \
         %1\n}}\n"
    );
    let model: Model = text.parse().expect("a constant text, but for an opset that all engines know");
    let x = Tensor::from_f64_fn(&Type::new(DType::F32, [1]), |_| 1.0);
    let inputs = case::named(&model, vec![x]);
    Case { inputs, onnx: case::export(&model).unwrap_or_default(), ..Case::bare(model) }
}

/// What came of a model of many operators.
#[derive(Default)]
pub(super) struct Together {
    /// What the engine said that it lacks.
    pub(super) said: Option<String>,
    /// The operators; if the engine refused the model, with its answer to each alone.
    pub(super) tried: Vec<(&'static Spec, UseTrial)>,
}

/// The maker of cases of many operators, within settings.
pub(super) fn maker(settings: Settings) -> Maker<'static> {
    Maker { swarm: false, values: Values::Unjudged, ..Maker::new(SEED, settings) }
}

/// The seed of everything that a probe draws: what an engine lacks does not depend on the campaign's seed.
pub(super) const SEED: u64 = 0;

/// The stream for everything that a probe draws for one operator.
pub(super) fn stream(spec: &Spec) -> Stream {
    Stream::new(SEED).child("probe").child(spec.name)
}

/// The dtypes that an operand of an operator may have, in some opset within settings.
pub(super) fn dtypes(spec: &Spec, operand: usize, settings: &Settings) -> DTypes {
    let opsets = *ir::graph::OPSETS.start()..=settings.opset;
    let all: BTreeSet<DType> =
        opsets.flat_map(|opset| spec.input_types(operand, opset).iter().collect::<Vec<_>>()).collect();
    all.into_iter().filter(|&d| settings.dtypes.contains(d)).collect()
}

/// Settings with more forms refused.
pub(super) fn without(settings: &Settings, refused: &Refused) -> Settings {
    let mut settings = settings.clone();
    settings.refused.extend(refused);
    settings
}
