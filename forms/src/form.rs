//! The forms, as a table, and which of them a model gets.

use std::collections::BTreeMap;

use graphgen::Forms;
use ir::{Choices, Stream, Tensor};
use onnx::program::Program;
use ops::Model;
use rand::RngExt;

use crate::composite::Placed;
use crate::draft::Draft;
use crate::{
    branch, coincidence, computed, constants, former, function, repeat, said, scan, sizes, spelled, stored,
};

/// A form of programs.
#[derive(Clone, Copy)]
pub struct Form {
    /// Its name, in settings and reports.
    pub name: &'static str,
    /// What it is, in words.
    pub about: &'static str,
    /// The share of models with forms that are meant to have this one. Not every model has a place for it.
    pub share: f64,
    /// Brings it in; `None` where the program has no place for it.
    pub write: Rewriting,
}

/// A rewriting: it brings a form into a draft, which computes the same afterwards.
pub type Rewriting = fn(Draft, &mut Choices) -> Option<Draft>;

/// The form that needs an engine in which the value of an input takes the place of its default.
pub const OVERRIDDEN_DEFAULT: &str = "overridden default";

/// The form that needs an engine that has functions.
pub const FUNCTION: &str = function::NAME;

/// The forms that put nodes into a body, by the operator that holds it. An engine may lack that operator.
pub const WITH_BODIES: [&str; 3] = ["If", "Loop", "Scan"];

/// All forms, in the order in which they are written: computed parameters before constants change their places, bodies
/// inside each other, and then the declared types, because they depend on all else. How tensors are stored, and names,
/// depend on nothing.
pub const FORMS: [Form; 19] = [
    Form {
        name: "spelled parameter",
        about: "a parameter in other words: -1 and 0 in Reshape, 1 in Expand, INT64_MAX as an end, an axis from the other end, parts of a Split by count",
        share: 0.3,
        write: spelled::write,
    },
    Form {
        name: "computed parameter",
        about: "a parameter that a chain computes from shapes: Shape, Gather, Slice, Concat, arithmetic, Cast",
        share: 0.6,
        write: computed::write,
    },
    Form {
        name: "made constant",
        about: "an initializer that an operator makes of others",
        share: 0.15,
        write: coincidence::made,
    },
    Form {
        name: "shared constant",
        about: "one initializer in the places of several that are equal",
        share: 0.4,
        write: coincidence::shared,
    },
    Form {
        name: "node twice",
        about: "a node twice, and uses of either; an output of the model may be one of them",
        share: 0.2,
        write: coincidence::twice,
    },
    Form {
        name: "If",
        about: "some nodes are one side of a branch, whose condition is a constant, an input or computed from shapes",
        share: 0.15,
        write: branch::write,
    },
    Form {
        name: "Loop",
        about: "some nodes are the body of a loop, of what goes around and what piles up",
        share: 0.12,
        write: repeat::write,
    },
    Form {
        name: "Scan",
        about: "some nodes are the body of a loop over slices",
        share: 0.1,
        write: scan::write,
    },
    Form {
        name: function::NAME,
        about: "some nodes are the body of a function, with attributes of its own; nodes that are alike are calls of one",
        share: 0.12,
        write: function::write,
    },
    Form {
        name: "Constant node",
        about: "an initializer as a Constant node, in each of its attributes for numbers",
        share: 0.25,
        write: constants::nodes,
    },
    Form {
        name: "constant input",
        about: "an initializer as an input",
        share: 0.1,
        write: constants::inputs,
    },
    Form {
        name: "default",
        about: "an initializer that is the default of an input as well",
        share: 0.1,
        write: constants::defaults,
    },
    Form {
        name: OVERRIDDEN_DEFAULT,
        about: "an initializer as an input that has another default",
        share: 0.1,
        write: constants::overridden,
    },
    Form {
        name: "sizes",
        about: "sizes of inputs that are names, one for equal sizes of several inputs, or not said",
        share: 0.45,
        write: sizes::write,
    },
    Form {
        name: "value_info",
        about: "the types of some values inside are not said, or of none",
        share: 0.25,
        write: said::write,
    },
    Form {
        name: former::NAME,
        about: "a model of opset 7 to 12: axes and splits are attributes, and what came later is not there",
        share: 0.8,
        write: former::write,
    },
    Form {
        name: "tensor fields",
        about: "the elements of a tensor are in the field of their type, such as int32_data, not bytes",
        share: 0.12,
        write: stored::in_fields,
    },
    Form {
        name: "sparse initializer",
        about: "an initializer in sparse form: the elements that are not 0, and their places",
        share: 0.06,
        write: stored::sparse,
    },
    Form {
        name: "names",
        about: "values and nodes have the names that an exporter gives, with slashes, dots and colons, or numbers alone",
        share: 0.12,
        write: stored::named,
    },
];

/// The share of models with forms that each form is meant for, by its name.
pub fn usual() -> BTreeMap<&'static str, f64> {
    FORMS.iter().map(|form| (form.name, form.share)).collect()
}

/// A model that was written as a program.
#[derive(Clone, PartialEq, Debug)]
pub struct WrittenProgram {
    /// The program.
    pub program: Program,
    /// The values of its inputs, by name. Those of the model are among them.
    pub inputs: Vec<(String, Tensor)>,
    /// The forms that it has, by name.
    pub forms: Vec<&'static str>,
}

/// The form of a program with a composite operator, one that import writes out in others.
pub const COMPOSITE: &str = "composite";

/// Whether a model gets forms.
fn is_formed(forms: &Forms, stream: Stream) -> bool {
    !forms.each.is_empty() && stream.rng().random_bool(forms.share.clamp(0.0, 1.0))
}

/// The choices of a form, if a model that gets forms is meant to have it.
fn choices(form: &str, forms: &Forms, stream: Stream) -> Option<Choices> {
    let mut choices = stream.child(form).rng();
    let share = forms.each.get(form).copied().unwrap_or(0.0).clamp(0.0, 1.0);
    choices.random_bool(share).then_some(choices)
}

/// Whether a model that is written with a stream is meant to have a form.
pub(crate) fn is_meant(form: &str, forms: &Forms, stream: Stream) -> bool {
    is_formed(forms, stream) && choices(form, forms, stream).is_some()
}

/// Writes a valid model as a program, in drawn forms, with each written-out operator as the node that it is.
/// `inputs` are the values of the model's inputs, by name. `None` if the model gets no form and has no such
/// operator. Each form draws from a stream of its own.
pub fn write(
    model: &Model,
    inputs: &[(String, Tensor)],
    placed: &[Placed],
    forms: &Forms,
    stream: Stream,
) -> Option<WrittenProgram> {
    let is_formed = is_formed(forms, stream);
    if !is_formed && placed.is_empty() {
        return None;
    }
    let mut draft = Draft::of(model, inputs)?;
    let mut written = Vec::new();
    if !placed.is_empty() {
        draft = draft.folded(placed, model)?;
        written.push(COMPOSITE);
    }
    for form in FORMS.iter().filter(|_| is_formed) {
        let Some(mut choices) = choices(form.name, forms, stream) else { continue };
        if let Some(with) = (form.write)(draft.clone(), &mut choices) {
            draft = with;
            written.push(form.name);
        }
    }
    let Draft { program, inputs, .. } = draft;
    (!written.is_empty()).then_some(WrittenProgram { program, inputs, forms: written })
}
