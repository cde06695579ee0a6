//! Each thing that a check must find is planted in a small corpus.

use std::fs;

use super::*;

const FINDING: &str = r#"says = '1'
right = '0'
judgement = 'bug'
upstream = 'not reported'
versions = '0.27'
expires = '2027-06-30'

[[signatures]]
pattern = 'rten | Sign f32 * | mismatch gross'

[case]
model = '''
onnxsmith 1 opset 17
graph {
  %0: f32[1] = variable "x"
  %1: f32[1] = Sign(%0)
  return "y" = %1
}
'''
inputs.x = 'f32[1] {0.0}'
outputs.y = 'f32[1] {0.0}'
"#;

/// A repository with one finding, and with what is generated from it.
struct Repository(tempfile::TempDir);

impl Repository {
    fn new() -> Self {
        let new = Self(tempfile::tempdir().unwrap());
        new.put(
            "corpus/rten-0.27/engine.toml",
            "title = 'rten 0.27.0'\nengine = 'rten'\nbefore = 'Found.'\n",
        );
        new.put("corpus/rten-0.27/sign-zero/finding.toml", FINDING);
        new.generate();
        new
    }

    fn path(&self, file: &str) -> PathBuf {
        self.0.path().join(file)
    }

    fn put(&self, file: &str, text: &str) {
        fs::create_dir_all(self.path(file).parent().unwrap()).unwrap();
        fs::write(self.path(file), text).unwrap();
    }

    fn generate(&self) {
        bring(self.0.path(), date("2027-06-30"), Mode::Write).unwrap();
    }

    /// What the check complains of, on a day.
    fn complaint(&self, today: &str) -> String {
        format!("{:#}", bring(self.0.path(), date(today), Mode::Check).unwrap_err())
    }
}

fn date(text: &str) -> Date {
    text.parse().unwrap()
}

/// The complaint about one finding that is as given, and about nothing generated.
fn about(finding: &str) -> String {
    let repository = Repository::new();
    repository.put("corpus/rten-0.27/sign-zero/finding.toml", finding);
    let _ = bring(repository.0.path(), date("2027-06-30"), Mode::Write);
    repository.complaint("2027-06-30")
}

#[test]
fn what_is_complete_and_fresh_passes() {
    let repository = Repository::new();
    bring(repository.0.path(), date("2027-06-30"), Mode::Check).unwrap();
    let known = fs::read_to_string(repository.path("known.toml")).unwrap();
    assert!(
        known.contains("signature = 'rten | Sign f32 * | mismatch gross'\nversions = '0.27'\n"),
        "{known}"
    );
    assert!(known.contains("finding = 'corpus/rten-0.27/sign-zero'\n"), "{known}");
    let page = fs::read_to_string(repository.path("corpus/rten-0.27/README.md")).unwrap();
    assert!(page.contains("| [`sign-zero`](sign-zero/finding.toml) | 1 | 0 | bug |  |"), "{page}");
}

#[test]
fn a_finding_without_signature_says_why() {
    let bare = FINDING.replace("[[signatures]]\npattern = 'rten | Sign f32 * | mismatch gross'\n", "");
    let complaint = about(&bare);
    assert!(complaint.contains("sign-zero/finding.toml: it has no signature"), "{complaint}");
    let why = |why: &str| bare.replace("expires =", &format!("unmet = '{why}'\nexpires ="));
    assert!(about(&why(" ")).contains("`unmet` is empty"));
    let repository = Repository::new();
    repository.put("corpus/rten-0.27/sign-zero/finding.toml", &why("found by hand"));
    repository.generate();
    let both = FINDING.replace("expires =", "unmet = 'found by hand'\nexpires =");
    assert!(about(&both).contains("`unmet` says that it has none"));
}

