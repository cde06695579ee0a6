//! Makes cases: models are drawn, get values, and are written as programs in drawn forms.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;

use graphgen::{Forms, Policy, Settings, Turns, Weights};
use ir::{DType, DTypes, Datum, Node, NodeId, NodeKind, Stream};
use ops::operator::Edge;
use ops::{Footprint, Model, Op, Operator};
use rand::RngExt;
use rand::seq::IndexedRandom;
use serde::{Deserialize, Serialize};
use values::{Budget, Searched};

use super::{Case, CaseError, dtypes, export, named, operators, trace};
use crate::reference;

/// Which values cases have.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Values {
    /// No values: constants are zeros, and there are no inputs.
    None,
    /// Values on which everything is defined. A profile may leave any share of the results open: nobody judges them.
    Unjudged,
    /// Values on which everything is defined and most results can be judged.
    Plain,
    /// Adversarial values in half of the cases, and in most of those that round to fewer digits.
    #[default]
    Mixed,
    /// Adversarial values in every case, moved to edges of some operators if possible.
    Adversarial,
}

/// The share of adversarial cases among mixed ones: of most cases, and of cases with a value of
/// [`DTypes::NARROW`] or a cast to a narrower float. Casts and quantisation go wrong at ties and at the largest
/// and smallest numbers.
const ADVERSARIAL: [f64; 2] = [0.5, 0.75];

/// Whether a model has a value of a narrow dtype, or an operator that rounds floats to fewer digits.
fn rounds(model: &Model) -> bool {
    let is_between = |(_, edge): (usize, Edge)| matches!(edge, Edge::Between(_));
    let rounds = |node: &Node<Op>| match &node.kind {
        NodeKind::Operator(op) => {
            op.facts(&model.graph.types(&node.inputs)).edges.into_iter().any(is_between)
        }
        _ => false,
    };
    let is_narrow = !dtypes(model, &BTreeSet::new()).intersection(DTypes::NARROW).is_empty();
    is_narrow || model.graph.iter().any(|(_, node)| rounds(node))
}

impl Values {
    /// Whether a case of a model is to be adversarial.
    fn is_adversarial(self, model: &Model, stream: Stream) -> bool {
        match self {
            Self::None | Self::Unjudged | Self::Plain => false,
            Self::Mixed => {
                stream.child("adversarial").rng().random_bool(ADVERSARIAL[usize::from(rounds(model))])
            }
            Self::Adversarial => true,
        }
    }
}

/// How many models are drawn at most to get one with values on which everything is defined. One in thousands has none
/// although operands become inputs: a function may be undefined whatever its operands are.
const DRAWS: u64 = 4;

/// If at least this share of the elements is open, another model is drawn.
const MUCH: f64 = 0.1;

/// The most operations of a model whose values are moved to edges: each is recorded, in some 24 bytes.
const TRACED: u64 = 1 << 24;

/// How many models are drawn at most to get one that has a node and keeps to the budget, with the inputs that value
/// search adds.
const MOST_DRAWS: u64 = 24;

/// The stream that a case's forms are drawn with.
const FORMS: &str = "forms";

/// Makes cases: every case is a function of the seed, the settings and its index.
pub struct Maker<'p> {
    /// The seed of the campaign.
    pub seed: u64,
    /// What may occur.
    pub settings: Settings,
    /// The opset of every case; `None` draws one for each, up to the settings', among those that have an operator in use.
    pub opset: Option<u32>,
    /// The number of nodes, drawn for each case; `None` takes the settings'.
    pub nodes: Option<RangeInclusive<usize>>,
    /// How to generate.
    pub policy: &'p (dyn Policy + Sync),
    /// Whether settings are varied from case to case.
    pub swarm: bool,
    /// Which values cases have.
    pub values: Values,
}

