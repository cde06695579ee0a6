//! Strings: what is made of them is compared with strings, so that tensors of numbers come out.

use ir::{DType, DTypes};

use super::Composite;
use super::piece::{Link, Piece};

/// The dtype of what comes out.
const TRUTH: DTypes = DTypes::of(&[DType::Bool]);

pub(super) const ALL: &[Composite] = &[
    Composite::new("RegexFullMatch", 20, TRUTH, regex_full_match),
    Composite::new("StringConcat", 20, TRUTH, string_concat),
    Composite::new("StringNormalizer", 20, TRUTH, string_normalizer),
    Composite::new("StringSplit", 20, TRUTH, string_split),
];

/// Words with capitals, spaces, letters of several bytes, and none at all.
const WORDS: &[&str] = &[
    "a", "b", "A", "ab", "Ab", "abc", "a b", "ba", "x,y", "x,,y", "x,y,a,b", "b a b", "", "1", "12", "é",
    "你好", "monday", "Monday",
];

fn words(p: &mut Piece<'_>, count: i64) -> Option<Vec<String>> {
    (0..count).map(|_| p.choose(WORDS).map(str::to_owned)).collect()
}

/// Which strings are this one.
fn is(p: &mut Piece<'_>, texts: Link, word: &str) -> Option<()> {
    p.strings(&[], &[word.to_owned()])?;
    let word = p.last();
    let y = p.step("Equal", &[texts, word]);
    p.give(&[y]);
    Some(())
}

fn regex_full_match(p: &mut Piece<'_>) -> Option<()> {
    p.dtype()?;
    let (rows, columns) = (p.size(1..=3), p.size(1..=4));
    let texts = words(p, rows * columns)?;
    p.strings(&[rows, columns], &texts)?;
    let pattern = p.choose(&[
        "a", "[ab]+", "(?i)ab?", ".*", "[a-z]+", "a.*|b", "x,+y", "(a|b)?", "[^a]*", "..", "mon.*",
    ])?;
    p.text("pattern", pattern);
    Some(())
}

fn string_concat(p: &mut Piece<'_>) -> Option<()> {
    p.dtype()?;
    let (rows, columns) = (p.size(1..=3), p.size(1..=3));
    let (left, right) = (words(p, rows * columns)?, words(p, columns)?);
    p.strings(&[rows, columns], &left)?;
    let a = p.last();
    p.strings(&[columns], &right)?;
    let b = p.last();
    let all = p.step("StringConcat", &[a, b]);
    // Some of the strings that come out, and some that do not.
    let mut expected = Vec::new();
    for (at, text) in left.iter().enumerate() {
        let other = &right[at % columns as usize];
        expected.push(if p.chance(0.7) { format!("{text}{other}") } else { format!("{other}{text}") });
    }
    p.strings(&[rows, columns], &expected)?;
    let expected = p.last();
    let y = p.step("Equal", &[all, expected]);
    p.give(&[y]);
    Some(())
}

fn string_normalizer(p: &mut Piece<'_>) -> Option<()> {
    p.dtype()?;
    let count = p.size(1..=6);
    let texts = words(p, count)?;
    if p.chance(0.3) {
        p.strings(&[1, count], &texts)?;
    } else {
        p.strings(&[count], &texts)?;
    }
    let x = p.last();
    p.word("case_change_action", &["NONE", "LOWER", "UPPER"])?;
    p.flag("is_case_sensitive");
    if p.chance(0.6) {
        let stopped: Vec<&str> = (0..p.size(1..=2)).map(|_| p.choose(WORDS)).collect::<Option<_>>()?;
        p.texts("stopwords", &stopped);
    }
    let y = p.step("StringNormalizer", &[x]);
    let word = p.choose(&["a", "ab", "AB", "Monday", "monday", ""])?;
    is(p, y, word)
}

fn string_split(p: &mut Piece<'_>) -> Option<()> {
    p.dtype()?;
    let count = p.size(1..=4);
    let texts = words(p, count)?;
    p.strings(&[count], &texts)?;
    let x = p.last();
    if p.chance(0.7) {
        let delimiter = p.choose(&[",", ",", "b", " "])?;
        p.text("delimiter", delimiter);
    }
    if p.chance(0.3) {
        let most = p.size(1..=2);
        p.int("maxsplit", most);
    }
    let parts = p.step_of("StringSplit", &[x], 2);
    p.give(&[parts[1]]);
    let word = p.choose(&["", "x", "y", "a", "b"])?;
    is(p, parts[0], word)
}
