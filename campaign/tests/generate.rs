//! What `gen` writes: every element of every output is defined.

use std::sync::atomic::AtomicBool;

use graphgen::Settings;
use harness::invalid::schedule::Levels;
use harness::{Maker, Values};
use interp::Profile;
use onnx::CaseFolder;
use onnxsmith_campaign::generate::Corpus;

#[test]
fn a_case_with_an_undefined_output_element_is_drawn_again() {
    let mut settings = Settings { nodes: 3, ..Settings::default() };
    // Hardmax and the extremes of no elements, and of NaN.
    settings.operators.retain(|name| ["TopK", "ArgMax", "ArgMin", "Hardmax"].contains(name));
    let values = Values::Adversarial;
    let maker = Maker { values, ..Maker::new(0, settings) };
    let folder = tempfile::tempdir().expect("a folder");
    let (levels, out) = (Levels::default(), Some(folder.path()));
    let corpus = Corpus { maker: &maker, levels: &levels, profile: &Profile::DECLARED, count: 60, out };
    let made = corpus.make(2, &AtomicBool::new(false), &mut |_| {}).expect("cases");
    assert!(made.redrawn + made.passed_over > 0, "no case needed it: {made:?}");
    assert_eq!((made.generated, made.all_defined), (60, 60));
    let mut elements = 0;
    for index in 0..60 {
        let case = CaseFolder::read(&folder.path().join(format!("case-{index:06}"))).expect("a case");
        for leeway in &case.sets[0].leeways {
            let mask = leeway.mask.tensor().expect("a tensor").to_i128s();
            assert!(mask.iter().all(|&mask| mask != 2), "case {index}: {mask:?}");
            elements += mask.len();
        }
    }
    assert!(elements > 100, "{elements}");
}
