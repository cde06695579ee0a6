//! Messages for people: without what varies between cases, but with element types, whose digits are no numbers.
//!
//! [`message::normalise`] makes `f‹n›` of `f32`. Signatures have that, for what a fault is does not depend on the type; in a
//! reason for saying nothing, or in a headline, the type is the information.

use oracles::message;

/// A message without what varies between cases, element types excepted.
pub(crate) fn normalise(text: &str) -> String {
    let hidden: String =
        pieces(text).map(|piece| if is_type(piece) { hide(piece) } else { piece.to_owned() }).collect();
    show(&message::normalise(&hidden))
}

/// The element types that a normalised message stands for, put back from what a finding says of it; the message as it is where
/// that has another.
pub(crate) fn restored(normalised: &str, detail: &str) -> String {
    let starts = detail.match_indices(": ").map(|(at, colon)| &detail[at + colon.len()..]);
    let mut candidates = std::iter::once(detail).chain(starts);
    let original = candidates.find(|text| message::normalise(text) == normalised);
    original.map_or_else(|| normalised.to_owned(), normalise)
}

/// A text in words and what is between them.
fn pieces(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let is_word = |c: char| c.is_ascii_alphanumeric();
        let first = rest.chars().next()?;
        let end = rest.find(|c| is_word(c) != is_word(first)).unwrap_or(rest.len());
        let (piece, left) = rest.split_at(end);
        rest = left;
        Some(piece)
    })
}

/// What element types begin with, in ONNX and in runtimes, and the numbers of bits that stand behind it.
const TYPES: [(&str, &[&str]); 8] = [
    ("bfloat", &["16"]),
    ("bf", &["16"]),
    ("float", &["4", "8", "16", "32", "64"]),
    ("uint", &["2", "4", "8", "16", "32", "64"]),
    ("int", &["2", "4", "8", "16", "32", "64"]),
    ("f", &["4", "8", "16", "32", "64"]),
    ("u", &["2", "4", "8", "16", "32", "64"]),
    ("i", &["2", "4", "8", "16", "32", "64"]),
];

/// Whether a word is an element type: `f32`, `Int64`, `float8e4m3fn`.
fn is_type(word: &str) -> bool {
    let word = word.to_ascii_lowercase();
    TYPES.iter().any(|(begins, bits)| {
        let rest = word.strip_prefix(begins);
        rest.is_some_and(|rest| bits.contains(&rest) || is_narrow(rest))
    })
}

/// Whether this stands behind the name of a float of 4 or 8 bits: its exponent and mantissa, and what it lacks.
fn is_narrow(rest: &str) -> bool {
    ["8e4m3", "8e5m2", "8e8m0", "4e2m1"]
        .iter()
        .any(|kind| rest.strip_prefix(kind).is_some_and(|lacks| ["", "fn", "fnuz"].contains(&lacks)))
}

/// The first of ten characters that no message has, which stand for digits.
const DIGITS: u32 = 0xe000;

fn hide(word: &str) -> String {
    let stand_in = |c: char| c.to_digit(10).and_then(|digit| char::from_u32(DIGITS + digit)).unwrap_or(c);
    word.chars().map(stand_in).collect()
}

fn show(text: &str) -> String {
    let digit = |c: char| char::from_digit(u32::from(c).checked_sub(DIGITS)?, 10);
    text.chars().map(|c| digit(c).unwrap_or(c)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_masked_and_element_types_are_not() {
        for (text, shown) in [
            ("unsupported: rten does not compute in f16", "unsupported: rten does not compute in f16"),
            ("dtype of indices is f32 or bf16, opset <= 17", "dtype of indices is f32 or bf16, opset <= ‹n›"),
            ("tensor is F32, accessed as Int64 at 3", "tensor is F32, accessed as Int64 at ‹n›"),
            ("tensor(float8e4m3fnuz) and uint8 of node12", "tensor(float8e4m3fnuz) and uint8 of node‹n›"),
            ("u128 of if32 with Reduce13", "u‹n› of if‹n› with Reduce‹n›"),
        ] {
            assert_eq!(normalise(text), shown);
        }
    }

    #[test]
    fn types_come_back_from_what_the_finding_says() {
        let raw = "Evaluating #4 \"n6\" STFT: tensor is F16, accessed as F32";
        let masked = message::normalise(raw);
        let shown = "Evaluating #‹n› ‹name› STFT: tensor is F16, accessed as F32";
        assert_eq!(restored(&masked, &format!("a valid model is refused at run: {raw}")), shown);
        assert_eq!(restored(&masked, "something else"), masked);
    }
}