impl Maker<'_> {
    /// A maker of swarms of models with all kinds of values, by the built-in policy.
    pub fn new(seed: u64, settings: Settings) -> Self {
        let values = Values::default();
        Self { seed, settings, opset: None, nodes: None, policy: &Weights, swarm: true, values }
    }

    /// The case of that number, within the maker's settings.
    pub fn make(&self, index: u64) -> Result<Case, CaseError> {
        self.make_within(index, &self.settings)
    }

    /// The case of that number, within other settings.
    pub fn make_within(&self, index: u64, settings: &Settings) -> Result<Case, CaseError> {
        self.make_from(index, settings, self.stream(index))
    }

    /// The stream from which everything random about the case of that number comes.
    pub fn stream(&self, index: u64) -> Stream {
        Stream::new(self.seed).child("case").at(index)
    }

    /// The valid case that a stream gives.
    pub fn make_from(&self, index: u64, settings: &Settings, stream: Stream) -> Result<Case, CaseError> {
        let case = self.flat(index, settings, stream)?;
        // What has no values yet leads nowhere.
        let is_bare = self.values == Values::None;
        let case = if is_bare { case } else { written(case, settings, stream.child(FORMS))? };
        // A program has its bytes already.
        if case.program.is_some() {
            return Ok(case);
        }
        Ok(Case { onnx: encode(&case.model, index)?, ..case })
    }

    /// The valid case that a stream gives, before it is written as a program.
    fn flat(&self, index: u64, asked: &Settings, stream: Stream) -> Result<Case, CaseError> {
        // The first model with values on which everything is defined; if there is none, the first model.
        let mut spare: Option<Case> = None;
        let (mut rejected, mut refused, mut passed_over) = (0, 0, 0);
        let draws = if asked.is_barren() { 0 } else { MOST_DRAWS };
        for draw in 0..draws {
            let settings = self.settings_of(index, asked, stream, draw);
            let stream = stream.at(draw);
            let case = self.draw(index, &settings, stream)?;
            rejected += case.rejected;
            refused += case.refused;
            let is_empty = operators(&case.model).next().is_none();
            let fits = !is_empty && !asked.budget.is_exceeded_by(&case.footprint);
            if fits && case.all_defined && case.open <= MUCH {
                return Ok(Case { rejected, passed_over, refused, ..case });
            }
            passed_over += u64::from(fits && case.all_defined);
            if fits && spare.as_ref().is_none_or(|spare| case.all_defined && !spare.all_defined) {
                spare = Some(case);
            }
            if draw + 1 >= DRAWS && spare.is_some() {
                break;
            }
        }
        let (is_withheld, is_budgeted) = (!asked.refused.is_empty(), asked.budget.is_bounded());
        let nothing = CaseError::Nothing { index, draws, is_withheld, is_budgeted };
        let case = spare.ok_or(nothing)?;
        let passed_over = passed_over - u64::from(case.all_defined);
        Ok(Case { rejected, passed_over, refused, ..case })
    }

    /// The settings of one draw of a case. In the first draws they vary from case to case. If these give nothing, the
    /// settings are taken as they are, with less room, so that there is some left for the inputs that value search
    /// adds.
    fn settings_of(&self, index: u64, asked: &Settings, stream: Stream, draw: u64) -> Settings {
        let is_varied = self.swarm && draw < DRAWS;
        let mut settings = if is_varied { asked.clone().swarm(stream) } else { asked.clone() };
        let number = self.first_turn().saturating_add(index);
        let due = Turns::of(asked, self.policy, settings.opset, number);
        // No opset before 13 has narrow dtypes, so a graph whose turn it is to have some is of today.
        if is_varied
            && self.opset.is_none()
            && !due.may_be_narrow()
            && let Some(former) = forms::former::draw(&settings, stream.child("former"), stream.child(FORMS))
        {
            let due = due.within(&former, former.opset, self.policy);
            return self.sized(former.with_turns(due), stream, draw);
        }
        let mut opsets = settings.opsets();
        if opsets.is_empty() {
            // Perhaps only operators that import writes out are asked for.
            opsets = forms::composite::opsets(&settings).collect();
        }
        if self.opset.is_none() {
            // One that has the uses whose turn it is: what only the newest have would hardly ever take its turn.
            let with_due: Vec<u32> = opsets.iter().copied().filter(|&opset| opset >= due.since()).collect();
            let among = if with_due.is_empty() { &opsets } else { &with_due };
            settings.opset =
                among.choose(&mut stream.child("opset").rng()).copied().unwrap_or(settings.opset);
        }
        let due = due.within(asked, settings.opset, self.policy);
        self.sized(settings.with_turns(due), stream, draw)
    }

    /// The settings with as many nodes as are asked for, within the budget that is left.
    fn sized(&self, mut settings: Settings, stream: Stream, draw: u64) -> Settings {
        if let Some(nodes) = &self.nodes {
            settings.nodes = stream.child("nodes").rng().random_range(nodes.clone());
        }
        settings.budget = settings.budget.shrunk(draw as f64 / MOST_DRAWS as f64);
        settings
    }

    /// The use with which this campaign begins, of those that take turns: each seed begins elsewhere.
    fn first_turn(&self) -> u64 {
        Stream::new(self.seed).child("turns").rng().random_range(0..1 << 20)
    }

    fn draw(&self, index: u64, settings: &Settings, stream: Stream) -> Result<Case, CaseError> {
        let mut generated = graphgen::generate(settings, self.policy, stream.child("structure"));
        let composites = forms::composite::compose(
            &mut generated.model,
            &mut generated.constants,
            settings,
            stream.child("composite"),
        );
        let mut case = Case {
            composites,
            index,
            adversarial: self.values.is_adversarial(&generated.model, stream),
            rejected: generated.rejected,
            refused: generated.refused,
            ..Case::bare(generated.model)
        };
        if self.values != Values::None {
            case = Self::fill(case, &generated.constants, self.values, stream.child("values"))?;
        }
        // A drawn model has few nodes.
        case.footprint = Footprint::of(&case.model).unwrap_or_default();
        Ok(case)
    }

    /// A case with its constants and inputs.
    pub(crate) fn fill(
        case: Case,
        constants: &[NodeId],
        values: Values,
        stream: Stream,
    ) -> Result<Case, CaseError> {
        let index = case.index;
        // A model beyond what the reference takes otherwise was asked for; its values are drawn once.
        let once = Budget { runs: 1, ..Budget::default() };
        let budget = reference::affordable(&case.model).map_or(once, reference::Spent::search);
        let budget = if values == Values::Unjudged { Budget { anew: 0, ..budget } } else { budget };
        let Searched { model, constants, mut found, replaced } =
            values::find_or_replace(case.model, constants, stream, budget)
                .map_err(|cause| CaseError::Values { index, cause })?;
        let mut edges = Vec::new();
        let is_traced = reference::affordable(&model).is_ok_and(|spent| spent.operations <= TRACED);
        if case.adversarial && found.all_defined && is_traced {
            (found, edges) = values::move_to_edges(&model, &constants, &found, stream.child("edge"));
        }
        let inputs = named(&model, found.inputs(&model));
        let (all_defined, open) = (found.all_defined, found.open);
        // Where operands became inputs the nodes of an operator that was written out are others, or elsewhere.
        let composites = if replaced > 0 { Vec::new() } else { case.composites };
        Ok(Case { model: found.fill(model), inputs, all_defined, open, edges, composites, ..case })
    }
}

