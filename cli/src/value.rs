//! The values of flags, read from words.

use std::path::{Path, PathBuf};
use std::time::Duration;

use campaign::Shard;
use clap::builder::{RangedU64ValueParser, StringValueParser, TypedValueParser};
use graphgen::policy;
use interp::Profile;
use ir::DType;
use sweep::PartForm;
use sweep::plan::{ALL_SAMPLES, FULL_SAMPLES};

/// An entry of a list, without the spaces around the commas.
pub(crate) fn word() -> impl TypedValueParser<Value = String> {
    StringValueParser::new().map(|text| text.trim().to_owned())
}

/// An operator by its ONNX name.
pub(crate) fn operator(text: &str) -> Result<&'static str, String> {
    policy::name(text.trim())
}

/// A dtype that is drawn.
pub(crate) fn dtype(text: &str) -> Result<DType, String> {
    policy::dtype(text.trim())
}

/// A form of a sweep.
pub(crate) fn form(text: &str) -> Result<PartForm, String> {
    let known = || PartForm::ALL.map(PartForm::name).join(", ");
    PartForm::named(text.trim()).ok_or_else(|| format!("there is no form `{text}`; there are {}", known()))
}

/// How many samples a sweep takes: a number, or a name for one.
pub(crate) fn samples(text: &str) -> Result<u64, String> {
    match text {
        "full" => Ok(FULL_SAMPLES),
        "all" => Ok(ALL_SAMPLES),
        number => match graphgen::amount::positive(number)? {
            samples if samples <= ALL_SAMPLES => Ok(samples),
            samples => Err(format!("{samples} are more than there are for `all`: {ALL_SAMPLES}")),
        },
    }
}

/// The most threads that are asked for at once: more than any machine has processors.
const MOST_JOBS: u64 = 4096;

/// How many things run at the same time.
pub(crate) fn jobs() -> RangedU64ValueParser<usize> {
    RangedU64ValueParser::new().range(1..=MOST_JOBS)
}

/// The most parts of a campaign: more than there are machines, and few enough that the last case of each has a number.
const MOST_PARTS: u64 = 1 << 16;

/// A part of a campaign: `1/4`.
pub(crate) fn shard(text: &str) -> Result<Shard, String> {
    let wanted = || format!("`{text}` is no shard; write 1/4 for the first of four");
    let (i, n) = text.split_once('/').ok_or_else(wanted)?;
    let (i, n): (u64, u64) = (i.parse().map_err(|_| wanted())?, n.parse().map_err(|_| wanted())?);
    if n > MOST_PARTS {
        return Err(format!("`{text}` is one of more parts than there may be: {MOST_PARTS}"));
    }
    i.checked_sub(1).and_then(|index| Shard::new(index, n)).ok_or_else(wanted)
}

/// A time: `90s`, `10m`, `2h`, `500ms`; a number alone is seconds.
pub(crate) fn duration(text: &str) -> Result<Duration, String> {
    let wanted = || format!("`{text}` is no time; write 90s, 10m or 2h");
    let (number, unit) =
        text.split_at(text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len()));
    let seconds = match unit {
        "ms" => 1e-3,
        "" | "s" => 1.0,
        "m" => 60.0,
        "h" => 3600.0,
        _ => return Err(wanted()),
    };
    let number: f64 = number.parse().map_err(|_| wanted())?;
    Duration::try_from_secs_f64(number * seconds).map_err(|_| wanted())
}

/// A time that something may take.
pub(crate) fn timeout(text: &str) -> Result<Duration, String> {
    match duration(text)? {
        Duration::ZERO => Err("nothing is done in no time; write 10s or 500ms".to_owned()),
        time => Ok(time),
    }
}

/// A size by name: `batch=4`.
pub(crate) fn size(text: &str) -> Result<(String, i64), String> {
    let wanted = || {
        format!(
            "`{text}` is no size; write batch=4, or x[0]=4 for an axis without a name; the size in digits"
        )
    };
    let (name, size) = text.rsplit_once('=').ok_or_else(wanted)?;
    let (name, size) = (name.trim(), size.trim());
    if name.is_empty() || size.is_empty() || !size.chars().all(|c| c.is_ascii_digit()) {
        return Err(wanted());
    }
    match size.parse() {
        Ok(size) if size <= ir::dim::LIMIT => Ok((name.to_owned(), size)),
        _ => Err(format!("the size {size} is too large: no axis has more than {} elements", ir::dim::LIMIT)),
    }
}

/// The file with the value of an input: `x=x.npy`. A name may have a `=` in it, as a file may: of the places at which the text can be parted,
/// the first counts behind which there is a file, or else the first one.
pub(crate) fn input(text: &str) -> Result<(String, PathBuf), String> {
    let parted = text.match_indices('=').map(|(at, sign)| (&text[..at], Path::new(&text[at + sign.len()..])));
    let whole = parted.filter(|(name, file)| !name.is_empty() && !file.as_os_str().is_empty());
    let (first, there) = (whole.clone().next(), whole.clone().find(|(_, file)| file.exists()));
    let (name, file) =
        there.or(first).ok_or_else(|| format!("`{text}` is no input with its file; write x=x.npy"))?;
    Ok((name.to_owned(), file.to_owned()))
}

/// A relative or absolute tolerance.
pub(crate) fn tolerance(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(x) if (0.0..=f64::INFINITY).contains(&x) => Ok(x),
        _ => Err(format!("`{text}` is no tolerance; write a number that is not negative, such as 1e-3")),
    }
}

/// An accuracy profile by its name.
pub(crate) fn profile(name: &str) -> Result<&'static Profile, String> {
    let known = || Profile::ALL.map(|profile| profile.name).join(", ");
    Profile::named(name).ok_or_else(|| format!("there is no profile `{name}`; there are {}", known()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_and_shards() {
        assert_eq!(duration("1.5m"), Ok(Duration::from_secs(90)));
        assert_eq!(duration("20ms"), Ok(Duration::from_millis(20)));
        assert!(timeout("1ms").is_ok() && timeout("0s").is_err());
        assert!(tolerance("0").is_ok() && tolerance("-1").is_err() && tolerance("nan").is_err());
        assert!(duration("1d").is_err() && duration("-1s").is_err() && duration("").is_err());
        assert_eq!(size(" x[0] = 4"), Ok(("x[0]".to_owned(), 4)));
        assert!(size("n=1e9").is_err_and(|why| why.contains("digits")) && size("n=-1").is_err());
        for large in [(ir::dim::LIMIT + 1).to_string(), "9".repeat(40)] {
            assert!(size(&format!("n={large}")).is_err_and(|why| why.contains("too large")));
        }
        assert_eq!(shard("4/4").ok(), Shard::new(3, 4));
        assert!(shard("0/4").is_err() && shard("5/4").is_err() && shard("1").is_err());
        assert!(shard("1/65536").is_ok() && shard("1/65537").is_err_and(|why| why.ends_with("65536")));
    }

    #[test]
    fn an_input_may_have_a_sign_of_equality_in_its_name() {
        let folder = tempfile::tempdir().expect("a folder");
        let there = folder.path().join("b=c.npy");
        std::fs::write(&there, "").expect("a file");
        let given = |name: &str| input(&format!("{name}={}", there.display()));
        assert_eq!(given("x"), Ok(("x".to_owned(), there.clone())));
        assert_eq!(given("x=1"), Ok(("x=1".to_owned(), there.clone())));
        assert_eq!(input("x=1=none.npy"), Ok(("x".to_owned(), "1=none.npy".into())));
        assert!(input("x").is_err() && input("x=").is_err() && input("=x.npy").is_err());
    }
}
