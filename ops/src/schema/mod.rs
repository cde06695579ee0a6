//! ONNX's own operator schemas: every definition of every operator, as data. One outside of the default domain is
//! called by its domain as well: `ai.onnx.ml.Scaler`.
//!
//! The text `schemas.txt` is generated from the `onnx` package and checked in (`cargo xtask schema`). It is read once, the first
//! time that something is looked up. What the standard says is here; what we do not take from it, an operator's file
//! says ([`crate::spec::Row`]).

use std::collections::BTreeMap;
use std::sync::LazyLock;

use ir::{DType, DTypes};

/// One definition of an operator.
#[derive(Clone, Debug)]
pub struct Schema {
    /// The operator.
    pub name: &'static str,
    /// The first opset that has the definition.
    pub since: u32,
    /// Whether it only says that the operator must not be used any more.
    pub deprecated: bool,
    /// Whether the operator has a function body: a definition by other operators.
    pub has_body: bool,
    /// The operands.
    pub inputs: Vec<Parameter>,
    /// The results.
    pub outputs: Vec<Parameter>,
    /// The attributes, by name.
    pub attributes: Vec<Attribute>,
}

/// An operand or a result.
#[derive(Clone, Debug)]
pub struct Parameter {
    /// Its name.
    pub name: &'static str,
    /// Whether it may be absent or repeated.
    pub arity: Arity,
    /// The type parameter it has, or the one dtype.
    pub ty: &'static str,
    /// The dtypes of ours that it may have.
    pub dtypes: DTypes,
    /// What it may be that is no tensor of numbers.
    pub others: Others,
}

/// What an operand or a result may be besides a tensor of numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Others {
    /// Whether it may be a tensor of strings.
    pub strings: bool,
    /// The dtypes of ours that the tensors of a sequence may have.
    pub sequences: DTypes,
    /// The dtypes of ours that the tensor of an optional may have.
    pub optionals: DTypes,
    /// The dtypes of ours that the tensors of an optional sequence may have.
    pub optional_sequences: DTypes,
}

/// How often an operand may appear.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Arity {
    /// Exactly once.
    One,
    /// Once or not at all.
    Optional,
    /// Once or more; only the last operand can be variadic.
    Variadic,
}

/// An attribute.
#[derive(Clone, Debug)]
pub struct Attribute {
    /// Its name.
    pub name: &'static str,
    /// What it holds: `int`, `ints`, `float`, `string` and others.
    pub kind: &'static str,
    /// What an absent one means.
    pub absence: Absence,
}

/// What it means that an attribute is not given.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Absence {
    /// The same as this value; the elements of a list stand apart.
    Default(&'static str),
    /// What the operator's text says.
    Allowed,
    /// That the node is not valid.
    Forbidden,
}

static SCHEMAS: LazyLock<BTreeMap<&'static str, Vec<Schema>>> = LazyLock::new(|| {
    let mut schemas: BTreeMap<_, Vec<Schema>> = BTreeMap::new();
    for schema in read(include_str!("schemas.txt")).expect("a test reads the schemas") {
        schemas.entry(schema.name).or_default().push(schema);
    }
    schemas
});

/// The operators of the default domain by name, each with its definitions, ascending.
pub fn all() -> impl Iterator<Item = (&'static str, &'static [Schema])> {
    SCHEMAS
        .iter()
        .filter(|(name, _)| !name.contains('.'))
        .map(|(&name, definitions)| (name, definitions.as_slice()))
}

/// The definitions of an operator, ascending; none of what ONNX does not have.
pub fn definitions(name: &str) -> &'static [Schema] {
    SCHEMAS.get(name).map_or(&[], Vec::as_slice)
}

/// The definition that holds in an opset.
pub fn in_force(name: &str, opset: u32) -> Option<&'static Schema> {
    definitions(name).iter().rev().find(|schema| schema.since <= opset)
}

/// Whether a result of an operator, by its newest definition, is a tensor of numbers: no sequence, no optional, no
/// strings. That is assumed of what ONNX does not have.
pub fn gives_tensor(name: &str, port: usize) -> bool {
    let Some(schema) = definitions(name).last() else { return true };
    schema.outputs.get(port).or(schema.outputs.last()).is_none_or(|output| !output.dtypes.is_empty())
}