/// Writes the case as a program, if forms are drawn for it. Its model is then the one that the program leads to. Values
/// that were there stay the same; new ones are those that decide the program's way. The case stays as it is if its
/// program would need operators, dtypes or amounts that are not allowed.
fn written(case: Case, settings: &Settings, stream: Stream) -> Result<Case, CaseError> {
    // Operators that are written out in the model are folded without forms where these would need too much.
    for forms in [&settings.forms, &Forms::default()] {
        if let Some(written) = written_in(&case, settings, forms, stream)? {
            return Ok(written);
        }
        if case.composites.is_empty() {
            break;
        }
    }
    Ok(case)
}

/// Writes the case in some of these forms; `None` if none fits, or the program would need something that is not
/// allowed.
fn written_in(
    case: &Case,
    settings: &Settings,
    forms: &Forms,
    stream: Stream,
) -> Result<Option<Case>, CaseError> {
    let Some(written) = forms::write(&case.model, &case.inputs, &case.composites, forms, stream) else {
        return Ok(None);
    };
    let forms::WrittenProgram { program, inputs, forms } = written;
    let inputs: BTreeMap<String, Datum> = inputs.into_iter().map(|(name, t)| (name, t.into())).collect();
    let index = case.index;
    let read = |cause| CaseError::Form { index, forms: forms.clone(), cause };
    let imported = trace(&program, &inputs).map_err(read)?;
    let unseen = imported.unseen();
    let model = imported.model;
    let values = reference::bind(&model, &inputs).map_err(|why| read(onnx::Error::invalid("inputs", why)))?;
    let footprint = Footprint::of(&model).unwrap_or_default();
    let may_occur =
        |(name, dtype): (&str, DType)| settings.operators.contains(name) && settings.dtypes.contains(dtype);
    let is_asked_for = |used: &(&'static str, DType)| operators(&case.model).any(|there| there == *used);
    if settings.budget.is_exceeded_by(&footprint)
        || operators(&model).any(|used| !is_asked_for(&used) && !may_occur(used))
    {
        return Ok(None);
    }
    Ok(Some(Case {
        onnx: onnx::encode(&program.write()),
        inputs: named(&model, values),
        footprint,
        model,
        unseen,
        program: Some(program),
        forms,
        ..case.clone()
    }))
}

fn encode(model: &Model, index: u64) -> Result<Vec<u8>, CaseError> {
    export(model).map_err(|cause| CaseError::Export { index, cause })
}
