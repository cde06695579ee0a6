//! Samples between elements, at positions that are computed.

use ir::{DType, Tensor};
use onnxsmith_interp::{Profile, compare};
use ops::nn::GridSample;
use ops::nn::grid_sample::{Mode, Padding};

use super::{reference_by, tensor};

#[test]
fn positions_of_f64_are_computed_in_it_by_careful_implementations() {
    let sample = GridSample { mode: Mode::Linear, padding: Padding::Zeros, align_corners: true };
    let (image, grid) = (tensor(DType::F64, &[1, 1, 2], &[0.0, 1.0]), tensor(DType::F64, &[1, 1, 1], &[0.2]));
    // Halfway from -1 to 1 the position is 0.5; here it is (0.2 + 1) / 2.
    let (in_f64, in_f32) = ((0.2 + 1.0) * 0.5, f64::from((0.2f32 + 1.0) * 0.5));
    let accepts_by = |profile: &Profile, element: f64| {
        let found = &reference_by(profile, sample, &[image.clone(), grid.clone()]).outputs[0];
        let actual = Tensor::from_f64_fn(&found.tensor.ty(), |_| element);
        compare(found, &actual, profile).unwrap().passes()
    };
    assert!(accepts_by(&Profile::TIGHT, in_f64) && !accepts_by(&Profile::TIGHT, in_f32));
    assert!(accepts_by(&Profile::DECLARED, in_f64) && accepts_by(&Profile::DECLARED, in_f32));
    assert!(!accepts_by(&Profile::DECLARED, in_f64 + 1e-5));
}

/// Where the position is that of an element, to either side of which it may be computed, the line between two elements goes through it.
#[test]
fn a_sample_at_an_element_is_that_element() {
    let image = tensor(DType::F32, &[1, 1, 4], &[-4.0, 3.0, -1.0, 2.0]);
    let grid = tensor(DType::F32, &[1, 4, 1], &[-0.75, -0.25, 0.25, 0.75]);
    for padding in [Padding::Zeros, Padding::Border, Padding::Reflection] {
        let sample = GridSample { mode: Mode::Linear, padding, align_corners: false };
        for profile in [&Profile::TIGHT, &Profile::DECLARED] {
            let y = &reference_by(profile, sample, &[image.clone(), grid.clone()]).outputs[0];
            let errors: Vec<f64> = (0..4).map(|i| y.error_at(i)).collect();
            assert!(errors.iter().all(|error| *error < 1e-4), "{padding:?} {}: {errors:?}", profile.name);
        }
    }
}
