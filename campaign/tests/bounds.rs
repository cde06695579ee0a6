//! What is written beside a case for other judges says the same as our own judge does.

use std::fs;
use std::path::Path;

use graphgen::Settings;
use harness::{Case, Maker, Values, case};
use interp::{Bounded, Profile, Taps};
use ir::Tensor;
use onnx::CaseFolder;
use onnx::case::Leeway;
use triage::folder::{self, About, ZeroSign};

fn cases(count: u64) -> impl Iterator<Item = Case> {
    let maker =
        Maker { values: Values::Mixed, ..Maker::new(5, Settings { nodes: 6, ..Settings::default() }) };
    (0..count).map(move |index| maker.make(index).expect("a case"))
}

/// The rule of docs/cases.md, element by element, for those who know no more than the folder.
fn accepts(expected: &Tensor, actual: &Tensor, leeway: &Leeway, zero_sign: ZeroSign) -> Vec<bool> {
    let (bounds, masks) = (
        leeway.bound.tensor().expect("a tensor").to_f64s(),
        leeway.mask.tensor().expect("a tensor").to_i128s(),
    );
    if !expected.dtype().is_float() {
        let pairs = expected.to_i128s().into_iter().zip(actual.to_i128s());
        let judged =
            |((e, a), (bound, mask)): ((i128, i128), (f64, i128))| mask != 0 || a.abs_diff(e) as f64 <= bound;
        return pairs.zip(bounds.into_iter().zip(masks)).map(judged).collect();
    }
    let pairs = expected.to_f64s().into_iter().zip(actual.to_f64s());
    let judged = |((e, a), (bound, mask)): ((f64, f64), (f64, i128))| {
        let same_sign =
            e != 0.0 || zero_sign == ZeroSign::Ignored || e.is_sign_negative() == a.is_sign_negative();
        match (mask, bound > 0.0) {
            (1 | 2, _) => true,
            (_, true) => (a - e).abs() <= bound,
            (_, false) => (e.is_nan() && a.is_nan()) || (a == e && same_sign),
        }
    };
    pairs.zip(bounds.into_iter().zip(masks)).map(judged).collect()
}

/// The tensor with each element changed in some way.
fn changed(output: &Bounded, how: usize) -> Tensor {
    let tensor = &output.tensor;
    let ty = tensor.ty();
    let Some(format) = ty.dtype.float() else {
        let values = tensor.to_i128s();
        return Tensor::from_i128_fn(&ty, |i| ty.dtype.wrap(values[i] + [0, 1, -1, 7][(i + how) % 4]));
    };
    let values = tensor.to_f64s();
    Tensor::from_f64_fn(&ty, |i| {
        let (v, error) = (values[i], Some(output.error_at(i)).filter(|e| e.is_finite()).unwrap_or(1.0));
        match (i + how) % 10 {
            0 => v,
            1 => -v,
            2 => v + error,
            3 => v - error,
            4 => v + error + format.ulp(v),
            5 => v + format.ulp(v),
            6 => f64::NAN,
            7 => f64::INFINITY,
            8 => f64::NEG_INFINITY,
            _ => 0.0,
        }
    })
}

/// Our own judge's word on one element.
fn ours(output: &Bounded, actual: &Tensor, profile: &Profile, i: usize) -> bool {
    // All other elements are those of the reference.
    let ty = output.tensor.ty();
    let one = if ty.dtype.is_float() {
        let (right, changed) = (output.tensor.to_f64s(), actual.to_f64s());
        Tensor::from_f64_fn(&ty, |k| if k == i { changed[k] } else { right[k] })
    } else {
        let (right, changed) = (output.tensor.to_i128s(), actual.to_i128s());
        Tensor::from_i128_fn(&ty, |k| if k == i { changed[k] } else { right[k] })
    };
    interp::compare(output, &one, profile).expect("the same type").passes()
}

