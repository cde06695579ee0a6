//! Rules about declared types.

use ir::DTypes;

use super::site::{Edit, Site, edit};
use super::{Checker, Rule, Scope, Source};
use crate::proto::tensor_shape_proto::{Dimension, dimension};
use crate::proto::{TensorShapeProto, ValueInfoProto, type_proto};
use crate::tensor;

pub(super) const RULES: &[Rule] = &[
    Rule {
        name: "output-dtype",
        clause: "an output has the element type it is declared with",
        scope: Scope::Model,
        source: Source::Ir("Graphs"),
        checker: Checker::Infers,
        says: &["it is declared"],
        edit: output_dtype,
    },
    Rule {
        name: "output-shape",
        clause: "an output has the shape it is declared with",
        scope: Scope::Model,
        source: Source::Ir("Graphs"),
        checker: Checker::Partly(
            "by type inference alone, and not always where the output is one of Compress, GatherND, Slice, GroupNormalization or a call of a \
             function (5 of 300 models)",
        ),
        says: &["it is declared"],
        edit: output_shape,
    },
    Rule {
        name: "value-type",
        clause: "a value has the type that value_info states",
        scope: Scope::Model,
        source: Source::Proto("GraphProto.value_info"),
        checker: Checker::Infers,
        says: &["it is declared"],
        edit: value_type,
    },
];

fn output_dtype(site: &mut Site) -> Option<Edit> {
    let at = site.choose((0..site.graph.output.len()).collect())?;
    let mut info = std::mem::take(&mut site.graph.output[at]);
    let done = change_dtype(site, &mut info);
    site.graph.output[at] = info;
    done
}

fn output_shape(site: &mut Site) -> Option<Edit> {
    let at = site.choose((0..site.graph.output.len()).collect())?;
    let mut info = std::mem::take(&mut site.graph.output[at]);
    let done = change_shape(site, &mut info);
    site.graph.output[at] = info;
    done
}

fn value_type(site: &mut Site) -> Option<Edit> {
    let at = site.choose((0..site.graph.value_info.len()).collect())?;
    let mut info = std::mem::take(&mut site.graph.value_info[at]);
    let done = if site.coin() { change_dtype(site, &mut info) } else { change_shape(site, &mut info) };
    site.graph.value_info[at] = info;
    done
}

fn tensor_type(info: &mut ValueInfoProto) -> Option<&mut type_proto::Tensor> {
    match info.r#type.as_mut()?.value.as_mut()? {
        type_proto::Value::TensorType(tensor) => Some(tensor),
        _ => None,
    }
}

fn change_dtype(site: &mut Site, info: &mut ValueInfoProto) -> Option<Edit> {
    let name = format!("`{}`", info.name());
    let ty = tensor_type(info)?;
    let others = DTypes::IR4.iter().filter(|&d| Some(tensor::code_of(d)) != ty.elem_type);
    let dtype = site.choose(others.collect())?;
    ty.elem_type = Some(tensor::code_of(dtype));
    Some(edit(&name, format!("{name} is declared {dtype}")))
}

/// One size is off by one, or there is one dimension more.
fn change_shape(site: &mut Site, info: &mut ValueInfoProto) -> Option<Edit> {
    let name = format!("`{}`", info.name());
    let shape: &mut TensorShapeProto = tensor_type(info)?.shape.as_mut()?;
    let rank = shape.dim.len();
    let axis = site.choose((0..=rank).collect())?;
    let what = if axis == rank {
        let value = Some(dimension::Value::DimValue(1));
        shape.dim.push(Dimension { value, ..Default::default() });
        format!("{name} is declared with a further dimension")
    } else {
        let Some(dimension::Value::DimValue(size)) = shape.dim[axis].value.as_mut() else { return None };
        *size += 1;
        format!("dimension {axis} of {name} is declared {size}")
    };
    Some(edit(name, what))
}
