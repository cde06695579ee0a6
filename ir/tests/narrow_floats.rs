//! The floats of 8 and 4 bits against ml_dtypes and ONNX's Python package: every code, and the conversions that can go wrong.
//!
//! `narrow_floats.txt` says what they say; `scripts/narrow_floats.py` writes it, and says what is left out and why.

use onnxsmith_ir::format::FloatFormat;
use onnxsmith_ir::round::{Conversion, Overflow, RoundMode, round_to_format};
use onnxsmith_ir::{DType, Tensor, Type};

/// The rows of one kind, each with its type.
fn rows(kind: &str) -> Vec<(DType, Vec<&'static str>)> {
    let lines = include_str!("narrow_floats.txt").lines().filter(|line| !line.starts_with('#'));
    let found = lines.filter_map(|line| {
        let mut words = line.split(' ');
        let dtype = words.next()?.parse().ok()?;
        (words.next() == Some(kind)).then(|| (dtype, words.collect()))
    });
    let found: Vec<_> = found.collect();
    assert!(!found.is_empty(), "there are no rows of {kind}");
    found
}

fn format(dtype: DType) -> FloatFormat {
    dtype.float().expect("rows are about floats")
}

/// A point and the code that it becomes.
fn pair(word: &str) -> (f64, u64) {
    let (point, code) = word.split_once('=').expect("a point and a code");
    (point.parse().expect("a point"), code.parse().expect("a code"))
}

fn numbers(words: &[&str]) -> Vec<f64> {
    words.iter().map(|word| word.parse().expect("a number")).collect()
}

/// The finite numbers, each once.
fn ascending(words: &[&str]) -> Vec<f64> {
    let mut numbers = numbers(words);
    numbers.retain(|v| v.is_finite());
    numbers.sort_by(f64::total_cmp);
    // -0 and 0 are one.
    numbers.dedup();
    numbers
}

#[test]
fn every_code_stands_for_the_number_it_should() {
    for (dtype, words) in rows("numbers") {
        let numbers = numbers(&words);
        assert_eq!(numbers.len(), 1 << dtype.bits());
        for (code, right) in (0..).zip(numbers) {
            let found = format(dtype).decode(code);
            let is_same = found.to_bits() == right.to_bits() || found.is_nan() && right.is_nan();
            assert!(is_same, "{dtype} {code:#x} is {found} instead of {right}");
            assert!(right.is_nan() || format(dtype).encode(right) == code, "{dtype} {right}");
        }
    }
}

#[test]
fn a_number_between_two_goes_to_the_nearer_one_or_the_even_one() {
    for ((dtype, words), (_, of)) in rows("between").iter().zip(rows("numbers")) {
        let numbers = ascending(&of);
        let middles = numbers.windows(2).map(|pair| f64::midpoint(pair[0], pair[1]) as f32);
        let points = middles
            .filter(|middle| middle.is_normal())
            .flat_map(|middle| [middle.next_down(), middle, middle.next_up()]);
        let mut codes = words.iter();
        for point in points {
            let right = codes.next().and_then(|code| code.parse().ok());
            let found = format(*dtype).encode(round_to_format(format(*dtype), point.into()));
            assert_eq!(Some(found), right, "{dtype} of {point:e}");
        }
        assert_eq!(codes.next(), None, "{dtype}");
    }
}

#[test]
fn f64_is_rounded_once() {
    for (dtype, of) in rows("numbers") {
        for pair in ascending(&of).windows(2) {
            let middle = f64::midpoint(pair[0], pair[1]);
            let found = [middle.next_down(), middle.next_up()].map(|v| round_to_format(format(dtype), v));
            assert_eq!(found, [pair[0], pair[1]], "{dtype} about {middle:e}");
        }
    }
}

fn assert_pairs(kind: &str, conversion: impl Fn(FloatFormat) -> Conversion) {
    for (dtype, words) in rows(kind) {
        for (point, right) in words.into_iter().map(pair) {
            let format = format(dtype);
            let found = format.encode(conversion(format).of(point));
            assert_eq!(found, right, "{kind}: {dtype} of {point:e}");
        }
    }
}

#[test]
fn what_is_beyond_the_largest_saturates_or_does_not() {
    assert_pairs("beyond", Conversion::to);
    assert_pairs("saturate", |format| Conversion { overflow: Overflow::Saturate, ..Conversion::to(format) });
}

#[test]
fn powers_of_two_are_rounded_as_asked() {
    for (kind, mode) in [("nearest", RoundMode::Nearest), ("up", RoundMode::Up), ("down", RoundMode::Down)] {
        let overflow = Overflow::Saturate;
        assert_pairs(kind, |format| Conversion { mode, overflow, ..Conversion::to(format) });
    }
}

#[test]
fn powers_of_two_are_positive() {
    let saturating = Conversion { overflow: Overflow::Saturate, ..Conversion::to(FloatFormat::F8E8M0) };
    let escaping = Conversion::to(FloatFormat::F8E8M0);
    let least = 2f64.powi(-127);
    // The table of Cast: 0 saturates to the least, and is NaN if nothing does.
    assert_eq!([0.0, 1e-300, least].map(|v| saturating.of(v)), [least; 3]);
    assert_eq!(escaping.of(least), least);
    assert!(escaping.of(0.0).is_nan() && escaping.of(1e-300).is_nan());
    assert!([saturating, escaping].iter().all(|c| c.of(-1.0).is_nan() && c.of(f64::NAN).is_nan()));
}

#[test]
fn every_code_is_written_and_read_as_text() {
    for dtype in DType::ALL.into_iter().filter(|d| d.bits() < 16) {
        // bool has two codes in its byte.
        let codes = if dtype == DType::Bool { 2 } else { 1 << dtype.bits() };
        let all: Vec<u8> = (0..codes).map(|code| code as u8).collect();
        let together = all.chunks((8 / dtype.bits()) as usize).map(|part| {
            part.iter().rev().fold(0, |byte, code| (u16::from(byte) << dtype.bits()) as u8 | code)
        });
        let tensor = Tensor::from_bytes(&Type::new(dtype, [codes]), &together.collect::<Vec<_>>()).unwrap();
        let text = tensor.to_string();
        assert_eq!(text.parse(), Ok(tensor), "{text}");
    }
}

#[test]
fn text_has_no_numbers_that_the_type_has_not() {
    for text in [
        "f8e4m3fn[1] {inf}",
        "f8e4m3fn[1] {465.0}",
        "f8e4m3fnuz[1] {-inf}",
        "f4e2m1[1] {7.5}",
        "f4e2m1[1] {nan(0x0)}",
        "f8e8m0[1] {0.0}",
        "f8e8m0[1] {-1.0}",
        "i4[1] {8}",
        "u2[1] {-1}",
    ] {
        assert!(text.parse::<Tensor>().is_err(), "{text}");
    }
    let tensor: Tensor = "f8e5m2[3] {-inf, 0.1, nan(0xfe)}".parse().unwrap();
    assert_eq!(tensor.to_bytes(), [0xfc, 0x2e, 0xfe]);
}