#[test]
fn an_outside_judge_accepts_what_ours_accepts() {
    let dir = tempfile::tempdir().expect("a folder");
    let (mut accepted, mut refused, mut masked) = (0, 0, 0);
    for (number, case) in cases(100).enumerate() {
        let profile = Profile::ALL[number % Profile::ALL.len()];
        let inputs = case::tensors(&case.inputs);
        let outputs =
            interp::evaluate(&case.model, &inputs, profile, Taps::Outputs).expect("a reference").outputs;
        let path = dir.path().join(format!("case-{number}"));
        folder::save(&path, 5, &case, profile, &outputs, &[], None).expect("it is written");
        let read = CaseFolder::read(&path).expect("it is read");
        let about = About::read(&read).expect("case.json");
        assert_eq!(about.profile.as_deref(), Some(profile.name));
        let zero_sign = about.zero_sign.expect("a judge has to know");
        let set = &read.sets[0];
        for ((output, stored), leeway) in outputs.iter().zip(&set.outputs).zip(&set.leeways) {
            for how in 0..10 {
                let actual = changed(output, how);
                let outside = accepts(stored.datum.tensor().expect("a tensor"), &actual, leeway, zero_sign);
                for (i, accept) in outside.into_iter().enumerate().take(24) {
                    let wanted = ours(output, &actual, profile, i);
                    // The folder does not say what may be instead of a number that overflows, or of NaN: it is masked. Nor that an
                    // integer may be off on one side alone.
                    let [below, above] = output.sides_at(i);
                    let is_stricter = (output.limit_at(i).is_some() || below != above) && !wanted;
                    let place = format!("case {number}, {}, element {i}, way {how}", profile.name);
                    assert!(accept == wanted || (accept && is_stricter), "{place}");
                    *(if accept { &mut accepted } else { &mut refused }) += 1;
                }
            }
            masked +=
                leeway.mask.tensor().expect("a tensor").to_i128s().iter().filter(|&&mask| mask != 0).count();
        }
    }
    assert!(accepted > 1000 && refused > 1000 && masked > 20, "{accepted} {refused} {masked}");
}

#[test]
fn the_fixed_tolerance_takes_what_is_within_the_bounds() {
    let dir = tempfile::tempdir().expect("a folder");
    let mut compared = 0;
    for (number, case) in cases(40).enumerate() {
        let inputs = case::tensors(&case.inputs);
        let profile = &Profile::DECLARED;
        let outputs =
            interp::evaluate(&case.model, &inputs, profile, Taps::Outputs).expect("a reference").outputs;
        let path = dir.path().join(format!("case-{number}"));
        folder::save(&path, 5, &case, profile, &outputs, &[], None).expect("it is written");
        let about = About::read(&CaseFolder::read(&path).expect("it is read")).expect("case.json");
        let pairs = [(about.rtol.expect("rtol"), about.atol.expect("atol"))].into_iter().cycle();
        let own = about.bounds.iter().map(|bounds| (bounds.rtol, bounds.atol));
        for ((output, all), own) in outputs.iter().zip(pairs).zip(own) {
            let judged = output.tensor.to_f64s().into_iter().enumerate();
            for (i, value) in judged.filter(|(_, v)| v.is_finite()) {
                let bound = output.error_at(i);
                // The bound of a zero of either sign: no number but a zero lies inside.
                let is_sign = value == 0.0 && bound < 1e-300;
                if bound.is_infinite() || is_sign {
                    continue;
                }
                compared += 1;
                for (rtol, atol) in [all, own] {
                    assert!(bound <= atol + rtol * value.abs(), "case {number}: {value} ± {bound}");
                }
            }
        }
    }
    assert!(compared > 200, "{compared}");
}

/// The files that another tool looks for.
#[test]
fn bounds_lie_beside_the_data_set_that_they_belong_to() {
    let dir = tempfile::tempdir().expect("a folder");
    let case = cases(1).next().expect("a case");
    let inputs = case::tensors(&case.inputs);
    let outputs =
        interp::evaluate(&case.model, &inputs, &Profile::TIGHT, Taps::Outputs).expect("a reference");
    let path = dir.path().join("case");
    folder::save(&path, 5, &case, &Profile::TIGHT, &outputs.outputs, &[], None).expect("it is written");
    let names = |folder: &Path| {
        let mut names: Vec<String> = fs::read_dir(folder)
            .expect("a folder")
            .map(|e| e.expect("an entry").file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    };
    assert_eq!(names(&path), ["bounds_set_0", "case.json", "model.onnx", "test_data_set_0"]);
    let count = outputs.outputs.len();
    let wanted: Vec<String> =
        ["bound", "mask"].iter().flat_map(|p| (0..count).map(move |i| format!("{p}_{i}.pb"))).collect();
    let mut wanted = wanted;
    wanted.sort();
    assert_eq!(names(&path.join("bounds_set_0")), wanted);
}
