//! Tables of calls with what they give, one a line, written as the text form of graphs writes them.
//!
//! ```text
//! x = f32[3] {-2, inf, 0.5}; low = f32[] {-1}; high = f32[] {1}
//! Clip(x, low, high) = f32[3] {-1, 1, 0.5}
//! Clip(x, _, high) = f32[3] {-2, 1, 0.5}
//! Clip(f32[2, 3], f32[]): f32[2, 3]
//! Clip(x, x) is refused: operand 1 has rank 1, but must have rank 0
//! ```
//!
//! | a line | says |
//! |---|---|
//! | `x = f32[2] {1, -1/3}` | what a name stands for; `;` separates several |
//! | `Op(x, _, u8[] {1}) {axis = 1} = f32[2] {3, nan}` | what an operator gives: `,` separates operands, and results |
//! | `Op(x) ≈ f64[2] {√2, 1/3}` | what it gives, but for the last places |
//! | `Op(f32[2, 3]): f32[2]` | the types of what it gives |
//! | `Op(x) is refused: axis 3 is outside of rank 1` | that its attributes or its operands are refused, and why; if that is not said, its operands |
//! | `for T of f32, i8` | a first line: the table holds of each of the dtypes, `T` below |
//! | `Op(f32[2]) has the hazards [Always]` | its [`Hazard`](crate::Hazard)s, as Rust shows them |
//! | `Op(f32[2]) is there since 20` | the first opset that has such a use ([`since`](crate::Facts::since)) |
//!
//! A tensor of which the type alone is written has the elements 0, 1, 2 … Attributes have the names that ONNX gives them, and `'`
//! stands for `"`. A line that starts with `//` is a comment. Of results the numbers count: 0 is -0, and a NaN is any other.

use std::collections::BTreeMap;

use ir::text::{ParseError, Problem};
use ir::{DType, NodeKind, Operation, Tensor, Type};

use crate::list::{Model, Op};
use crate::operator::Operator;
use crate::plain;

