//! What an engine has, as a file: TOML that a person can read, check and edit.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use graphgen::support::text;
use interp::Profile;
use ir::{DType, DTypes};
use serde::Deserialize;

use super::{Lacking, LackingForm, Support};

/// The version of the format. Each change that would make another version of this program misread a file increases it.
pub const FORMAT: i64 = 1;

/// Why a support file cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// The file cannot be read.
    #[error("{}: {source}", file.display())]
    Read {
        /// The file.
        file: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The file is of another version.
    #[error(
        "{}: format {found} is not {FORMAT}, which this program reads; write the file again with `onnxsmith backends \
         --probe ENGINE --out FILE`",
        file.display()
    )]
    Format {
        /// The file.
        file: PathBuf,
        /// Its version.
        found: i64,
    },
    /// The file does not say what it should.
    #[error("{}:{line}: {why}", file.display())]
    Content {
        /// The file.
        file: PathBuf,
        /// The line, from 1.
        line: usize,
        /// What is wrong.
        why: String,
    },
}

/// The file's keys.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Keys {
    #[serde(rename = "format")]
    _format: i64,
    engine: String,
    name: Option<String>,
    version: String,
    accuracy: toml::Spanned<String>,
    opset: Option<u32>,
    dtypes: Vec<toml::Spanned<String>>,
    functions: bool,
    #[serde(default)]
    overrides_defaults: bool,
    #[serde(default)]
    lacking: Vec<LackingKeys>,
    #[serde(default)]
    lacking_forms: Vec<LackingFormKeys>,
}

/// The keys of a form of an operator.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LackingKeys {
    operator: toml::Spanned<String>,
    #[serde(rename = "where")]
    facts: toml::Spanned<Vec<String>>,
    #[serde(default)]
    tried: u64,
    #[serde(default)]
    said: String,
}

/// The keys of a form of programs.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LackingFormKeys {
    form: toml::Spanned<String>,
    #[serde(default)]
    tried: u64,
    #[serde(default)]
    said: String,
}

/// A text that is read, and the file that messages name.
struct Reader<'t> {
    text: &'t str,
    file: &'t Path,
}

impl Reader<'_> {
    /// What is wrong at a byte of the text.
    fn at(&self, start: usize, why: impl Into<String>) -> FileError {
        let line = 1 + self.text.get(..start).unwrap_or_default().matches('\n').count();
        FileError::Content { file: self.file.to_owned(), line, why: why.into() }
    }

    fn keys(&self) -> Result<Keys, FileError> {
        let wrong = |e: toml::de::Error| self.at(e.span().map_or(0, |s| s.start), e.message());
        // A later format may have keys that are not known here, so the number is read first.
        let table: toml::Table = self.text.parse().map_err(wrong)?;
        match table.get("format").and_then(toml::Value::as_integer) {
            Some(FORMAT) => toml::from_str(self.text).map_err(wrong),
            Some(found) => Err(FileError::Format { file: self.file.to_owned(), found }),
            None => Err(self.at(0, format!("no support file: it has no line `format = {FORMAT}`"))),
        }
    }

    fn profile(&self, name: &toml::Spanned<String>) -> Result<&'static Profile, FileError> {
        Profile::named(name.get_ref()).ok_or_else(|| {
            let known: Vec<&str> = Profile::ALL.iter().map(|p| p.name).collect();
            let why = format!("there is no accuracy `{}`; there are {}", name.get_ref(), known.join(", "));
            self.at(name.span().start, why)
        })
    }

    fn dtype(&self, name: &str, start: usize) -> Result<DType, FileError> {
        name.parse::<DType>().map_err(|e| self.at(start, e.to_string()))
    }

    /// A form of an operator of ours.
    fn lacking(&self, keys: LackingKeys) -> Result<Lacking, FileError> {
        let operator = keys.operator.get_ref();
        let spec = ops::find(operator).ok_or_else(|| {
            let why = format!("there is no operator `{operator}`; `onnxsmith ops` lists them");
            self.at(keys.operator.span().start, why)
        })?;
        let form = text::parse(keys.facts.get_ref(), spec)
            .map_err(|e| self.at(keys.facts.span().start, e.to_string()))?;
        Ok(Lacking { operator: spec.name, form, tried: keys.tried, said: keys.said })
    }

    /// A form with bodies.
    fn lacking_form(&self, keys: LackingFormKeys) -> Result<LackingForm, FileError> {
        let LackingFormKeys { form, tried, said } = keys;
        let known = LackingForm::recalled(form.get_ref()).ok_or_else(|| {
            let why =
                format!("there is no form `{}`; there are {}", form.get_ref(), forms::WITH_BODIES.join(", "));
            self.at(form.span().start, why)
        })?;
        Ok(LackingForm { tried, said, ..known })
    }

    /// The dtypes on which an operator is lacking that import writes out.
    fn composite(&self, keys: &LackingKeys) -> Result<DTypes, FileError> {
        let start = keys.facts.span().start;
        let names = match &keys.facts.get_ref()[..] {
            [fact] => fact.strip_prefix(ON),
            _ => None,
        };
        let names = names.ok_or_else(|| {
            self.at(
                start,
                format!("`where` of {} must be like [\"{ON}f16 or f64\"]", keys.operator.get_ref()),
            )
        })?;
        names.split(" or ").map(|name| self.dtype(name, start)).collect()
    }
}

