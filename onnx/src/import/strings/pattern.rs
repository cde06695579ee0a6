//! RegexFullMatch: which strings a regular expression in RE2's syntax matches as a whole.
//!
//! The crate `regex` is of RE2's family: the same syntax but for little, and the same matches. What differs is refused
//! ([`syntax`]).

mod syntax;

use ir::DType;
use regex::RegexBuilder;

use super::{Read, read};
use crate::Error;
use crate::import::frame::Bound;
use crate::import::given::GivenAttributes;
use crate::import::translation::{SourceNode, bind, given_value};
use crate::import::walk::Walk;

/// How many bytes a compiled expression may take.
const MOST_BYTES: usize = 1 << 22;

pub(super) fn matched<'p>(walk: &mut Walk<'p, '_>, source: &SourceNode<'p, '_>) -> Result<(), Error> {
    let given = GivenAttributes::of(source);
    let pattern = given.text("pattern", "");
    given.finish()?;
    let Read { shape, texts, from } = read(walk, source.node, 0)?;
    let matches = matches(&pattern, &texts)?;
    let y = walk.integers(DType::Bool, &shape, |i| matches[i].into())?;
    let y = given_value(walk, y, &from)?;
    bind(walk, source.node, vec![Bound::Tensor(y)])
}

/// Whether each string is matched as a whole.
fn matches(pattern: &str, texts: &[String]) -> Result<Vec<bool>, Error> {
    let what = || format!("attribute `pattern` {pattern:?}");
    let compiled = |pattern: &str| {
        let regex = RegexBuilder::new(pattern).size_limit(MOST_BYTES).build();
        regex.map_err(|e| Error::unsupported(what(), e.to_string().replace('\n', " ")))
    };
    // Alone, so that nothing in it closes the group around it.
    compiled(pattern)?;
    let whole = compiled(&format!(r"\A(?:{pattern})\z"))?;
    let same = syntax::check(pattern).map_err(|why| Error::unsupported(what(), why))?;
    if let Some(text) = texts.iter().find(|text| !same.has(text)) {
        return Err(Error::unsupported(
            what(),
            format!("its classes may have other members of {text:?} in RE2"),
        ));
    }
    Ok(texts.iter().map(|text| whole.is_match(text)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn whole(pattern: &str, text: &str) -> bool {
        matches(pattern, &[text.to_owned()]).unwrap()[0]
    }

    #[test]
    fn a_string_is_matched_as_a_whole() {
        assert!(whole("a|ab", "ab") && !whole("a|b", "ab") && whole("", "") && !whole("", "a"));
        assert!(whole(r"(\W|^)[\w.\-]{0,25}@(yahoo|gmail)\.com(\W|$)", "account@gmail.com"));
        assert!(whole("(?i)é.", "Éx") && !whole("a$", "a\n"));
    }

    #[test]
    fn what_hangs_on_the_strings_is_refused_for_some() {
        for (pattern, text) in [(r"\d", "٣"), (r"[\D]", "٣"), (r"\s", "\u{b}"), (r"é\b", "é")] {
            assert!(matches(pattern, &[text.to_owned()]).is_err(), "{pattern}");
        }
        assert!(whole(r"\d\s\w\b", "1 a") && whole("[[:alpha:]]é", "aé"));
    }

    #[test]
    fn what_is_no_pattern_or_too_large_is_refused() {
        for pattern in ["a)(b", "a{2000000}", "(a"] {
            assert!(matches(pattern, &["a".to_owned()]).is_err(), "{pattern}");
        }
    }
}
