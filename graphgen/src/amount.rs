//! Numbers as people write them: `500`, `1e6`, `2K`, `1.5G`, `1e6..1e9`, `5..30`.

use std::ops::RangeInclusive;

use crate::budget::Span;
use crate::settings::HIGHEST_RANK;

/// Units and their powers of ten; a `B` may follow (`20GB`).
const UNITS: [(char, i64); 4] = [('K', 3), ('M', 6), ('G', 9), ('T', 12)];

/// The largest amount that is written with a unit or an exponent.
const MOST: u64 = 1_000_000_000_000_000_000;

/// A whole number that is not negative.
pub fn amount(text: &str) -> Result<u64, String> {
    let wanted = || format!("`{text}` is no amount; write 500000, 1e6, 2K or 20G");
    let number = text.strip_suffix('B').unwrap_or(text);
    let unit = UNITS.iter().find(|(unit, _)| number.ends_with([*unit, unit.to_ascii_lowercase()]));
    let (number, unit) = unit.map_or((number, 0), |(_, power)| (&number[..number.len() - 1], *power));
    // Neither a sign nor the words `inf` and `nan`.
    if !number.starts_with(|c: char| c.is_ascii_digit()) {
        return Err(wanted());
    }
    if let (Ok(whole), 0) = (number.parse::<u64>(), unit) {
        return Ok(whole);
    }
    let (digits, exponent) = decimal(number).ok_or_else(wanted)?;
    let power = exponent + unit;
    if digits.is_empty() {
        return Ok(0);
    }
    if power < 0 {
        return Err(wanted());
    }
    let value = shifted(&digits, power).filter(|value| *value <= MOST);
    value.ok_or_else(|| format!("`{text}` is too large; write {MOST:e} at most"))
}

/// The digits of a number that may have a point and an exponent, without zeros at their end, and the power of ten that they
/// are multiplied by. The digits of 0 are none.
fn decimal(number: &str) -> Option<(String, i64)> {
    let (mantissa, exponent) = match number.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, exponent.parse::<i32>().ok()?),
        None => (number, 0),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let all = format!("{whole}{fraction}");
    let digits = all.trim_end_matches('0');
    let power = i64::from(exponent) - fraction.len() as i64 + (all.len() - digits.len()) as i64;
    all.bytes().all(|byte| byte.is_ascii_digit()).then(|| (digits.to_owned(), power))
}

/// Digits times a power of ten. In integers: 16.1 · 10³ is not 16100 in floats.
fn shifted(digits: &str, power: i64) -> Option<u64> {
    let factor = 10_u64.checked_pow(u32::try_from(power).ok()?)?;
    digits.parse::<u64>().ok()?.checked_mul(factor)
}

/// An amount above 0.
pub fn positive(text: &str) -> Result<u64, String> {
    match amount(text)? {
        0 => Err("0 leaves nothing to draw; write 1 or more".to_owned()),
        n => Ok(n),
    }
}

/// The highest rank that values are to have.
pub fn rank(text: &str) -> Result<usize, String> {
    match amount(text)? {
        rank if rank <= HIGHEST_RANK as u64 => Ok(rank as usize),
        rank => Err(format!("{rank} is too high a rank; write 0 to {HIGHEST_RANK}")),
    }
}

/// A span that graphs are grown into.
pub fn span(text: &str) -> Result<Span, String> {
    let wanted = || format!("`{text}` is no range; write 1e6..1e9 or 8M..64M");
    let (least, most) = text.split_once("..").ok_or_else(wanted)?;
    let (least, most) = (positive(least)?, amount(most)?);
    if least <= most { Ok(Span { least, most }) } else { Err(wanted()) }
}

/// The most nodes that a graph may be asked to have.
const MOST_NODES: u64 = 1000;

/// A number of nodes, or a range of them.
pub fn nodes(text: &str) -> Result<RangeInclusive<usize>, String> {
    let wanted = || format!("`{text}` is no number of nodes; write 10 or 5..30, from 1 to {MOST_NODES}");
    let (least, most) = text.split_once("..").unwrap_or((text, text));
    let (least, most) = (amount(least).map_err(|_| wanted())?, amount(most).map_err(|_| wanted())?);
    let is_range = (1..=MOST_NODES).contains(&least) && (least..=MOST_NODES).contains(&most);
    if is_range { Ok(least as usize..=most as usize) } else { Err(wanted()) }
}

/// A number from 0 to 1.
pub fn share(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(x) if (0.0..=1.0).contains(&x) => Ok(x),
        _ => Err(format!("`{text}` is no number from 0 to 1, such as 0.6")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_written_in_many_ways() {
        for (text, value) in [
            ("0", 0),
            ("1e6", 1_000_000),
            ("2K", 2_000),
            ("2kB", 2_000),
            ("1.5G", 1_500_000_000),
            ("2.5e3", 2_500),
            ("16.1K", 16_100),
            ("8.2G", 8_200_000_000),
            ("64.1M", 64_100_000),
            ("1.001M", 1_001_000),
            ("1.e+3", 1_000),
            ("1000e-3", 1),
            ("0.0", 0),
            ("0e99", 0),
            ("20GB", 20_000_000_000),
            ("1e18", 1_000_000_000_000_000_000),
            ("18446744073709551615", u64::MAX),
        ] {
            assert_eq!(amount(text), Ok(value), "{text}");
        }
        for text in [
            "", "K", "1.5", "1.0001K", "1e-3", "-1", "+1", "1e30", "1X", "1.-2K", "1..2K", "nan", "inf",
            "1 K", "é", "1K2",
        ] {
            assert!(amount(text).is_err(), "{text}");
        }
        assert!(amount("1e19").is_err_and(|why| why.contains("`1e19` is too large; write 1e18 at most")));
        assert!(amount("1.1e18").is_err() && amount("18446744073709551616e1").is_err());
        assert!(positive("0").is_err());
    }

    #[test]
    fn ranges_go_upwards() {
        assert_eq!(span("1e6..1G"), Ok(Span { least: 1_000_000, most: 1_000_000_000 }));
        assert!(span("5").is_err() && span("7..5").is_err() && span("0..5").is_err() && span("..5").is_err());
        assert_eq!((nodes("10"), nodes("5..30")), (Ok(10..=10), Ok(5..=30)));
        assert!(nodes("0").is_err() && nodes("9..3").is_err() && nodes("1..1001").is_err());
        assert!(share("0.5").is_ok() && share("1.5").is_err() && share("nan").is_err());
    }
}
