//! docs/json.md says what `--json` prints: every key that a command prints is in its table there, with its type, and
//! every key that the table has without an "Only" is printed.

mod program;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

/// What the page says of a value.
#[derive(Default)]
struct Described {
    /// The words for what it may be; none where rows below it say that it is an object or a list.
    types: Vec<String>,
    /// The sections with more of its keys.
    sections: Vec<String>,
    /// Whether it may be left out.
    is_optional: bool,
    keys: BTreeMap<String, Described>,
    /// What each value is of an object whose keys are names: of operators, targets and the like.
    named: Option<Box<Described>>,
    /// What each item of a list is.
    item: Option<Box<Described>>,
}

impl Described {
    /// Takes a row of a table.
    fn take(&mut self, [key, types, meaning]: [&str; 3]) {
        let path = key.trim_matches('`');
        let plain = path.trim_end_matches('…');
        let mut at = &mut *self;
        let mut segments = plain.split('.').filter(|segment| !segment.is_empty()).peekable();
        while let Some(segment) = segments.next() {
            let name = segment.trim_end_matches("[]");
            at = if name.starts_with('<') {
                &mut **at.named.get_or_insert_default()
            } else {
                at.keys.entry(name.to_owned()).or_default()
            };
            if segments.peek().is_none() {
                at.is_optional |= meaning.starts_with("Only ");
            }
            for _ in 0..segment.matches("[]").count() {
                at = &mut **at.item.get_or_insert_default();
            }
        }
        for word in types.split(" or ") {
            match word.split_once("](#") {
                Some((_, section)) => at.sections.push(section.trim_end_matches(')').to_owned()),
                None => at.types.push(word.to_owned()),
            }
        }
        // A section that is merged into an object says nothing of what else the object may be.
        if plain == path && !at.sections.is_empty() {
            at.types.push("object".to_owned());
        }
    }

    /// Whether it may be of the type of this value.
    fn allows(&self, value: &Value) -> bool {
        if self.types.is_empty() {
            return if self.item.is_some() { value.is_array() } else { value.is_object() };
        }
        self.types.iter().any(|word| is_of(value, word))
    }
}

fn is_of(value: &Value, word: &str) -> bool {
    match word {
        "anything" => true,
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_u64() || value.is_i64(),
        "number" => value.is_number(),
        "string" => value.is_string(),
        "list" => value.is_array(),
        "object" => value.is_object(),
        other => panic!("the page has an unknown type `{other}`"),
    }
}

/// The tables of the page, by what links to their sections say.
struct Page {
    sections: BTreeMap<String, Described>,
}

impl Page {
    fn read() -> Self {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/json.md");
        Self::of(&fs::read_to_string(path).expect("the page"))
    }

    fn of(text: &str) -> Self {
        let mut sections: BTreeMap<String, Described> = BTreeMap::new();
        let mut section = String::new();
        for line in text.lines() {
            if let Some(heading) = line.strip_prefix("## ") {
                section = anchor(heading);
            } else if let Some(row) = line.strip_prefix("| `").and_then(|row| row.strip_suffix(" |")) {
                // The table that says how to read the others has two columns.
                let cells: Vec<&str> = row.split(" | ").collect();
                if let Ok(cells) = <[&str; 3]>::try_from(cells) {
                    sections.entry(section.clone()).or_default().take(cells);
                }
            }
        }
        Self { sections }
    }

    fn section(&self, name: &str) -> &Described {
        self.sections.get(name).unwrap_or_else(|| panic!("the page has no table `{name}`"))
    }

    /// What is said of the keys of an object: its own rows, then those of the sections that they lead to.
    fn all_of<'a>(&'a self, described: &'a Described) -> Vec<&'a Described> {
        let linked = described.sections.iter().flat_map(|name| self.all_of(self.section(name)));
        std::iter::once(described).chain(linked).collect()
    }