#[test]
fn a_signature_without_finding_is_named() {
    let repository = Repository::new();
    let known = fs::read_to_string(repository.path("known.toml")).unwrap();
    let stray = known.replace("Sign f32", "Sine f32") + &known[known.find("\n[[known]]").unwrap()..];
    repository.put("known.toml", &stray);
    let complaint = repository.complaint("2027-06-30");
    assert!(
        complaint.contains("`rten | Sine f32 * | mismatch gross` is no signature of a finding"),
        "{complaint}"
    );
    assert!(!complaint.contains("`rten | Sign f32"), "{complaint}");
    let elsewhere = known.replace("sign-zero", "gone");
    repository.put("known.toml", &elsewhere);
    assert!(repository.complaint("2027-06-30").contains("of a finding corpus/rten-0.27/gone"));
}

#[test]
fn a_date_passes() {
    let complaint = Repository::new().complaint("2027-07-01");
    assert!(complaint.contains("sign-zero/finding.toml: it expired on 2027-06-30"), "{complaint}");
}

#[test]
fn a_signature_belongs_to_one_finding_of_its_engine() {
    let repository = Repository::new();
    repository.put("corpus/rten-0.27/other/finding.toml", FINDING);
    let complaint = repository.complaint("2027-06-30");
    let both = "corpus/rten-0.27/other, corpus/rten-0.27/sign-zero";
    assert!(complaint.contains("mismatch gross` is given twice") && complaint.contains(both), "{complaint}");
    assert!(about(&FINDING.replace("rten | Sign", "tract | Sign")).contains("is no signature of rten"));
}

#[test]
fn a_generated_file_is_fresh() {
    for file in ["known.toml", "corpus/README.md", "corpus/rten-0.27/README.md"] {
        let repository = Repository::new();
        let text = fs::read_to_string(repository.path(file)).unwrap();
        repository.put(file, &(text + "# by hand\n"));
        let complaint = repository.complaint("2027-06-30");
        assert!(complaint.contains(&format!("{file} is stale: run `cargo xtask corpus`")), "{complaint}");
        repository.generate();
        bring(repository.0.path(), date("2027-06-30"), Mode::Check).unwrap();
    }
}

#[test]
fn a_finding_is_read_with_its_case() {
    let complaint = about(&FINDING.replace("says", "syas"));
    assert!(
        complaint.contains("corpus/rten-0.27/sign-zero/finding.toml:1: unknown field `syas`"),
        "{complaint}"
    );
    let start = FINDING.find("model =").unwrap();
    let bytes = FINDING[..start].to_owned() + "bytes = 'an attribute twice'\n";
    assert!(about(&bytes).contains("its case cannot be read"));
    assert!(about(&FINDING.replace("'1'", "''")).contains("`says` is empty"));
    let repository = Repository::new();
    repository.put("corpus/rten-0.27/sign-zero/model.onnx", "");
    assert!(repository.complaint("2027-06-30").contains("`model.onnx` belongs to nothing"));
    repository.put("corpus/rten-0.27/empty/notes", "");
    assert!(repository.complaint("2027-06-30").contains("corpus/rten-0.27/empty/finding.toml: "));
}

#[test]
fn a_saved_case_becomes_a_finding_that_a_person_completes() {
    let repository = Repository::new();
    let saved = repository.path("saved");
    triage::stored::read(&repository.path("corpus/rten-0.27/sign-zero")).unwrap().write(&saved).unwrap();
    let (root, today) = (repository.0.path(), date("2027-06-30"));
    add::add(root, &saved, "rten-0.27/again", today).unwrap();
    let told = fs::read_to_string(repository.path("corpus/rten-0.27/again/finding.toml")).unwrap();
    let case = |text: &str| text[text.find("[case]").unwrap()..].to_owned();
    assert_eq!(case(&told), case(FINDING));
    assert!(told.contains("versions = '0.27'\nexpires = '2028-06-30'\n"), "{told}");
    let lacking = format!("{:#}", bring(root, today, Mode::Write).unwrap_err());
    assert!(lacking.contains("again/finding.toml: `right` is empty"), "{lacking}");

    let refused = |name: &str| format!("{:#}", add::add(root, &saved, name, today).unwrap_err());
    assert!(refused("rten-0.27/again").contains("is there already"));
    assert!(refused("rten").contains("does not name a finding"));
    assert!(refused("rten-0.27/../new").contains("has more in it"));
    assert!(refused("rten-0.28/new").contains("has no engine.toml"));
}