/// The element types of ONNX that we do not have: nothing that is computed with, and the floats of 6 bits, which opset 28 stores.
pub const LEFT_OUT: [&str; 5] = ["string", "complex64", "complex128", "float6e2m3", "float6e3m2"];

/// The dtype of ours that ONNX calls so. We have neither what is [`LEFT_OUT`] nor sequences and optionals: an operand that may have
/// such an element type too is one that may not, here.
fn dtype(onnx: &str) -> Option<DType> {
    Some(match onnx {
        "bool" => DType::Bool,
        "int8" => DType::I8,
        "int16" => DType::I16,
        "int32" => DType::I32,
        "int64" => DType::I64,
        "uint8" => DType::U8,
        "uint16" => DType::U16,
        "uint32" => DType::U32,
        "uint64" => DType::U64,
        "float16" => DType::F16,
        "bfloat16" => DType::BF16,
        "float" => DType::F32,
        "double" => DType::F64,
        "int4" => DType::I4,
        "uint4" => DType::U4,
        "int2" => DType::I2,
        "uint2" => DType::U2,
        "float8e4m3fn" => DType::F8E4M3FN,
        "float8e4m3fnuz" => DType::F8E4M3FNUZ,
        "float8e5m2" => DType::F8E5M2,
        "float8e5m2fnuz" => DType::F8E5M2FNUZ,
        "float8e8m0" => DType::F8E8M0,
        "float4e2m1" => DType::F4E2M1,
        _ => return None,
    })
}

/// The definitions in a text; the number of the line that is not understood.
fn read(text: &'static str) -> Result<Vec<Schema>, usize> {
    let mut schemas: Vec<Schema> = Vec::new();
    for (number, line) in text.lines().enumerate().filter(|(_, line)| !line.starts_with('#')) {
        let understood = match line.strip_prefix("  ") {
            Some(part) => schemas.last_mut().and_then(|schema| read_part(schema, part)),
            None if line.is_empty() => Some(()),
            None => head(line).map(|schema| schemas.push(schema)),
        };
        understood.ok_or(number + 1)?;
    }
    Ok(schemas)
}

/// The first line of a definition.
fn head(line: &'static str) -> Option<Schema> {
    let mut words = line.split(' ');
    let (name, since) = (words.next()?, words.next()?.parse().ok()?);
    let mut schema = Schema {
        name,
        since,
        deprecated: false,
        has_body: false,
        inputs: Vec::new(),
        outputs: Vec::new(),
        attributes: Vec::new(),
    };
    for word in words {
        match word {
            "deprecated" => schema.deprecated = true,
            "function" => schema.has_body = true,
            _ => return None,
        }
    }
    Some(schema)
}

/// Any further line of a definition.
fn read_part(schema: &mut Schema, line: &'static str) -> Option<()> {
    let (what, rest) = line.split_once(' ')?;
    match what {
        "input" => schema.inputs.push(parameter(rest)?),
        "output" => schema.outputs.push(parameter(rest)?),
        "attribute" => schema.attributes.push(attribute(rest)?),
        "where" => {
            let (ty, allowed) = rest.split_once(' ')?;
            let (dtypes, others) = allowed_types(allowed);
            for parameter in schema.inputs.iter_mut().chain(&mut schema.outputs).filter(|p| p.ty == ty) {
                (parameter.dtypes, parameter.others) = (dtypes, others);
            }
        }
        _ => return None,
    }
    Some(())
}

/// `X T`, `X? T` or `X... T`, where T is a dtype or a type parameter that a later line explains.
fn parameter(text: &'static str) -> Option<Parameter> {
    let (spelled, ty) = text.split_once(' ')?;
    let (name, arity) = if let Some(name) = spelled.strip_suffix("...") {
        (name, Arity::Variadic)
    } else if let Some(name) = spelled.strip_suffix('?') {
        (name, Arity::Optional)
    } else {
        (spelled, Arity::One)
    };
    let (dtypes, others) = allowed_types(ty);
    Some(Parameter { name, arity, ty, dtypes, others })
}