    /// Collects what the page does not say of a value, or says otherwise.
    fn check(&self, described: &Described, value: &Value, at: &str, wrong: &mut Vec<String>) {
        if described.types.iter().any(|word| word == "anything") {
            return;
        }
        if !described.allows(value) {
            wrong.push(format!("{at} has another type: {value}"));
            return;
        }
        let all = self.all_of(described);
        if let Value::Object(object) = value {
            for (key, held) in object {
                let here = format!("{at}.{key}");
                let named = || all.iter().find_map(|one| one.named.as_deref());
                match all.iter().find_map(|one| one.keys.get(key)).or_else(named) {
                    Some(described) => self.check(described, held, &here, wrong),
                    None => wrong.push(format!("{here} is not described")),
                }
            }
            let due = all.iter().flat_map(|one| &one.keys).filter(|(_, one)| !one.is_optional);
            let missing = due.filter(|(key, _)| !object.contains_key(*key));
            wrong.extend(missing.map(|(key, _)| format!("{at}.{key} is missing")));
        }
        for (number, item) in value.as_array().into_iter().flatten().enumerate() {
            let here = format!("{at}[{number}]");
            match described.item.as_deref() {
                Some(described) => self.check(described, item, &here, wrong),
                None => wrong.push(format!("{here} is not described")),
            }
        }
    }

    fn wrong(&self, section: &str, value: &Value) -> Vec<String> {
        let mut wrong = Vec::new();
        self.check(self.section(section), value, section, &mut wrong);
        wrong
    }
}

/// What a link to a heading says behind `#`.
fn anchor(heading: &str) -> String {
    let kept = |c: &char| c.is_alphanumeric() || [' ', '-', '_'].contains(c);
    heading.to_lowercase().chars().filter(kept).map(|c| if c == ' ' { '-' } else { c }).collect()
}

/// What a command prints.
fn printed(folder: &Path, args: &[&str]) -> Value {
    let output = program::onnxsmith(folder, &[args, &["--json", "--quiet"]].concat());
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(matches!(output.status.code(), Some(0 | 1)), "{args:?}: {said}");
    let value: Value = serde_json::from_slice(&output.stdout).expect("one JSON object");
    let sorted = serde_json::to_string_pretty(&value).expect("JSON");
    let is_sorted = String::from_utf8_lossy(&output.stdout).trim_end() == sorted;
    assert!(is_sorted, "{args:?} prints keys in another order than that of the alphabet");
    value
}

/// Asserts that what commands print is what the tables of these sections say.
fn assert_described(folder: &Path, commands: &[(&str, &[&str])]) {
    let page = Page::read();
    for (section, args) in commands {
        let value = printed(folder, args);
        assert_eq!(page.wrong(section, &value), Vec::<String>::new(), "{args:?}");
    }
}

fn finding(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../corpus").join(name)
}

/// A branch that does not run, a size and an input that nobody gives.
const MODEL: &str = r#"<ir_version: 8, opset_import: ["" : 17]>
g (float[N] x, bool c) => (float[N] z)
{
    y = If (c) <then_branch = t () => (float[N] a) { a = Relu(x) }, else_branch = e () => (float[N] b) { b = Neg(x) }>
    z = Relu(y)
}
"#;

#[test]
fn campaigns_print_what_the_page_says() {
    let folder = tempfile::tempdir().expect("a folder");
    // It finds that rten gives +0 for the sign of -0, and takes what is not valid.
    let rten: &[&str] = &["--ops", "Sign,Relu,Add", "--dtypes", "f32", "--nodes", "2", "--level", "adaptive"];
    let asked: &[&str] =
        &["fuzz", "--on", "rten:all", "--oracles", "differential,metamorphic", "--out", "found"];
    let first = [asked, rten, &["--cases", "120"]].concat();
    let more = [asked, rten, &["--cases", "130", "--resume"]].concat();
    let small: &[&str] = &["fuzz", "--on", "cpu", "--ops", "Relu,Add", "--cases", "70", "--nodes", "3"];
    let part = |which, out| [small, &["--shard", which, "--out", out]].concat();
    let (one, two) = (part("1/2", "one"), part("2/2", "two"));
    assert_described(
        folder.path(),
        &[
            ("fuzz-and-merge", &first),
            ("fuzz-and-merge", &more),
            ("fuzz-and-merge", &one),
            ("fuzz-and-merge", &two),
            ("fuzz-and-merge", &["merge", "one", "two", "--out", "both"]),
            ("watch", &["watch", "found"]),
            ("report", &["report", "found"]),
            ("known-accept", &["known", "accept", "found", "--list", "known.toml"]),
            ("report", &["report", "found", "--known", "known.toml"]),
            ("known-migrate", &["known", "migrate", "found", "--list", "known.toml", "--on", "rten"]),
        ],
    );
}

