//! StringSplit.
//!
//! Where nothing is said to split at, whitespace is: that of ASCII, as nobody says which other counts. What is left of
//! a string behind the last split that is allowed keeps what it ends with in ONNX's reference implementation, and loses
//! it by the text: then it is refused.

use ir::DType;

use super::{Read, made, read};
use crate::Error;
use crate::import::frame::Bound;
use crate::import::given::GivenAttributes;
use crate::import::translation::{SourceNode, bind, given_value};
use crate::import::walk::Walk;

pub(super) fn split<'p>(walk: &mut Walk<'p, '_>, source: &SourceNode<'p, '_>) -> Result<(), Error> {
    let given = GivenAttributes::of(source);
    let (delimiter, most) = (given.text("delimiter", ""), given.whole("maxsplit"));
    given.finish()?;
    let most = match most {
        None => usize::MAX,
        Some(most) => usize::try_from(most).map_err(|_| {
            Error::unsupported("attribute `maxsplit`", format!("what {most} means is not said"))
        })?,
    };
    let Read { shape, texts, from } = read(walk, source.node, 0)?;
    let parts = texts.iter().map(|text| parts(text, &delimiter, most));
    let parts = parts.collect::<Result<Vec<Vec<String>>, Error>>()?;
    let longest = parts.iter().map(Vec::len).max().unwrap_or(0);
    super::few(parts.len().saturating_mul(longest))?;
    let mut padded = Vec::with_capacity(parts.len() * longest);
    for parts in &parts {
        padded.extend(parts.iter().cloned());
        padded.extend(std::iter::repeat_n(String::new(), longest - parts.len()));
    }
    let counts = walk.integers(DType::I64, &shape, |i| parts[i].len() as i128)?;
    let counts = given_value(walk, counts, &from)?;
    let shape = [&shape[..], &[longest as i64]].concat();
    let y = made(walk, shape, &padded, from)?;
    bind(walk, source.node, vec![y, Bound::Tensor(counts)])
}

/// The parts of a string.
fn parts(text: &str, delimiter: &str, most: usize) -> Result<Vec<String>, Error> {
    if !delimiter.is_empty() {
        return Ok(text.splitn(most.saturating_add(1), delimiter).map(str::to_owned).collect());
    }
    if text.chars().any(|c| c.is_whitespace() && !c.is_ascii_whitespace()) {
        let why = format!("which of the whitespace of {text:?} counts, ONNX does not say");
        return Err(Error::unsupported("operand 0", why));
    }
    let mut rest = text.trim_ascii();
    let mut parts = Vec::new();
    while !rest.is_empty() {
        let end = rest.find(|c: char| c.is_ascii_whitespace()).filter(|_| parts.len() < most);
        let Some(end) = end else {
            if text.ends_with(|c: char| c.is_ascii_whitespace())
                && rest.contains(|c: char| c.is_ascii_whitespace())
            {
                let why =
                    format!("whether the rest of {text:?} keeps its end, ONNX's text and reference differ");
                return Err(Error::unsupported("operand 0", why));
            }
            parts.push(rest.to_owned());
            break;
        };
        parts.push(rest[..end].to_owned());
        rest = rest[end..].trim_ascii_start();
    }
    Ok(parts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whitespace_is_one_separator_and_a_delimiter_is_each() {
        let split = |text: &str, delimiter: &str, most: usize| parts(text, delimiter, most).unwrap();
        assert_eq!(split(" hello   world ", "", usize::MAX), ["hello", "world"]);
        assert_eq!(split("a..b", ".", usize::MAX), ["a", "", "b"]);
        assert_eq!(split("a b  c d", "", 2), ["a", "b", "c d"]);
        assert_eq!(split("a.b.c", ".", 1), ["a", "b.c"]);
        assert_eq!((split("", "", 9).len(), split("", ".", 9)), (0, vec![String::new()]));
        assert!(parts("a b ", "", 0).is_err() && parts("a\u{a0}b", "", 9).is_err());
    }
}
