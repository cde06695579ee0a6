//! Running a model in any number system.
//!
//! One walk over the nodes ([`ir::execute`]) serves values, bounds and gradients: what differs is a [`System`]. A run of the
//! same model on other tensors takes from the one before ([`Former`]) what depends on none that is another one.

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
    /// Whether elements are, bit for bit, those of another run.
    fn are_same(&self, _one: &Data<Self::A>, _other: &Data<Self::A>) -> bool {
        false
    }
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
    Of(Source, OnceCell<Data<A>>),
}

/// A tensor, and whether it is a constant of the model.
#[derive(Clone)]
enum Source {
    Given(Arc<Tensor>),
    Constant(Arc<Tensor>),
}

impl Source {
    fn tensor(&self) -> &Arc<Tensor> {
        let (Self::Given(tensor) | Self::Constant(tensor)) = self;
        tensor
    }

    /// Whether this is that tensor in that role, and not only one that may be alike.
    fn is(&self, other: &Self) -> bool {
        let are_alike = std::mem::discriminant(self) == std::mem::discriminant(other);
        are_alike && Arc::ptr_eq(self.tensor(), other.tensor())
    }

    fn load<S: System>(&self, system: &S) -> Data<S::A> {
        let data = system.load(self.tensor());
        match self {
            Self::Given(_) => data,
            Self::Constant(_) => system.constant(data),
        }
    }
}

impl<A: Arith> Held<A> {
    /// These elements.
    pub fn new(data: Data<A>) -> Self {
        Self { content: Rc::new(Content::Computed(data)), is_open: false }
    }

    /// The elements of a tensor, which are loaded where they are read.
    pub fn of(tensor: &Arc<Tensor>) -> Self {
        Self::from(Source::Given(Arc::clone(tensor)))
    }

    /// The elements of a constant of the model.
    fn constant(tensor: &Arc<Tensor>) -> Self {
        Self::from(Source::Constant(Arc::clone(tensor)))
    }

    /// The elements of a tensor that stands for a constant of the model.
    fn into_constant(self) -> Self {
        match &*self.content {
            Content::Of(source, _) => Self::constant(source.tensor()),
            Content::Computed(_) => self,
        }
    }

    fn from(source: Source) -> Self {
        Self { content: Rc::new(Content::Of(source, OnceCell::new())), is_open: false }
    }

    /// Whether this is that tensor, and not only one that may be alike.
    fn is(&self, other: &Self) -> bool {
        let is_that = match (&*self.content, &*other.content) {
            (Content::Of(source, _), Content::Of(other, _)) => source.is(other),
            _ => Rc::ptr_eq(&self.content, &other.content),
        };
        is_that && self.is_open == other.is_open
    }

    /// Its elements, in the system that it was made in.
    pub fn data(&self, system: &impl System<A = A>) -> &Data<A> {
        match &*self.content {
            Content::Computed(data) => data,
            Content::Of(source, loaded) => loaded.get_or_init(|| source.load(system)),
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
    pub results: &'a [&'a Data<A>],
    /// Whether the operands are those of a former run, and so the results are. Its visitor went on.
    pub is_known: bool,
}

/// What a run computed, for another one of the same model in the same system.
pub struct Former<A: Arith> {
    steps: Vec<Computed<A>>,
    /// How many elements are held here.
    elements: usize,
}

/// An operator that was run.
struct Computed<A: Arith> {
    operands: Each<Option<Held<A>>>,
    /// Whether what it was read from may be otherwise.
    is_open: bool,
    results: Each<Held<A>>,
}

/// What comes of a run after another one.
pub struct Walked<A: Arith> {
    /// The values that are kept, if the run came to its end.
    pub values: Option<Values<Held<A>>>,
    /// What it computed, to its end or until the visitor ended it.
    pub now: Former<A>,
}

/// The most elements that are held for another run: tens of megabytes in any number system. What comes after these is computed anew.
const MOST_HELD: usize = 1 << 20;

impl<A: Arith> Former<A> {
    /// Of no run.
    pub const fn none() -> Self {
        Self { steps: Vec::new(), elements: 0 }
    }
}

/// A run after another one.
struct Recall<'a, A: Arith> {
    former: &'a Former<A>,
    now: Former<A>,
    /// The number of the next operator.
    next: usize,
}

impl<A: Arith> Computed<A> {
    /// Whether it was run on these operands. Those that it was run on are taken from it: they are loaded.
    fn is_of<'h>(&'h self, operands: &mut [Option<&'h Held<A>>], is_open: bool) -> bool {
        let mut is_known = self.is_open == is_open;
        for (now, before) in operands.iter_mut().zip(&self.operands) {
            match (now, before) {
                (Some(now), Some(before)) if before.is(now) => *now = before,
                (now, _) => is_known &= now.is_none(),
            }
        }
        is_known
    }

