//! Running a model in any number system.
//!
//! One walk over the nodes ([`ir::execute`]) serves values, bounds and gradients: what differs is a [`System`].

use std::cell::{LazyCell, OnceCell};
use std::rc::Rc;
use std::sync::Arc;

use ir::execute::{Each, Keep, Machine, Step, Values, execute};
use ir::{DType, NodeId, Tensor, Type};
use ops::plain::working_dtype;
use ops::{Arith, Call, Data, Model, Op, Operator, Reads, Reject};

/// How a number system takes part in running a model.
pub trait System {
    /// The number system.
    type A: Arith;
    /// The number system for a node that calculates in a dtype.
    fn arith(&self, dtype: DType) -> Self::A;
    /// A tensor's elements.
    fn load(&self, tensor: &Tensor) -> Data<Self::A>;
    /// These elements, of a constant of the model.
    fn constant(&self, data: Data<Self::A>) -> Data<Self::A> {
        data
    }
    /// An operand whose dtype, `from`, is not the one the node calculates in, if that changes it.
    fn narrow(&self, _arith: &Self::A, _data: &Data<Self::A>, _from: DType) -> Option<Data<Self::A>> {
        None
    }
    /// The same of a node that calculates nothing: it casts.
    fn cast(&self, arith: &Self::A, data: &Data<Self::A>, from: DType) -> Option<Data<Self::A>> {
        self.narrow(arith, data, from)
    }
    /// What an operator means.
    fn eval(&self, op: &Op, call: &Call<'_, Self::A>) -> Vec<Data<Self::A>> {
        op.eval(call)
    }
    /// What storing an output does to its elements.
    fn store(&self, arith: &Self::A, data: &mut Data<Self::A>, dtype: DType, is_inner: bool);
    /// Whether every element is one that no conforming implementation may have otherwise.
    fn is_sure(&self, _data: &Data<Self::A>) -> bool {
        true
    }
    /// What is left of elements where implementations may have gone another way, and have other ones, or not as many.
    fn open(&self, _data: &mut Data<Self::A>) {}
}

/// A tensor of some number system that several nodes may share.
pub struct Held<A: Arith> {
    content: Rc<Content<A>>,
    /// Whether a conforming implementation may have a tensor of another shape: because something that it depends on was
    /// read from values that it may have otherwise.
    pub is_open: bool,
}

/// Where elements come from. In a number system they take up to ten times the memory of a tensor, and all weights of a network
/// come before its first operator: so those of a constant are there from its first use to its last.
enum Content<A: Arith> {
    Computed(Data<A>),
    Constant(Arc<Tensor>, OnceCell<Data<A>>),
}

impl<A: Arith> Held<A> {
    fn new(data: Data<A>) -> Self {
        Self { content: Rc::new(Content::Computed(data)), is_open: false }
    }

    fn constant(tensor: &Arc<Tensor>) -> Self {
        let content = Content::Constant(Arc::clone(tensor), OnceCell::new());
        Self { content: Rc::new(content), is_open: false }
    }

    /// Its elements, in the system that it was made in.
    pub fn data(&self, system: &impl System<A = A>) -> &Data<A> {
        match &*self.content {
            Content::Computed(data) => data,
            Content::Constant(tensor, loaded) => loaded.get_or_init(|| system.constant(system.load(tensor))),
        }
    }
}

impl<A: Arith> Clone for Held<A> {
    fn clone(&self) -> Self {
        Self { content: Rc::clone(&self.content), is_open: self.is_open }
    }
}

/// One operator that has just been run.
pub struct Visit<'a, A: Arith> {
    /// The node of the main graph: the operator itself, or the call it is in.
    pub node: NodeId,
    /// The operator.
    pub op: &'a Op,
    /// The types of its operands.
    pub types: &'a [Option<&'a Type>],
    /// Its operands, in the number system.
    pub operands: &'a [Option<&'a Data<A>>],
    /// What it gave.
    pub results: &'a [Data<A>],
}

/// Why a model cannot be evaluated.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the messages say what the fields are")]
pub enum Error {
    #[error("the model is not valid: {0}")]
    Invalid(Box<ir::validate::Invalid<Reject>>),
    #[error("the model has {wanted} inputs but {given} tensors were given")]
    InputCount { given: usize, wanted: usize },
    #[error("input `{name}` is {given} but must be {wanted}")]
    InputType { name: String, given: Type, wanted: Type },
}

impl From<ir::validate::Invalid<Reject>> for Error {
    fn from(cause: ir::validate::Invalid<Reject>) -> Self {
        Self::Invalid(Box::new(cause))
    }
}

