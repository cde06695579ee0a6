//! Running a model in the number system of a way to calculate.

use std::collections::BTreeMap;

use interp::walk::{Held, System, walk};
use ir::execute::Keep;
use ir::round::round_to;
use ir::{DType, DTypes, NodeId, Tensor, Type};
use ops::plain::{self, Plain};
use ops::{Data, Model};

use super::arithmetic::Own;
use super::way::{Halves, Integers, Way};

impl System for Way {
    type A = Own;

    fn arith(&self, dtype: DType) -> Own {
        Own::new(*self, dtype)
    }

    fn load(&self, tensor: &Tensor) -> Data<Own> {
        match plain::load(tensor) {
            Data::Real(a) => Data::Real(a),
            Data::Int(a) => Data::Int(a),
        }
    }

    fn store(&self, _: &Own, data: &mut Data<Own>, dtype: DType, _: bool) {
        let is_half = [DType::F16, DType::BF16].contains(&dtype);
        let stored = if is_half && self.halves == Halves::Wide { DType::F32 } else { dtype };
        match data {
            Data::Real(a) => a.mapv_inplace(|v| round_to(stored, v)),
            Data::Int(a) => a.mapv_inplace(|z| self.whole(z, dtype)),
        }
    }
}

impl Way {
    /// An integer as a tensor of a dtype holds it.
    fn whole(&self, z: i128, dtype: DType) -> i128 {
        let wrapped = dtype.wrap(z);
        match (self.integers, dtype.int_range()) {
            (_, _) if wrapped == z => z,
            (Integers::Saturated, Some((low, high))) => z.clamp(low, high),
            (Integers::ThroughFloat, Some(_)) => dtype.wrap(i64::MIN.into()),
            (Integers::Wrapped, _) | (_, None) => wrapped,
        }
    }
}

/// The outputs of a model; `None` where it has no number that a way to calculate could concern.
pub(super) fn outputs(way: Way, model: &Model, inputs: &[Tensor]) -> Option<Vec<Tensor>> {
    let graphs = model.functions.iter().map(|f| &f.body).chain([&model.graph]);
    let mut types = graphs.flat_map(|graph| &graph.nodes).flat_map(|node| &node.outputs);
    let concerns = |ty: &Type| match way.integers {
        Integers::Wrapped => DTypes::FLOATS.contains(ty.dtype),
        Integers::Saturated | Integers::ThroughFloat => ty.dtype.is_int() && ty.dtype != DType::Bool,
    };
    if types.any(concerns) { run(way, model, inputs) } else { None }
}

/// The outputs of a model.
pub(super) fn run(way: Way, model: &Model, inputs: &[Tensor]) -> Option<Vec<Tensor>> {
    let by_variable: BTreeMap<NodeId, &Tensor> =
        model.graph.variables().map(|(id, ..)| id).zip(inputs).collect();
    let given = |id| by_variable.get(&id).map(|tensor| Held::new(way.load(tensor)));
    let values = walk(&way, model, Keep::Outputs, &given, &mut |_| true)?;
    let tensor = |value| Some(stored(values.get(value)?.as_ref()?.data(&way), model.graph.ty(value)));
    model.graph.outputs.iter().map(|output| tensor(output.value)).collect()
}

/// The elements as a tensor has them.
fn stored(data: &Data<Own>, ty: &Type) -> Tensor {
    let data: Data<Plain<'_>> = match data {
        Data::Real(a) => Data::Real(a.clone()),
        Data::Int(a) => Data::Int(a.clone()),
    };
    plain::store(&data, ty)
}
