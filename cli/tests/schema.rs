//! docs/case.schema.json describes the `case.json` that the program writes: it is valid by the schema, and no key is left out.

mod program;

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

fn onnxsmith(folder: &Path, args: &[&str]) {
    let output = program::onnxsmith(folder, &[args, &["--quiet"]].concat());
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(matches!(output.status.code(), Some(0 | 1)), "{args:?}: {said}");
}

/// Every `case.json` below a folder.
fn descriptions(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            descriptions(&path, found);
        } else if path.ends_with("case.json") {
            found.push(path);
        }
    }
}

/// What is wrong with a value by a schema, one line for each thing. It knows the keywords that the schema uses and fails on
/// any other; and a key that the schema does not name is wrong here, though the schema allows it to others.
struct Checker<'a> {
    root: &'a Value,
}

impl Checker<'_> {
    fn check(&self, schema: &Value, value: &Value, at: &str, wrong: &mut Vec<String>) {
        let schema = schema.as_object().expect("a schema is an object");
        for (keyword, what) in schema {
            match keyword.as_str() {
                "$schema" | "title" | "description" | "$defs" => {}
                "$ref" => {
                    let place =
                        what.as_str().and_then(|r| r.strip_prefix('#')).expect("a place in the schema");
                    let target = self.root.pointer(place).unwrap_or_else(|| panic!("there is no {place}"));
                    self.check(target, value, at, wrong);
                }
                "anyOf" => {
                    let fits = |one: &Value| {
                        let mut wrong = Vec::new();
                        self.check(one, value, at, &mut wrong);
                        wrong.is_empty()
                    };
                    note(wrong, at, what.as_array().expect("schemas").iter().any(fits), "fits none");
                }
                "enum" => {
                    note(wrong, at, what.as_array().expect("values").contains(value), "is no such word");
                }
                "type" => {
                    let one = std::slice::from_ref(what);
                    let types = what.as_array().map_or(one, Vec::as_slice);
                    note(wrong, at, types.iter().any(|t| is_of(value, t)), "has another type");
                }
                "minimum" => {
                    let least = what.as_f64().expect("a number");
                    note(wrong, at, value.as_f64().is_none_or(|v| v >= least), "is too small");
                }
                "minItems" | "maxItems" | "minProperties" | "maxProperties" => {
                    let count =
                        value.as_array().map(Vec::len).or(value.as_object().map(Map::len)).unwrap_or(0);
                    let limit = what.as_u64().expect("a number") as usize;
                    let holds = if keyword.starts_with("min") { count >= limit } else { count <= limit };
                    note(wrong, at, holds, keyword);
                }
                "required" => {
                    for key in what.as_array().expect("keys").iter().filter_map(Value::as_str) {
                        note(wrong, at, value.get(key).is_some(), &format!("lacks `{key}`"));
                    }
                }
                "items" => {
                    for (i, item) in value.as_array().into_iter().flatten().enumerate() {
                        self.check(what, item, &format!("{at}[{i}]"), wrong);
                    }
                }
                "properties" => {
                    for (key, held) in value.as_object().into_iter().flatten() {
                        let at = format!("{at}.{key}");
                        match what.get(key) {
                            Some(schema) => self.check(schema, held, &at, wrong),
                            None => wrong.push(format!("{at} is not described")),
                        }
                    }
                }
                other => panic!("the keyword `{other}` is unknown here"),
            }
        }
    }
}

fn note(wrong: &mut Vec<String>, at: &str, holds: bool, what: &str) {
    if !holds {
        wrong.push(format!("{at} {what}"));
    }
}

fn is_of(value: &Value, name: &Value) -> bool {
    match name.as_str().expect("the name of a type") {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_u64() || value.is_i64(),
        "number" => value.is_number(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        other => panic!("there is no type `{other}`"),
    }
}

fn schema() -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/case.schema.json");
    serde_json::from_slice(&fs::read(path).expect("the schema")).expect("JSON")
}

fn wrong(schema: &Value, value: &Value) -> Vec<String> {
    let mut wrong = Vec::new();
    Checker { root: schema }.check(schema, value, "case.json", &mut wrong);
    wrong
}

#[test]
fn the_schema_describes_every_case_that_is_written() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    onnxsmith(at, &["gen", "--count", "30", "--nodes", "6", "--out", "valid"]);
    for profile in interp::Profile::ALL.map(|profile| profile.name) {
        onnxsmith(at, &["gen", "--count", "3", "--nodes", "3", "--profile", profile, "--out", profile]);
    }
    onnxsmith(at, &["gen", "--count", "12", "--nodes", "4", "--level", "violate", "--out", "relaxed"]);
    // It finds that rten gives +0 for the sign of -0, and takes what is not valid.
    let narrow = ["--ops", "Sign,Relu,Add", "--dtypes", "f32", "--nodes", "2"];
    let asked = ["--oracles", "differential,metamorphic", "--level", "adaptive", "--cases", "120"];
    onnxsmith(at, &[&["fuzz", "--on", "rten:all", "--out", "found"], &narrow[..], &asked].concat());
    // A finding that is written up says what it is of itself, and which question shows it.
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../corpus");
    for name in ["rten-0.27/sign-zero", "tract-0.23/nnef-shape"] {
        let finding = corpus.join(name);
        onnxsmith(
            at,
            &["show", finding.to_str().expect("a path in UTF-8"), "--out", &format!("written-up/{name}")],
        );
    }
    let mut all = Vec::new();
    descriptions(at, &mut all);
    let schema = schema();
    let mut keys = std::collections::BTreeSet::new();
    for path in &all {
        let about: Value = serde_json::from_slice(&fs::read(path).expect("a file")).expect("JSON");
        assert_eq!(wrong(&schema, &about), Vec::<String>::new(), "{}: {about:#}", path.display());
        let filled = about.as_object().expect("an object").iter();
        keys.extend(filled.filter(|(_, v)| !v.is_null() && **v != json!([])).map(|(key, _)| key.clone()));
    }
    let described = schema["properties"].as_object().expect("keys").keys();
    for key in described {
        assert!(keys.contains(key), "no case of {} has `{key}`", all.len());
    }
}

#[test]
fn the_schema_refuses_what_is_none() {
    let schema = schema();
    for (case, part) in [
        (json!([]), "another type"),
        (json!({"zero_sign": "maybe"}), "case.json.zero_sign is no such word"),
        (json!({"atol": -1.0}), "too small"),
        (json!({"bounds": [{"name": "y", "largest": 0.0, "undecidable": 0}]}), "bounds[0] lacks `undefined`"),
        (
            json!({"findings": [{"backend": "x", "level": "all", "culprit": null, "detail": "", "symptom": "odd"}]}),
            "fits none",
        ),
        (json!({"profil": "tight"}), "not described"),
    ] {
        let found = wrong(&schema, &case);
        assert!(found.iter().any(|line| line.contains(part)), "{case}: {found:?}");
    }
    assert!(wrong(&schema, &json!({"rtol": 1e-3, "atol": 1})).is_empty());
}