    /// Whether it gave these results.
    fn gave(&self, system: &impl System<A = A>, results: &[Data<A>], is_open: bool) -> bool {
        let mut both = self.results.iter().zip(results);
        self.is_open == is_open && both.all(|(before, now)| system.are_same(before.data(system), now))
    }
}

impl<'a, A: Arith> Recall<'a, A> {
    /// The next operator, as it was run before.
    fn before(&self) -> Option<&'a Computed<A>> {
        self.former.steps.get(self.next)
    }

    /// Holds what the next operator gave.
    fn keep(
        &mut self,
        operands: &[Option<&Held<A>>],
        is_open: bool,
        results: &Each<Held<A>>,
        given: &[&Data<A>],
    ) {
        self.next += 1;
        self.now.elements += given.iter().map(|data| data.shape().iter().product::<usize>()).sum::<usize>();
        // Steps are known by their numbers, so none is left out between two.
        if self.now.elements <= MOST_HELD {
            let operands = operands.iter().map(|held| held.cloned()).collect();
            self.now.steps.push(Computed { operands, is_open, results: results.clone() });
        }
    }
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
    given: &dyn Fn(NodeId) -> Option<Held<S::A>>,
    visit: &mut dyn FnMut(&Visit<'_, S::A>) -> bool,
) -> Option<Values<Held<S::A>>> {
    let mut reader = Reader { system, opset: model.opset, given, visit, is_open: false, recall: None };
    execute(model, keep, &mut reader).ok()
}

/// [`walk`], where operators are not run again whose operands are those of a former run of the same model: what is given is
/// the same if it is the same [`Held`], or of the same `Arc`.
pub fn walk_after<S: System>(
    system: &S,
    model: &Model,
    former: &Former<S::A>,
    given: &dyn Fn(NodeId) -> Option<Held<S::A>>,
    visit: &mut dyn FnMut(&Visit<'_, S::A>) -> bool,
) -> Walked<S::A> {
    let recall = Some(Recall { former, now: Former::none(), next: 0 });
    let mut reader = Reader { system, opset: model.opset, given, visit, is_open: false, recall };
    let values = execute(model, Keep::Outputs, &mut reader).ok();
    Walked { values, now: reader.recall.map_or(Former::none(), |recall| recall.now) }
}

/// The run is over: the visitor ended it, or the model was not valid.
struct Over;

/// What reads the operators in a number system.
struct Reader<'a, S: System> {
    system: &'a S,
    opset: u32,
    given: &'a dyn Fn(NodeId) -> Option<Held<S::A>>,
    visit: &'a mut dyn FnMut(&Visit<'_, S::A>) -> bool,
    /// Whether what the next operator was read from may be otherwise.
    is_open: bool,
    recall: Option<Recall<'a, S::A>>,
}

