//! What a program says about its inputs, before any of them is known.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use ir::{DType, DatumKind, Type};

use super::declared::{Declared, Size, are_sizes_of, write_sizes};
use crate::Error;
use crate::program::{Program, ValueId};

/// What a program says about one of its inputs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct InputType {
    /// Its name.
    pub name: String,
    /// What it is; `None` if that is not said.
    pub kind: Option<DatumKind>,
    /// The dtype of its tensors; `None` if that is not said.
    pub dtype: Option<DType>,
    /// The sizes of its tensors; `None` if not even the rank is said.
    pub sizes: Option<Vec<Size>>,
}

impl InputType {
    /// What its sizes are called that the model does not say: the model's name for one, or `input[axis]` where it has none.
    pub fn open(&self) -> impl Iterator<Item = String> {
        let sizes = self.sizes.iter().flatten().enumerate();
        sizes.filter_map(|(axis, size)| self.called(axis, size))
    }

    /// Whether a tensor of this type may be given for it.
    pub fn admits(&self, ty: &Type) -> bool {
        self.dtype.is_none_or(|dtype| dtype == ty.dtype)
            && self.sizes.as_ref().is_none_or(|sizes| are_sizes_of(sizes, &ty.shape))
    }

    fn called(&self, axis: usize, size: &Size) -> Option<String> {
        match size {
            Size::Said(_) => None,
            Size::Named(name) => Some(name.clone()),
            Size::Unsaid => Some(format!("{}[{axis}]", self.name)),
        }
    }

    /// The type of its tensor with these sizes by name; `None` where something is still open, or it is no tensor.
    pub fn with(&self, sizes: &BTreeMap<String, i64>) -> Option<Type> {
        let size = |(axis, size): (usize, &Size)| match self.called(axis, size) {
            None => size.said(),
            Some(name) => sizes.get(&name).copied(),
        };
        let shape: Option<Vec<i64>> = self.sizes.as_ref()?.iter().enumerate().map(size).collect();
        (self.kind == Some(DatumKind::Tensor)).then_some(Type::new(self.dtype?, shape?))
    }
}

/// The type as it is declared, such as `f32[batch, 3, ?]`.
impl fmt::Display for InputType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.dtype {
            Some(dtype) => write!(f, "{dtype}")?,
            None => f.write_str("?")?,
        }
        write_sizes(f, self.sizes.as_deref())
    }
}

/// The inputs of a program, in order, but for those that have a default value.
pub fn inputs(program: &Program) -> Result<Vec<InputType>, Error> {
    let main = &program.main;
    let defaults: BTreeSet<ValueId> = main.body.initializers.iter().map(|i| i.value).collect();
    let ports = main.body.inputs.iter().filter(|port| !defaults.contains(&port.value));
    let input = |port: &crate::program::Port| {
        let name = main.name(port.value).to_owned();
        let declared = Declared::read(&name, &port.declared)?;
        let kind = declared.kind(format!("input `{name}`"))?;
        Ok(InputType { name, kind, dtype: declared.dtype(), sizes: declared.sizes().map(<[Size]>::to_vec) })
    };
    ports.map(input).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = r#"<ir_version: 10, opset_import: ["" : 21]>
m (float[batch, 3] x, float[batch, ?, k] z, int64[2] n, float[1] w) => (float[batch, 3] y)
<float[1] w = {1.0}> { y = Neg(x) }
"#;

    #[test]
    fn what_is_open_has_a_name() {
        let program = Program::from_text(TEXT).expect("a program");
        let all = inputs(&program).expect("inputs");
        let names: Vec<&str> = all.iter().map(|input| input.name.as_str()).collect();
        assert_eq!(names, ["x", "z", "n"]);
        let open: Vec<Vec<String>> = all.iter().map(|input| input.open().collect()).collect();
        assert_eq!(open, [vec!["batch"], vec!["batch", "z[1]", "k"], vec![]]);
        assert_eq!(all[1].to_string(), "f32[batch, ?, k]");
        let sizes = BTreeMap::from([("batch".to_owned(), 4), ("z[1]".to_owned(), 2)]);
        assert_eq!(all[0].with(&sizes), Some(Type::new(DType::F32, [4, 3])));
        assert_eq!(all[1].with(&sizes), None);
        assert_eq!(all[2].with(&sizes), Some(Type::new(DType::I64, [2])));
    }
}
