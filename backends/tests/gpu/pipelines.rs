//! What is compiled, and what is not compiled again.

use ir::DType;
use onnxsmith_backends::wgpu::{Gpu, Which};
use ops::arith::Comparison;
use ops::elementwise::Compare;
use ops::movement::Trilu;

use crate::{apply, gpu, up, wave};

#[test]
fn attributes_are_no_part_of_a_shader_and_dtypes_share_one() {
    let Some(shared) = gpu() else { return };
    // Others compile on the shared device at the same time.
    let gpu = Gpu::open(&Which::Best).unwrap();
    let compiled_by = |run: &dyn Fn()| {
        let before = gpu.compiled();
        run();
        gpu.compiled() - before
    };
    let square = |dtype| up(&gpu, &wave(dtype, &[3, 3]));
    let trilu = |dtype, upper, k| drop(apply(&gpu, Trilu { upper, k }, &[&square(dtype)]).unwrap());
    assert_eq!(compiled_by(&|| trilu(DType::F32, true, 0)), 1);
    assert_eq!(compiled_by(&|| trilu(DType::F32, false, 1)), 0);
    // Both are 32 bits in memory, and moved.
    assert_eq!(compiled_by(&|| trilu(DType::I8, true, 0)), 0);
    let less = |dtype| {
        let x = square(dtype);
        drop(apply(&gpu, Compare(Comparison::Less), &[&x, &x]).unwrap());
    };
    assert_eq!(compiled_by(&|| less(DType::I32)), 1);
    assert_eq!(compiled_by(&|| less(DType::I8)), 0);
    assert_eq!(shared.info(), gpu.info());
}