/// Declares tests, each of them a table: a name and a text, as the [module](self) has it.
macro_rules! tables {
    ($($(#[doc = $doc:literal])* $name:ident: $text:literal;)+) => {
        $(
            $(#[doc = $doc])*
            #[test]
            fn $name() {
                $crate::testing::table::check($text);
            }
        )+
    };
}
pub(crate) use tables;

/// The values of a table that have names.
pub(super) type Names<'t> = BTreeMap<&'t str, Tensor>;

/// Checks the lines of a table, one after the other.
pub(crate) fn check(table: &str) {
    if let Some((dtypes, rest)) =
        table.trim_start().strip_prefix("for T of ").and_then(|it| it.split_once('\n'))
    {
        dtypes.split(',').for_each(|dtype| check(&rest.replace("T[", &format!("{}[", dtype.trim()))));
        return;
    }
    let mut names = Names::new();
    for line in table.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("//")) {
        if line.contains('(') {
            let (call, verdict) = Call::parse(line, &names);
            call.check(verdict);
        } else {
            let definitions = line.split(';').map(|it| it.split_once('=').expect("a definition"));
            names.extend(definitions.map(|(name, value)| (name.trim(), literal(value))));
        }
    }
}

/// An operator and its operands, as a line has them.
pub(super) struct Call<'t> {
    line: &'t str,
    names: &'t Names<'t>,
    /// The operator, or why its attributes are refused.
    op: Result<Op, String>,
    operands: Vec<Option<Tensor>>,
}

impl<'t> Call<'t> {
    /// The call that a line begins with, and what follows.
    pub(super) fn parse(line: &'t str, names: &'t Names<'t>) -> (Self, &'t str) {
        let (name, rest) = line.split_once('(').expect("operands");
        let (operands, rest) = rest.split_once(')').expect("the end of the operands");
        let end =
            if rest.trim_start().starts_with('{') { rest.find('}').map_or(0, |end| end + 1) } else { 0 };
        let (attributes, verdict) = rest.split_at(end);
        let operand = |text: &str| (text != "_").then(|| value(text, names));
        let operands = separate(operands).into_iter().map(operand).collect();
        (Self { line, names, op: operator(name.trim(), attributes), operands }, verdict.trim())
    }

    /// Holds what a line says of the call against it.
    fn check(&self, verdict: &str) {
        let after = |sign: &str| verdict.strip_prefix(sign).map(str::trim);
        if let Some(wanted) = after("=") {
            self.check_elements(wanted, 0.0);
        } else if let Some(wanted) = after("≈") {
            self.check_elements(wanted, LAST_PLACES);
        } else if let Some(wanted) = after(":") {
            let types = |of: &[Tensor]| of.iter().map(Tensor::ty).collect::<Vec<_>>();
            assert_eq!(types(&self.accepted()), types(&self.values(wanted)), "{}", self.line);
        } else if let Some(why) = after("is refused") {
            self.check_refused(why.trim_start_matches(": "));
        } else if let Some(wanted) = after("has the hazards") {
            assert_eq!(format!("{:?}", self.op().hazards(&refs(&self.types()))), wanted, "{}", self.line);
        } else if let Some(wanted) = after("is there since") {
            assert_eq!(self.op().facts(&refs(&self.types())).since.to_string(), wanted, "{}", self.line);
        } else {
            panic!("nothing is said: {}", self.line);
        }
    }

    fn check_elements(&self, wanted: &str, off: f64) {
        let (given, wanted) = (self.accepted(), self.values(wanted));
        let are_same =
            given.len() == wanted.len() && given.iter().zip(&wanted).all(|(a, b)| is_near(a, b, off));
        let shown: Vec<String> = given.iter().map(ToString::to_string).collect();
        assert!(are_same, "{}, but it gives {}", self.line, shown.join(", "));
    }

    fn check_refused(&self, why: &str) {
        // Else an attribute that is misspelt would do.
        assert!(!why.is_empty() || self.op.is_ok(), "{}, but its attributes are: {:?}", self.line, self.op);
        match self.given() {
            Ok(given) => panic!("{}, but it gives {given:?}", self.line),
            Err(found) => assert!(why.is_empty() || why == found, "{}, but: {found}", self.line),
        }
    }

    /// The values that a text lists.
    fn values(&self, text: &str) -> Vec<Tensor> {
        separate(text).into_iter().map(|it| value(it, self.names)).collect()
    }

    /// What the call gives.
    fn accepted(&self) -> Vec<Tensor> {
        self.given().unwrap_or_else(|why| panic!("{}, but it is refused: {why}", self.line))
    }

    /// What the call gives, or why it is refused.
    fn given(&self) -> Result<Vec<Tensor>, String> {
        let op = self.op.as_ref().map_err(Clone::clone)?;
        let outputs = Operation::infer(op, &refs(&self.types())).map_err(|why| why.to_string())?;
        Ok(plain::evaluate(op, &refs(&self.operands), &outputs))
    }

    pub(super) fn types(&self) -> Vec<Option<Type>> {
        self.operands.iter().map(|operand| operand.as_ref().map(Tensor::ty)).collect()
    }

    pub(super) fn op(&self) -> &Op {
        self.op.as_ref().unwrap_or_else(|why| panic!("{} is refused: {why}", self.line))
    }
}

fn refs<T>(all: &[Option<T>]) -> Vec<Option<&T>> {
    all.iter().map(Option::as_ref).collect()
}

/// The operator of that name with attributes as the text form has them, or why it refuses them.
fn operator(name: &str, attributes: &str) -> Result<Op, String> {
    let attributes = attributes.replace('\'', "\"");
    let model = format!("onnxsmith 1 opset 13 graph {{ %0: f32[] = {name}() {attributes} return }}");
    match model.parse::<Model>().map(|mut model| model.graph.nodes.remove(0).kind) {
        Ok(NodeKind::Operator(op)) => Ok(op),
        Err(ParseError { problem: Problem::Attribute { cause, .. }, .. }) => Err(cause.to_string()),
        other => panic!("no operator: {name} {attributes}, {other:?}"),
    }
}

/// The parts of a text between commas that no bracket holds.
pub(super) fn separate(text: &str) -> Vec<&str> {
    let mut depth = 0;
    let is_between = |c: char| {
        depth += i32::from(matches!(c, '[' | '{')) - i32::from(matches!(c, ']' | '}'));
        c == ',' && depth == 0
    };
    text.split(is_between).map(str::trim).filter(|part| !part.is_empty()).collect()
}

/// A tensor that has a name, or that is written out.
fn value(text: &str, names: &Names<'_>) -> Tensor {
    names.get(text).cloned().unwrap_or_else(|| literal(text))
}

/// A tensor with its elements, or by its type alone.
fn literal(text: &str) -> Tensor {
    let (dtype, rest) = text.trim().split_once('[').unwrap_or_else(|| panic!("no value: {text}"));
    let (shape, rest) = rest.split_once(']').expect("the end of a shape");
    let dtype: DType = dtype.parse().expect("a dtype");
    let shape: Vec<i64> = separate(shape).into_iter().map(|size| size.parse().expect("a size")).collect();
    let ty = Type::new(dtype, shape);
    let elements: Vec<&str> = match rest.trim() {
        "" if dtype.is_float() => return Tensor::from_f64_fn(&ty, |i| i as f64),
        "" => return Tensor::from_i128_fn(&ty, |i| i as i128),
        rest => separate(rest.trim_start_matches('{').trim_end_matches('}')),
    };
    assert_eq!(ty.count(), elements.len() as i64, "as many elements as the shape has places: {text}");
    if dtype.is_float() {
        Tensor::from_f64_fn(&ty, |i| real(elements[i]))
    } else {
        Tensor::from_i128_fn(&ty, |i| whole(elements[i]))
    }
}

fn real(text: &str) -> f64 {
    if let Some((above, below)) = text.split_once('/') {
        return real(above) / real(below);
    }
    match text.strip_prefix('√') {
        Some(square) => real(square).sqrt(),
        None => text.parse().expect("a number"),
    }
}

fn whole(text: &str) -> i128 {
    match text {
        "true" => 1,
        "false" => 0,
        text => text.parse().expect("a whole number"),
    }
}

/// By how much of a number's own size, in units of its dtype's precision, it may differ in the last places.
const LAST_PLACES: f64 = 64.0;

/// Whether a tensor is of the type of another one, and has its numbers, or numbers that are off by so many last places.
fn is_near(a: &Tensor, b: &Tensor, off: f64) -> bool {
    let Some(format) = a.dtype().float().filter(|_| a.ty() == b.ty()) else { return a == b };
    assert!(
        off == 0.0 || format.precision() >= 24,
        "the last places of a number of {} are most of it",
        a.dtype()
    );
    let off = off * format.epsilon();
    let is_near = |(a, b): (f64, f64)| a == b || (a.is_nan() && b.is_nan()) || (a - b).abs() <= off * b.abs();
    a.to_f64s().into_iter().zip(b.to_f64s()).all(is_near)
}

#[cfg(test)]
mod tests {
    use std::panic::catch_unwind;

    use super::check;

    #[test]
    fn a_line_that_is_wrong_fails() {
        for (right, wrong) in [
            ("Neg(f32[2] {1, nan}) = f32[2] {-1, nan}", "Neg(f32[2] {1, nan}) = f32[2] {-1, 2}"),
            ("Neg(f32[1] {1}) = f32[1] {-1}", "Neg(f32[1] {1}) = f16[1] {-1}"),
            ("Neg(i8[1] {1}) = i8[1] {-1}", "Neg(i8[1] {1}) = i8[1] {-1}, i8[1] {1}"),
            ("Neg(f32[2, 3]): f32[2, 3]", "Neg(f32[2, 3]): f32[3, 2]"),
            ("Add(f32[2], f32[3]) is refused", "Add(f32[2], f32[2]) is refused"),
            (
                "Softmax(f32[2]) {axis = 1} is refused: axis 1 is outside of rank 1",
                "Softmax(f32[2]) {axis = 1} is refused: it is",
            ),
            ("Neg(bool[2]) is refused", "Neg(bool[2]): bool[2]"),
            ("Det(f32[2, 2]) has the hazards []", "Det(f32[2, 2]) has the hazards [Always]"),
            ("Mod(f32[2], f32[2]) is there since 28", "Mod(f32[2], f32[2]) is there since 13"),
            ("for T of f32, i8\nNeg(T[2]): T[2]", "for T of f32, bool\nNeg(T[2]): T[2]"),
            ("Sqrt(f64[1] {2}) ≈ f64[1] {√2}", "Sqrt(f64[1] {2}) ≈ f64[1] {1.414213562}"),
            ("x = f32[1] {1/3}; y = f32[1] {-1/3}\nNeg(x) = y", "x = f32[1] {1/3}\nNeg(x) = x"),
            ("// Neg(f32[1]) = f32[2]", "Neg(f32[1]) may be anything"),
        ] {
            check(right);
            assert!(catch_unwind(|| check(wrong)).is_err(), "{wrong}");
        }
    }
}
