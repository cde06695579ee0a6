//! Days of the calendar.

use std::fmt;
use std::str::FromStr;
use std::time::{SystemTime, UNIX_EPOCH};

use serde::Deserialize;

/// A day of the calendar, written as `2027-06-30`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Deserialize)]
#[serde(try_from = "String")]
pub struct Date {
    year: u16,
    month: u8,
    day: u8,
}

impl Date {
    /// Today, in UTC. Only the expiry of known findings depends on it.
    pub fn today() -> Self {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Self::from_unix_days((since.as_secs() / 86_400) as u32)
    }

    /// This day a year later; the 28th for the 29th of February.
    #[must_use]
    pub fn next_year(self) -> Self {
        let year = self.year + 1;
        Self { year, day: self.day.min(month_length(year.into(), self.month.into()) as u8), ..self }
    }

    /// The day that is `days` days after 1970-01-01, in UTC.
    pub fn from_unix_days(days: u32) -> Self {
        let length = |year: u32| if is_leap(year) { 366 } else { 365 };
        let (mut year, mut left) = (1970, days);
        while left >= length(year) {
            left -= length(year);
            year += 1;
        }
        let mut month = 1;
        while left >= month_length(year, month) {
            left -= month_length(year, month);
            month += 1;
        }
        Self { year: year as u16, month: month as u8, day: left as u8 + 1 }
    }
}

fn is_leap(year: u32) -> bool {
    year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400))
}

fn month_length(year: u32, month: u32) -> u32 {
    match month {
        2 => 28 + u32::from(is_leap(year)),
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

impl FromStr for Date {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wanted = || format!("`{text}` is no date; write it as \"2027-06-30\"");
        let parts: Vec<&str> = text.split('-').collect();
        let &[y, m, d] = parts.as_slice() else { return Err(wanted()) };
        let is_number = |part: &&str| part.bytes().all(|byte| byte.is_ascii_digit());
        if (y.len(), m.len(), d.len()) != (4, 2, 2) || !parts.iter().all(is_number) {
            return Err(wanted());
        }
        let date = Self {
            year: y.parse().map_err(|_| wanted())?,
            month: m.parse().map_err(|_| wanted())?,
            day: d.parse().map_err(|_| wanted())?,
        };
        let (year, month, day) = (u32::from(date.year), u32::from(date.month), u32::from(date.day));
        if (1..=12).contains(&month) && (1..=month_length(year, month)).contains(&day) {
            Ok(date)
        } else {
            Err(wanted())
        }
    }
}

impl fmt::Display for Date {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04}-{:02}-{:02}", self.year, self.month, self.day)
    }
}

impl TryFrom<String> for Date {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn date(text: &str) -> Date {
        text.parse().unwrap()
    }

    #[test]
    fn days_are_counted_by_the_calendar() {
        for (days, text) in
            [(0, "1970-01-01"), (59, "1970-03-01"), (11_016, "2000-02-29"), (20_454, "2026-01-01")]
        {
            assert_eq!(Date::from_unix_days(days), date(text));
            assert_eq!(date(text).to_string(), text);
        }
        assert_eq!(date("2028-02-29").next_year(), date("2029-02-28"));
        for text in ["2027-02-29", "2027-13-01", "2027-1-1", "27-01-01", "2027-00-10", "soon"] {
            assert!(text.parse::<Date>().is_err(), "{text}");
        }
    }
}