/// Checks a model and its inputs: what the walk takes for granted.
pub fn check(model: &Model, inputs: &[Tensor]) -> Result<(), Error> {
    model.validate()?;
    let wanted = model.graph.variables().count();
    if wanted != inputs.len() {
        return Err(Error::InputCount { given: inputs.len(), wanted });
    }
    for ((_, name, ty), tensor) in model.graph.variables().zip(inputs) {
        if tensor.ty() != *ty {
            return Err(Error::InputType { name: name.to_owned(), given: tensor.ty(), wanted: ty.clone() });
        }
    }
    Ok(())
}

/// Runs the main graph of a checked model. `given` holds the elements of variables, and of constants where they replace
/// the model's. `visit` is told of every operator, and ends the run with `false`: then there are no values.
pub fn walk<S: System>(
    system: &S,
    model: &Model,
    keep: Keep<'_>,
    given: &dyn Fn(NodeId) -> Option<Data<S::A>>,
    visit: &mut dyn FnMut(&Visit<'_, S::A>) -> bool,
) -> Option<Values<Held<S::A>>> {
    execute(model, keep, &mut Reader { system, opset: model.opset, given, visit, is_open: false }).ok()
}

/// The run is over: the visitor ended it, or the model was not valid.
struct Over;

/// What reads the operators in a number system.
struct Reader<'a, S: System> {
    system: &'a S,
    opset: u32,
    given: &'a dyn Fn(NodeId) -> Option<Data<S::A>>,
    visit: &'a mut dyn FnMut(&Visit<'_, S::A>) -> bool,
    /// Whether what the next operator was read from may be otherwise.
    is_open: bool,
}

impl<S: System> Machine<Op> for Reader<'_, S> {
    type Value = Held<S::A>;
    type Error = Over;

    fn variable(&mut self, step: &Step<'_, Op>) -> Result<Self::Value, Over> {
        (self.given)(step.id).map(Held::new).ok_or(Over)
    }

    fn constant(&mut self, step: &Step<'_, Op>, tensor: &Arc<Tensor>) -> Result<Self::Value, Over> {
        let replaced = if step.caller.is_none() { (self.given)(step.id) } else { None };
        let replaced = replaced.map(|data| Held::new(self.system.constant(data)));
        Ok(replaced.unwrap_or_else(|| Held::constant(tensor)))
    }

    fn given(&mut self, _: &Step<'_, Op>, values: &[&Self::Value]) {
        self.is_open = values.iter().any(|held| held.is_open || !self.system.is_sure(held.data(self.system)));
    }

    fn operator(
        &mut self,
        step: &Step<'_, Op>,
        op: &Op,
        operands: &[Option<&Self::Value>],
    ) -> Result<Each<Self::Value>, Over> {
        let types = step.types();
        let outputs = &step.node.outputs;
        let dtype = working_dtype(&types, outputs);
        let arith = self.system.arith(dtype);
        let is_open = std::mem::take(&mut self.is_open) || operands.iter().flatten().any(|held| held.is_open);
        let reads = LazyCell::new(|| op.facts(&types).reads);
        let narrowed: Each<Option<Data<S::A>>> = operands
            .iter()
            .zip(&types)
            .map(|(held, ty)| {
                let (held, ty) = (held.as_ref()?, ty.as_ref().filter(|ty| ty.dtype != dtype)?);
                let data = held.data(self.system);
                match *reads {
                    Reads::Elements => self.system.narrow(&arith, data, ty.dtype),
                    Reads::Cast => self.system.cast(&arith, data, ty.dtype),
                    Reads::Own | Reads::Bits | Reads::Types => None,
                }
            })
            .collect();
        let operands = operands.iter().map(|held| held.map(|held| held.data(self.system)));
        let inputs: Each<Option<&Data<S::A>>> =
            operands.zip(&narrowed).map(|(data, narrow)| narrow.as_ref().or(data)).collect();
        let call = Call { arith: &arith, inputs: &inputs, types: &types, outputs, opset: self.opset };
        let mut results = self.system.eval(op, &call);
        for (data, ty) in results.iter_mut().zip(outputs) {
            self.system.store(&arith, data, ty.dtype, step.node.is_inner);
            if is_open {
                self.system.open(data);
            }
        }
        let visit = Visit { node: step.main(), op, types: &types, operands: &inputs, results: &results };
        if !(self.visit)(&visit) {
            return Err(Over);
        }
        Ok(results.into_iter().map(|data| Held { is_open, ..Held::new(data) }).collect())
    }

    fn invalid(&mut self, _: &Step<'_, Op>) -> Over {
        Over
    }
}
