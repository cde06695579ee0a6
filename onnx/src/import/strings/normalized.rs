//! StringNormalizer: without some words, in another case.
//!
//! Which letters beyond ASCII are the capitals of which hangs on the locale: where that would count, it is refused.

use std::collections::BTreeSet;

use super::{Read, made, misshaped, read};
use crate::Error;
use crate::import::given::GivenAttributes;
use crate::import::translation::{SourceNode, bind};
use crate::import::walk::Walk;

/// What becomes of the case of letters.
#[derive(Clone, Copy)]
enum Case {
    Lower,
    Upper,
    Same,
}

impl Case {
    fn of(self, text: &str) -> Result<String, Error> {
        let hangs = |c: char| !(c.is_ascii() || c.to_lowercase().eq([c]) && c.to_uppercase().eq([c]));
        match self {
            Self::Same => Ok(text.to_owned()),
            Self::Lower | Self::Upper if text.chars().any(hangs) => {
                let why = format!("the case of {text:?} hangs on the locale");
                Err(Error::unsupported("operand 0", why))
            }
            Self::Lower => Ok(text.to_ascii_lowercase()),
            Self::Upper => Ok(text.to_ascii_uppercase()),
        }
    }
}

pub(super) fn normalized<'p>(walk: &mut Walk<'p, '_>, source: &SourceNode<'p, '_>) -> Result<(), Error> {
    let given = GivenAttributes::of(source);
    let (stopped, is_exact) = (given.texts("stopwords"), given.int("is_case_sensitive", 0) != 0);
    let case = match given.text("case_change_action", "NONE").as_str() {
        "LOWER" => Case::Lower,
        "UPPER" => Case::Upper,
        "NONE" => Case::Same,
        other => {
            return Err(Error::invalid("attribute `case_change_action`", format!("there is no {other}")));
        }
    };
    given.ignore("locale");
    given.finish()?;
    let Read { shape, texts, from } = read(walk, source.node, 0)?;
    let before: &[i64] = match shape[..] {
        [_] => &[],
        [1, _] => &[1],
        _ => return Err(misshaped(&shape, "a list, or one row")),
    };
    let mut left = kept(&texts, &stopped, is_exact, case)?;
    if left.is_empty() {
        left.push(String::new());
    }
    let shape = [before, &[left.len() as i64]].concat();
    let y = made(walk, shape, &left, from)?;
    bind(walk, source.node, vec![y])
}

/// The strings that are none of the words, in their case.
fn kept(texts: &[String], stopped: &[String], is_exact: bool, case: Case) -> Result<Vec<String>, Error> {
    let alike = |text: &str| if is_exact { Ok(text.to_owned()) } else { Case::Lower.of(text) };
    let stopped = stopped.iter().map(|word| alike(word)).collect::<Result<BTreeSet<String>, Error>>()?;
    let mut left = Vec::with_capacity(texts.len());
    for text in texts {
        if stopped.is_empty() || !stopped.contains(&alike(text)?) {
            left.push(case.of(text)?);
        }
    }
    Ok(left)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_go_in_their_case_or_in_any() {
        let texts = ["Monday", "monday", "tuesday"].map(str::to_owned);
        let kept = |is_exact, case| kept(&texts, &["monday".to_owned()], is_exact, case).unwrap();
        assert_eq!(kept(true, Case::Upper), ["MONDAY", "TUESDAY"]);
        assert_eq!(kept(false, Case::Same), ["tuesday"]);
    }

    #[test]
    fn letters_of_which_a_locale_decides_are_refused() {
        assert!(Case::Upper.of("ß").is_err() && Case::Lower.of("É").is_err());
        assert_eq!(Case::Upper.of("a你").unwrap(), "A你");
    }
}
