//! RegexFullMatch: which strings a regular expression in RE2's syntax matches as a whole.
//!
//! The crate `regex` is of RE2's family: same syntax but for little, and the same matches. What differs is refused: classes such as `\d`, which
//! have ASCII alone in RE2, where a string has more, and sets that the crate calculates with.

use ir::DType;
use regex::RegexBuilder;

use super::{Read, read};
use crate::Error;
use crate::import::forms::{Written, bind, given_value};
use crate::import::frame::Bound;
use crate::import::given::Given;
use crate::import::walk::Walk;

/// How many bytes a compiled expression may take.
const MOST_BYTES: usize = 1 << 22;

pub(super) fn matched<'p>(walk: &mut Walk<'p, '_>, written: &Written<'p, '_>) -> Result<(), Error> {
    let given = Given::of(written);
    let pattern = given.text("pattern", "");
    given.finish()?;
    let Read { shape, texts, from } = read(walk, written.node, 0)?;
    let matches = matches(&pattern, &texts)?;
    let y = walk.integers(DType::Bool, &shape, |i| matches[i].into())?;
    let y = given_value(walk, y, &from)?;
    bind(walk, written.node, vec![Bound::Tensor(y)])
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
    if ["&&", "--", "~~"].iter().any(|operator| pattern.contains(operator)) {
        return Err(Error::unsupported(what(), "it may calculate with sets, which RE2 does not"));
    }
    let has_classes =
        ["\\d", "\\D", "\\w", "\\W", "\\s", "\\S", "\\b", "\\B"].iter().any(|c| pattern.contains(c));
    let is_odd = |text: &String| !text.is_ascii() || text.contains('\u{b}');
    if has_classes && texts.iter().any(is_odd) {
        return Err(Error::unsupported(what(), "its classes have other members in RE2 than here"));
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
    fn what_may_mean_something_else_in_re2_is_refused() {
        for (pattern, text) in
            [(r"\d", "٣"), (r"\s", "\u{b}"), ("[a&&b]", "a"), ("a)(b", "a"), ("a{2000000}", "a")]
        {
            assert!(matches(pattern, &[text.to_owned()]).is_err(), "{pattern}");
        }
        assert!(matches("[[:alpha:]]é", &["aé".to_owned()]).is_ok());
    }
}