#[test]
fn commands_on_cases_and_models_print_what_the_page_says() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("m.onnxtxt"), MODEL).expect("a model");
    let sign = finding("rten-0.27/sign-zero");
    let sign = sign.to_str().expect("a path in UTF-8");
    let oracles = "differential,metamorphic,determinism";
    assert_described(
        folder.path(),
        &[
            ("run", &["run", sign, "--on", "cpu,rten", "--oracles", oracles]),
            ("run", &["run", "m.onnxtxt", "--on", "cpu"]),
            ("blame", &["blame", sign, "--on", "rten:all"]),
            ("blame", &["blame", "m.onnxtxt", "--on", "cpu"]),
            ("blame", &["blame", "m.onnxtxt", "--on", "cpu", "--whole"]),
            ("reduce", &["reduce", sign, "--on", "rten:all", "--tries", "20", "--out", "smaller"]),
            ("show", &["show", sign]),
            ("show", &["show", sign, "--out", "shown"]),
        ],
    );
}

/// `ops` and `backends --probe` are not among them: unoptimised, each takes most of a minute.
#[test]
fn what_makes_and_lists_prints_what_the_page_says() {
    let folder = tempfile::tempdir().expect("a folder");
    let small: &[&str] =
        &["sweep", "--on", "cpu", "--dtypes", "i8,f32", "--forms", "unary", "--samples", "500"];
    let first = [small, &["--ops", "Neg,Tanh", "--out", "swept"]].concat();
    let against = [small, &["--ops", "Neg,Exp", "--against", "swept"]].concat();
    assert_described(
        folder.path(),
        &[
            ("gen", &["gen", "--count", "12", "--nodes", "4", "--max-memory", "1e6", "--out", "valid"]),
            ("gen", &["gen", "--count", "12", "--nodes", "4", "--level", "violate", "--out", "relaxed"]),
            ("gen", &["gen", "--count", "3", "--ops", "Relu,Add", "--for", "cpu", "--out", "for-one"]),
            ("sweep", &first),
            ("sweep", &against),
            ("backends", &["backends"]),
        ],
    );
}

#[test]
fn a_page_that_says_otherwise_is_found_out() {
    let page = Page::of(
        "## `a` and `b`\n| key | type | meaning |\n|---|---|---|\n| `…` | [inner](#inner) | more |\n| `n` | integer or null | a \
         number |\n| `of.<name>[]` | string | words |\n| `x[]` | string | Only at times |\n## Inner\n| `deep` | number | a number |\n",
    );
    let wrong = |value: &Value| page.wrong("a-and-b", value);
    assert_eq!(
        wrong(&json!({"deep": 0.5, "n": null, "of": {"any": ["a"], "b.c": []}})),
        Vec::<String>::new()
    );
    for (value, part) in [
        (json!({"deep": 1, "n": 1.5, "of": {}}), "a-and-b.n has another type"),
        (json!({"n": 1, "of": {}}), "a-and-b.deep is missing"),
        (json!({"deep": 1, "n": 1, "of": {}, "y": 1}), "a-and-b.y is not described"),
        (json!({"deep": 1, "n": 1, "of": {"any": [1]}}), "a-and-b.of.any[0] has another type"),
        (json!({"deep": 1, "n": 1, "of": {}, "x": [1]}), "a-and-b.x[0] has another type"),
    ] {
        assert!(wrong(&value).iter().any(|line| line.contains(part)), "{value}: {:?}", wrong(&value));
    }
}
