//! What `gen` writes: every element of every output is defined.

use std::fs;
use std::sync::atomic::AtomicBool;

use graphgen::Settings;
use harness::invalid::schedule::Levels;
use harness::{Maker, Values};
use interp::Profile;
use onnx::CaseFolder;
use onnxsmith_campaign::generate::{Corpus, continuable};

#[test]
fn a_case_with_an_undefined_output_element_is_drawn_again() {
    let mut settings = Settings { nodes: 3, ..Settings::default() };
    // Hardmax and the extremes of no elements, and of NaN.
    settings.operators.retain(|name| ["TopK", "ArgMax", "ArgMin", "Hardmax"].contains(name));
    let values = Values::Adversarial;
    let maker = Maker { values, ..Maker::new(0, settings) };
    let folder = tempfile::tempdir().expect("a folder");
    let (levels, out) = (Levels::default(), Some(folder.path()));
    let corpus =
        Corpus { maker: &maker, levels: &levels, profile: &Profile::DECLARED, first: 0, count: 60, out };
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

/// A folder with the cases of some numbers.
fn cases(first: u64, count: u64) -> tempfile::TempDir {
    let maker =
        Maker { values: Values::Plain, ..Maker::new(3, Settings { nodes: 2, ..Settings::default() }) };
    let folder = tempfile::tempdir().expect("a folder");
    let (levels, out) = (Levels::default(), Some(folder.path()));
    let corpus = Corpus { maker: &maker, levels: &levels, profile: &Profile::DECLARED, first, count, out };
    let made = corpus.make(2, &AtomicBool::new(false), &mut |_| {}).expect("cases");
    assert_eq!(made.generated, count);
    folder
}

#[test]
fn a_case_is_the_same_whichever_is_the_first() {
    let (all, some) = (cases(0, 6), cases(4, 2));
    let mut names: Vec<_> = fs::read_dir(some.path()).expect("a folder").flatten().collect();
    names.sort_by_key(fs::DirEntry::file_name);
    assert_eq!(names.iter().map(fs::DirEntry::file_name).collect::<Vec<_>>(), ["case-000004", "case-000005"]);
    for name in names {
        let [one, other] = [&all, &some].map(|folder| folder.path().join(name.file_name()));
        assert_eq!(CaseFolder::read(&one).expect("a case"), CaseFolder::read(&other).expect("a case"));
    }
}

#[test]
fn a_folder_goes_on_with_cases_of_its_seed_alone() {
    let folder = cases(0, 2);
    continuable(folder.path(), 3).expect("cases of this seed");
    let told = |seed: u64| continuable(folder.path(), seed).expect_err("it is refused").to_string();
    assert!(told(4).contains("holds cases of the seed 3"), "{}", told(4));
    fs::write(folder.path().join("notes.txt"), "").expect("a file");
    assert!(told(3).contains("notes.txt"), "{}", told(3));
}

#[test]
fn what_is_whole_is_told_where_a_case_cannot_be_written() {
    let maker = Maker { values: Values::None, ..Maker::new(3, Settings { nodes: 1, ..Settings::default() }) };
    let folder = tempfile::tempdir().expect("a folder");
    // A file is in the place of the case.
    fs::write(folder.path().join("case-000007"), "").expect("a file");
    let (levels, out) = (Levels::default(), Some(folder.path()));
    let corpus =
        Corpus { maker: &maker, levels: &levels, profile: &Profile::DECLARED, first: 5, count: 9, out };
    let unfinished = corpus.make(1, &AtomicBool::new(false), &mut |_| {}).expect_err("a case is not written");
    assert_eq!((unfinished.whole, unfinished.next), (2, 7), "{unfinished}");
}
