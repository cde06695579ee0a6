//! What a relation is: a rewrite of a model, and what it promises about the outputs.

use ir::{DType, Stream, Tensor};
use onnx::proto::ModelProto;
use ops::{Graph, Model};

/// A model with its inputs.
#[derive(Clone, Debug)]
pub struct Subject {
    /// The model.
    pub model: Model,
    /// A tensor for each of its variables, in their order.
    pub inputs: Vec<Tensor>,
}

impl Subject {
    /// This subject with another main graph.
    pub(super) fn with(&self, graph: Graph) -> Self {
        Self { model: Model { graph, ..self.model.clone() }, inputs: self.inputs.clone() }
    }

    /// Whether all these operators take a dtype as their first operand in the model's opset.
    pub(super) fn has_for(&self, dtype: DType, operators: &[&str]) -> bool {
        let types = |name: &&str| ops::find(name).map(|spec| spec.input_types(0, self.model.opset));
        operators.iter().all(|name| types(name).is_some_and(|types| types.contains(dtype)))
    }
}

/// What a rewrite promises.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Holds {
    /// An engine that evaluates both models operator by operator gives the same outputs, bit for bit.
    Exactly,
    /// The outputs are the same in real numbers, and each model's lie within the bounds of its own reference.
    WithinBounds,
}

/// What is rewritten. `None` is for a model on which there is nothing to rewrite.
#[derive(Clone, Copy, Debug)]
pub enum Rewrite {
    /// The graph. Outputs keep their names and types; there may be more of them.
    Graph(fn(&Subject, Stream) -> Option<Subject>),
    /// How the model is spelled in ONNX. It stays the same graph.
    Spelling(fn(&mut ModelProto, Stream) -> Option<()>),
}

/// A rewrite under which the outputs of a model stay what they are.
#[derive(Clone, Copy, Debug)]
pub struct Relation {
    /// Its name on the command line and in reports.
    pub name: &'static str,
    /// What it does to a model, in a line.
    pub does: &'static str,
    /// What it promises.
    pub holds: Holds,
    /// Why that is so.
    pub because: &'static str,
    /// How it is done.
    pub rewrite: Rewrite,
}

/// A rewritten model with its inputs.
#[derive(Clone, Debug)]
pub struct Rewritten {
    /// The model and its inputs.
    pub subject: Subject,
    /// The model as ONNX bytes.
    pub onnx: Vec<u8>,
}

impl Relation {
    /// The model rewritten; `None` where the relation does not apply to it. The same stream gives the same result.
    ///
    /// Fails where the result is not a valid model, which is a defect of the relation.
    pub fn apply(&self, subject: &Subject, stream: Stream) -> Result<Option<Rewritten>, onnx::Error> {
        let named = |e: onnx::Error| e.inside(format!("relation `{}`", self.name));
        let (subject, spell) = match self.rewrite {
            Rewrite::Graph(rewrite) => match rewrite(subject, stream) {
                Some(rewritten) => (rewritten, None),
                None => return Ok(None),
            },
            Rewrite::Spelling(spell) => (subject.clone(), Some(spell)),
        };
        let mut proto = onnx::export::export(&subject.model).map_err(named)?;
        if let Some(spell) = spell
            && spell(&mut proto, stream).is_none()
        {
            return Ok(None);
        }
        Ok(Some(Rewritten { subject, onnx: onnx::export::encode(&proto) }))
    }
}