impl<S: System> Machine<Op> for Reader<'_, S> {
    type Value = Held<S::A>;
    type Error = Over;

    fn variable(&mut self, step: &Step<'_, Op>) -> Result<Self::Value, Over> {
        (self.given)(step.id).ok_or(Over)
    }

    fn constant(&mut self, step: &Step<'_, Op>, tensor: &Arc<Tensor>) -> Result<Self::Value, Over> {
        let replaced = if step.caller.is_none() { (self.given)(step.id) } else { None };
        Ok(replaced.map_or_else(|| Held::constant(tensor), Held::into_constant))
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
        let mut operands: Each<Option<&Self::Value>> = operands.iter().copied().collect();
        let before = self.recall.as_ref().and_then(Recall::before);
        let is_known = before.is_some_and(|before| before.is_of(&mut operands, is_open));
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
        let data = operands.iter().map(|held| held.map(|held| held.data(self.system)));
        let inputs: Each<Option<&Data<S::A>>> =
            data.zip(&narrowed).map(|(data, narrow)| narrow.as_ref().or(data)).collect();
        let computed = || {
            let call = Call { arith: &arith, inputs: &inputs, types: &types, outputs, opset: self.opset };
            let mut results = self.system.eval(op, &call);
            for (data, ty) in results.iter_mut().zip(outputs) {
                self.system.store(&arith, data, ty.dtype, step.node.is_inner);
                if is_open {
                    self.system.open(data);
                }
            }
            results
        };
        let computed = if is_known { Vec::new() } else { computed() };
        let results: Each<Held<S::A>> = match before {
            Some(before) if is_known || before.gave(self.system, &computed, is_open) => {
                before.results.clone()
            }
            _ => computed.into_iter().map(|data| Held { is_open, ..Held::new(data) }).collect(),
        };
        let given: Each<&Data<S::A>> = results.iter().map(|held| held.data(self.system)).collect();
        let node = step.main();
        let visit = Visit { node, op, types: &types, operands: &inputs, results: &given, is_known };
        if !(self.visit)(&visit) {
            return Err(Over);
        }
        if let Some(recall) = &mut self.recall {
            recall.keep(&operands, is_open, &results, &given);
        }
        drop(given);
        Ok(results)
    }

    fn invalid(&mut self, _: &Step<'_, Op>) -> Over {
        Over
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use ir::Operation;
    use ops::plain::{self, Plain};

    use super::*;

    /// Plain numbers, with the names of the operators that are run.
    #[derive(Default)]
    struct Told(RefCell<Vec<&'static str>>);

    impl System for Told {
        type A = Plain<'static>;
        fn arith(&self, dtype: DType) -> Self::A {
            Plain::new(dtype)
        }
        fn load(&self, tensor: &Tensor) -> Data<Self::A> {
            plain::load(tensor)
        }
        fn eval(&self, op: &Op, call: &Call<'_, Self::A>) -> Vec<Data<Self::A>> {
            self.0.borrow_mut().push(op.name());
            plain::eval(op, call)
        }
        fn store(&self, _: &Self::A, data: &mut Data<Self::A>, dtype: DType, _: bool) {
            plain::settle(data, dtype);
        }
        fn are_same(&self, one: &Data<Self::A>, other: &Data<Self::A>) -> bool {
            matches!((one, other), (Data::Real(x), Data::Real(y)) if x == y)
        }
    }

    #[test]
    fn a_run_computes_what_depends_on_other_values_than_the_one_before() {
        let text = "onnxsmith 1 opset 21\nfunction f {\n  %0: f32[2] = variable \"p\"\n  %1: f32[2] = Sqrt(%0)\n  \
                    return \"r\" = %1\n}\ngraph {\n  %0: f32[2] = variable \"x\"\n  %1: f32[2] = variable \"y\"\n  \
                    %2: f32[2] = Neg(%0)\n  %3: f32[2] = Abs(%1)\n  %4: f32[2] = call f(%3)\n  \
                    %5: f32[2] = Add(%2, %4)\n  return \"z\" = %5\n}\n";
        let model: Model = text.parse().unwrap_or_else(|e| panic!("{e}"));
        let tensor = |x: [f64; 2]| Arc::new(Tensor::from_f64_fn(&Type::new(DType::F32, [2]), |i| x[i]));
        let system = Told::default();
        let mut former = Former::none();
        let mut run = |given: &[Arc<Tensor>; 2], until: &str| {
            let held = |id: NodeId| given.get(id.index()).map(Held::of);
            let mut visit = |v: &Visit<'_, Plain<'static>>| v.op.name() != until;
            let Walked { values, now } = walk_after(&system, &model, &former, &held, &mut visit);
            former = now;
            let z = values.map(|values| {
                let Some(Some(held)) = values.get(model.graph.outputs[0].value) else { panic!("an output") };
                plain::store(held.data(&system), &Type::new(DType::F32, [2])).to_f64s()
            });
            (system.0.take(), z)
        };
        let (x, other) = (tensor([1.0, 2.0]), tensor([3.0, 5.0]));
        let [y, opposite, nine] = [[4.0, -16.0], [-4.0, 16.0], [9.0, 9.0]].map(tensor);
        let all = ["Neg", "Abs", "Sqrt", "Add"];
        assert_eq!(run(&[x.clone(), y.clone()], ""), (all.to_vec(), Some(vec![1.0, 2.0])));
        assert_eq!(run(&[x.clone(), y.clone()], ""), (vec![], Some(vec![1.0, 2.0])));
        assert_eq!(run(&[other.clone(), y], ""), (vec!["Neg", "Add"], Some(vec![-1.0, -1.0])));
        // The operators after one that gives the same are those of the former run.
        assert_eq!(run(&[other.clone(), opposite], ""), (vec!["Abs"], Some(vec![-1.0, -1.0])));
        assert_eq!(run(&[other.clone(), nine.clone()], "Sqrt"), (vec!["Abs", "Sqrt"], None));
        // Of a run that was ended there is what was computed until then.
        assert_eq!(run(&[other, nine.clone()], ""), (vec!["Sqrt", "Add"], Some(vec![0.0, -2.0])));
        assert_eq!(run(&[x, nine], ""), (vec!["Neg", "Add"], Some(vec![2.0, 1.0])));
    }
}
