//! Every case in `corpus/` holds on our own engines: what is reported against a runtime has to be right itself.

use std::path::{Path, PathBuf};

use backends::engines::models::OnModels;
use harness::Target;
use harness::reference::Reference;
use onnxsmith_campaign::replay::{Grade, Replay, replay};
use oracles::Tolerance;

fn cases() -> Vec<PathBuf> {
    let folders = |path: &Path| -> Vec<PathBuf> {
        let entries = std::fs::read_dir(path).expect("corpus/ can be listed");
        entries.map(|e| e.expect("an entry").path()).filter(|p| p.is_dir()).collect()
    };
    let runtimes = folders(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../corpus"));
    let mut cases: Vec<PathBuf> = runtimes.iter().flat_map(|runtime| folders(runtime)).collect();
    cases.sort();
    cases
}

fn all_pass(tolerance: Option<Tolerance>) {
    let cases = cases();
    assert!(!cases.is_empty());
    let mut targets = Target::here(Box::new(OnModels::new(Reference)));
    targets.extend(Target::here(Box::new(backends::cpu::CpuEngine::default())));
    let how = Replay { tolerance, ..Replay::on(&targets) };
    let replayed = replay(&cases, &how, &|| {});
    // Of an output that is wholly undecidable, nobody knows better.
    let mut wrong = replayed.not_passing;
    wrong.retain(|answer| answer.outcome != Grade::Plausible);
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn our_engines_are_right_on_every_finding_within_the_derived_bounds() {
    all_pass(None);
}

/// The stored outputs are what the reference gave when the finding was added, some of them worked out by hand from the
/// ONNX text: this holds engines and reference to what was looked at then.
#[test]
fn our_engines_give_the_stored_outputs_of_every_finding() {
    all_pass(Some(Tolerance { relative: 1e-6, absolute: 0.0 }));
}