/// What is allowed where a line lists these types: `int64 string seq(tensor(float))`.
fn allowed_types(list: &str) -> (DTypes, Others) {
    let of = |before: &str, after: &str| {
        let inside = |word: &'_ str| dtype(word.strip_prefix(before)?.strip_suffix(after)?);
        DTypes::of(&list.split(' ').filter_map(inside).collect::<Vec<_>>())
    };
    let others = Others {
        strings: list.split(' ').any(|word| word == "string"),
        sequences: of("seq(tensor(", "))"),
        optionals: of("optional(tensor(", "))"),
        optional_sequences: of("optional(seq(tensor(", ")))"),
    };
    (of("", ""), others)
}

/// `axis int`, `axis int required` or `axis int = 0`.
fn attribute(text: &'static str) -> Option<Attribute> {
    let (name, rest) = text.split_once(' ')?;
    let (kind, absence) = match rest.split_once(' ') {
        None => (rest, Absence::Allowed),
        Some((kind, "required")) => (kind, Absence::Forbidden),
        Some((kind, default)) => (kind, Absence::Default(default.strip_prefix("= ")?)),
    };
    Some(Attribute { name, kind, absence })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_of_the_schemas_is_understood() {
        let text = include_str!("schemas.txt");
        assert_eq!(read(text).map(|schemas| schemas.len()), Ok(text.matches("\n\n").count()));
        for line in ["Abs", "Abs x", "Abs 1 odd", "  input X T", "Abs 1\n  input X", "Abs 1\n  odd X T"] {
            assert!(read(line).is_err(), "{line}");
        }
        assert_eq!(read("Abs 1\n\n  attribute a int : 1\n").err(), Some(3));
    }

    #[test]
    fn an_element_type_is_ours_or_left_out_by_name() {
        let lists = include_str!("schemas.txt").lines().filter_map(|line| line.trim().strip_prefix("where "));
        let words = lists.flat_map(|list| list.split(' ').skip(1));
        // Within sequences, optionals and maps: `optional(seq(tensor(float)))`, `map(int64,tensor(float))`.
        let types = words.flat_map(|word| word.split(['(', ')', ','])).filter(|word| !word.is_empty());
        let known = |word: &&str| {
            ["seq", "optional", "map", "tensor"].contains(word)
                || LEFT_OUT.contains(word)
                || dtype(word).is_some()
        };
        assert_eq!(types.filter(|word| !known(word)).collect::<Vec<_>>(), [""; 0]);
    }

    #[test]
    fn a_definition_holds_until_the_next() {
        let since = |opset| in_force("Add", opset).map(|schema| schema.since);
        assert_eq!(
            [since(0), since(6), since(12), since(13), since(26)],
            [None, Some(6), Some(7), Some(13), Some(14)]
        );
        assert!(in_force("Upsample", 10).is_some_and(|schema| schema.deprecated));
        assert!(definitions("Frobnicate").is_empty());
    }

    #[test]
    fn arities_dtypes_and_defaults_are_told_apart() {
        let clip = in_force("Clip", 13).expect("ONNX has Clip");
        assert!(clip.has_body);
        let arities: Vec<_> = clip.inputs.iter().map(|p| (p.name, p.arity)).collect();
        assert_eq!(arities, [("input", Arity::One), ("min", Arity::Optional), ("max", Arity::Optional)]);
        let concat = in_force("Concat", 13).expect("ONNX has Concat");
        assert_eq!((concat.inputs[0].arity, concat.inputs[0].dtypes), (Arity::Variadic, DTypes::IR4));
        assert_eq!(concat.attributes[0].absence, Absence::Forbidden);
        let split = in_force("Split", 18).expect("ONNX has Split");
        assert_eq!(split.inputs[1].dtypes, DTypes::of(&[DType::I64]));
        let absences: Vec<_> = split.attributes.iter().map(|a| (a.name, a.absence)).collect();
        assert_eq!(absences, [("axis", Absence::Default("0")), ("num_outputs", Absence::Allowed)]);
    }
}
