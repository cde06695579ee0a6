//! Concat, Gather, Reshape and Where of strings: the operator moves the numbers of the strings in their place, and
//! these are read.
//!
//! So no string is looked at. What positions and choices are read from, the result is given.

use ir::{Attributes, DType, Value};

use super::few;
use crate::Error;
use crate::import::frame::{Bound, Texts};
use crate::import::given::GivenAttributes;
use crate::import::terms::axis_of;
use crate::import::translation::{SourceNode, bind, need};
use crate::import::walk::Walk;
use crate::program::Node;

/// Whether an operator of that name moves strings.
pub(super) fn moves(op_type: &str) -> bool {
    matches!(op_type, "Concat" | "Gather" | "Reshape" | "Where")
}

/// The strings of all operands, one behind the other, and what these were read from.
#[derive(Default)]
struct Pool {
    items: Vec<Value>,
    given: Vec<Value>,
}

pub(super) fn moved<'p>(walk: &mut Walk<'p, '_>, source: &SourceNode<'p, '_>) -> Result<(), Error> {
    let given = GivenAttributes::of(source);
    let mut pool = Pool::default();
    let y = match source.node.rest.op_type() {
        "Concat" => {
            let parts = (0..source.node.inputs.len()).map(|i| pool.numbers(walk, source.node, i));
            let parts = parts.collect::<Result<Vec<Value>, Error>>()?;
            walk.op_with("Concat", &Attributes::new().int("axis", given.needed("axis")?), &parts)?
        }
        "Gather" => {
            let (x, at) = (pool.numbers(walk, source.node, 0)?, other(walk, source.node, 1)?);
            let axis = given.int("axis", 0);
            check_places(walk, x, axis, at)?;
            walk.op_with("Gather", &Attributes::new().int("axis", axis), &[x, at])?
        }
        "Reshape" => {
            let x = pool.numbers(walk, source.node, 0)?;
            let (shape, from) = walk.read(need(source.node, 1)?)?;
            pool.given.extend(from);
            let shape: Vec<i64> = shape.to_i128s().into_iter().map(|size| size as i64).collect();
            let shape = Attributes::new().ints("shape", &shape).int("allowzero", given.int("allowzero", 0));
            walk.op_with("Reshape", &shape, &[x])?
        }
        _ => {
            let is_first = other(walk, source.node, 0)?;
            let sides = [pool.numbers(walk, source.node, 1)?, pool.numbers(walk, source.node, 2)?];
            walk.op("Where", &[is_first, sides[0], sides[1]])?
        }
    };
    given.finish()?;
    few(usize::try_from(walk.ty(y).count()).unwrap_or(usize::MAX))?;
    let texts = pool.at(walk, y)?;
    bind(walk, source.node, vec![Bound::Strings(texts)])
}

/// Requires of the positions on an axis that all are there: negative ones count from its end.
fn check_places(walk: &mut Walk<'_, '_>, x: Value, axis: i64, at: Value) -> Result<(), Error> {
    let ty = walk.ty(x);
    let size = i128::from(ty.shape[axis_of("attribute `axis`", axis, ty.rank())?]);
    let (places, _) = walk.read_value(at, "operand 1".to_owned())?;
    match places.to_i128s().into_iter().find(|place| !(-size..size).contains(place)) {
        Some(place) => Err(Error::invalid("operand 1", format!("{place} is no place on an axis of {size}"))),
        None => Ok(()),
    }
}

/// An operand that is no strings.
fn other(walk: &mut Walk<'_, '_>, node: &Node, i: usize) -> Result<Value, Error> {
    crate::import::translation::tensor(walk, node, i)
}

impl Pool {
    /// The numbers that the strings of an operand have among those of all.
    fn numbers(&mut self, walk: &mut Walk<'_, '_>, node: &Node, i: usize) -> Result<Value, Error> {
        let Bound::Strings(Texts { shape, items, given }) = walk.frame.get(need(node, i)?)?.clone() else {
            return Err(Error::invalid(format!("operand {i}"), "it must be of strings, as another one is"));
        };
        let first = self.items.len();
        self.items.extend(items);
        few(self.items.len())?;
        self.given.extend(given);
        walk.integers(DType::I64, &shape, |at| (first + at) as i128)
    }

    /// The strings that have these numbers.
    fn at(self, walk: &mut Walk<'_, '_>, numbers: Value) -> Result<Texts, Error> {
        let (numbers, from) = walk.read_value(numbers, "strings".to_owned())?;
        let item = |number: i128| usize::try_from(number).ok().and_then(|number| self.items.get(number));
        let items: Option<Vec<Value>> =
            numbers.to_i128s().into_iter().map(|number| item(number).copied()).collect();
        let items =
            items.ok_or_else(|| Error::invalid("operands", "a string is asked for that is not there"))?;
        let given = self.given.into_iter().chain(from).collect();
        Ok(Texts { shape: numbers.ty().shape, items, given })
    }
}
