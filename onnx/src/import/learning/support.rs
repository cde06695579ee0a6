//! `SVMRegressor`: how near rows are to support vectors, by a kernel.

use ir::{Attributes, Value};

use super::{constant, one, rows, transformed};
use crate::Error;
use crate::import::frame::Bound;
use crate::import::given::GivenAttributes;
use crate::import::translation::{SourceNode, bind};
use crate::import::walk::Walk;

/// SVMRegressor: the sum of each vector's coefficient times the kernel of row and vector, and rho.
pub(super) fn regressor<'p>(walk: &mut Walk<'p, '_>, source: &SourceNode<'p, '_>) -> Result<(), Error> {
    let x = rows(walk, source)?;
    let given = GivenAttributes::of(source);
    let (kernel, params) = (given.text("kernel_type", "LINEAR"), given.floats("kernel_params"));
    let (vectors, coefficients) = (given.floats("support_vectors"), given.floats("coefficients"));
    let (rho, count) = (given.floats("rho"), given.int("n_supports", 0));
    let (transform, one_class) = (given.text("post_transform", "NONE"), given.int("one_class", 0));
    given.finish()?;
    if one_class != 0 || count < 1 {
        return Err(Error::unsupported("attributes", "without support vectors, or for one class"));
    }
    let columns = walk.graph.ty(x).shape[1];
    let vectors = constant(walk, &[count, columns], vectors)?;
    let near = match (kernel.as_str(), params) {
        ("RBF", [gamma, ..]) => radial(walk, x, vectors, *gamma)?,
        ("LINEAR", _) => {
            let across = one(walk, "Transpose", &Attributes::new().ints("perm", &[1, 0]), &[vectors])?;
            one(walk, "MatMul", &Attributes::new(), &[x, across])?
        }
        (other, _) => {
            let why = format!("the kernels are RBF and LINEAR, and no {other}");
            return Err(Error::unsupported("attribute `kernel_type`", why));
        }
    };
    let coefficients = constant(walk, &[count, 1], coefficients)?;
    let rho = constant(walk, &[1], rho)?;
    let sums = one(walk, "Gemm", &Attributes::new(), &[near, coefficients, rho])?;
    let y = transformed(walk, sums, &transform)?;
    bind(walk, source.node, vec![Bound::Tensor(y)])
}

/// exp(-γ · |row - vector|²) for each row and vector.
fn radial(walk: &mut Walk<'_, '_>, x: Value, vectors: Value, gamma: f32) -> Result<Value, Error> {
    let apart = one(walk, "Unsqueeze", &Attributes::new().ints("axes", &[1]), &[x])?;
    let between = one(walk, "Sub", &Attributes::new(), &[apart, vectors])?;
    let sum = Attributes::new().ints("axes", &[2]).int("keepdims", 0);
    let squares = one(walk, "ReduceSumSquare", &sum, &[between])?;
    let gamma = constant(walk, &[], &[-gamma])?;
    let scaled = one(walk, "Mul", &Attributes::new(), &[squares, gamma])?;
    one(walk, "Exp", &Attributes::new(), &[scaled])
}