impl Support {
    /// Reads a file.
    pub fn read(file: &Path) -> Result<Self, FileError> {
        let text = std::fs::read_to_string(file)
            .map_err(|source| FileError::Read { file: file.to_owned(), source })?;
        Self::parse(&text, file)
    }

    /// What a text says; `file` is for messages.
    pub fn parse(text: &str, file: &Path) -> Result<Self, FileError> {
        let reader = Reader { text, file };
        let keys = reader.keys()?;
        let profile = reader.profile(&keys.accuracy)?;
        let dtypes: Result<_, _> =
            keys.dtypes.iter().map(|name| reader.dtype(name.get_ref(), name.span().start)).collect();
        let support = Self {
            name: keys.name.unwrap_or_else(|| keys.engine.clone()),
            engine: keys.engine,
            version: keys.version,
            profile,
            opset: keys.opset,
            dtypes: dtypes?,
            functions: keys.functions,
            overrides_defaults: keys.overrides_defaults,
            lacking: Vec::new(),
            lacking_forms: Vec::new(),
            composites: BTreeMap::new(),
            refused: graphgen::Refused::new(),
        };
        let (mut lacking, mut composites) = (Vec::new(), BTreeMap::new());
        for keys in keys.lacking {
            match forms::composite::find(keys.operator.get_ref()) {
                Some(composite) => {
                    let known = composites.entry(composite.name).or_insert(DTypes::NONE);
                    *known = known.union(reader.composite(&keys)?);
                }
                None => lacking.push(reader.lacking(keys)?),
            }
        }
        let forms: Result<_, _> =
            keys.lacking_forms.into_iter().map(|keys| reader.lacking_form(keys)).collect();
        Ok(support.with_lacking(lacking).with_composites(composites).with_lacking_forms(forms?))
    }

    /// The file's text.
    pub fn to_toml(&self) -> String {
        let list = |items: &[&str]| items.iter().map(|item| quoted(item)).collect::<Vec<_>>().join(", ");
        let dtypes: Vec<&str> = self.dtypes.iter().map(DType::name).collect();
        let opset = self.opset.map(|opset| format!("opset = {opset}\n")).unwrap_or_default();
        // A name of its own has who is started by a command.
        let name =
            if self.name == self.engine { String::new() } else { format!("name = {}\n", quoted(&self.name)) };
        let mut out = format!(
            "# What {} {} has, as `onnxsmith backends --probe` found out. `onnxsmith gen --for` and `fuzz --probed` take it.\n\
             format = {FORMAT}\nengine = {}\nversion = {}\naccuracy = {}\n{opset}dtypes = [{}]\nfunctions = {}\n\
             overrides_defaults = {}\n{name}",
            on_one_line(&self.engine),
            on_one_line(&self.version),
            quoted(&self.engine),
            quoted(&self.version),
            quoted(self.profile.name),
            list(&dtypes),
            self.functions,
            self.overrides_defaults,
        );
        for lacking in &self.lacking {
            let Some(spec) = ops::find(lacking.operator) else { continue };
            let facts = text::lines(&lacking.form, spec);
            let facts: Vec<&str> = facts.iter().map(String::as_str).collect();
            out += &format!(
                "\n[[lacking]]\noperator = {}\nwhere = [{}]\ntried = {}\nsaid = {}\n",
                quoted(lacking.operator),
                list(&facts),
                lacking.tried,
                quoted(&lacking.said)
            );
        }
        for (name, dtypes) in &self.composites {
            let dtypes: Vec<&str> = dtypes.iter().map(DType::name).collect();
            let fact = format!("{ON}{}", dtypes.join(" or "));
            out += &format!("\n[[lacking]]\noperator = {}\nwhere = [{}]\n", quoted(name), quoted(&fact));
        }
        for LackingForm { form, tried, said } in &self.lacking_forms {
            let [form, said] = [form, said.as_str()].map(quoted);
            out += &format!("\n[[lacking_forms]]\nform = {form}\ntried = {tried}\nsaid = {said}\n");
        }
        out
    }
}

/// The words with which the file states the dtypes on which a written-out operator is lacking; the dtypes follow.
const ON: &str = "dtype is ";

/// A text for a comment, which ends where the line does.
fn on_one_line(text: &str) -> String {
    text.replace(char::is_control, " ")
}

/// A text in quotes. What JSON escapes, TOML reads; a DEL is one character more that TOML does not take as it is.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string().replace('\u{7f}', "\\u007f")
}

#[cfg(test)]
mod tests {
    use worker::Description;

    use super::*;

    #[test]
    fn the_file_of_an_engine_can_be_read_again_whatever_it_is_called() {
        let description = Description {
            engine: "a b".to_owned(),
            version: "1\n2\r\u{7f}".to_owned(),
            ..Description::default()
        };
        let support = Support::stated("cmd:a 'b\nc'", &Profile::DECLARED, &description);
        let read = Support::parse(&support.to_toml(), Path::new("f.toml")).expect("it is a support file");
        assert_eq!(read.name, "a b");
        assert_eq!((read.engine, read.version), (support.engine, support.version));
    }

    #[test]
    fn whatever_an_engine_says_can_be_read_again() {
        let said: String = ('\0'..='\u{ff}').chain(['\u{2028}', '😀']).collect();
        let read: toml::Table = format!("said = {}", quoted(&said)).parse().expect("it is TOML");
        assert_eq!(read["said"].as_str(), Some(said.as_str()));
    }
}
