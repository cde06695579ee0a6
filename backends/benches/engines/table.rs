//! What was measured, for the terminal and for the documentation.

use std::fmt;

use super::Settings;

/// The page, and what encloses the table in it.
const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/performance.md");

/// One problem: for each engine the median of its seconds, or why there is none. Where there is ONNX Runtime, it is the first.
pub(crate) struct Row {
    pub(crate) problem: String,
    pub(crate) cells: Vec<(String, Result<f64, String>)>,
}

impl Row {
    /// The seconds of the engine that the others are measured by.
    fn measure(&self) -> Option<f64> {
        let (name, seconds) = self.cells.first()?;
        seconds.as_ref().ok().copied().filter(|_| is_measure(name))
    }

    /// How many times as long as an engine ONNX Runtime takes.
    fn ratio(&self, seconds: f64) -> Option<f64> {
        self.measure().map(|measure| measure / seconds)
    }
}

fn is_measure(name: &str) -> bool {
    name.starts_with("ort:") || name.starts_with("onnxruntime:")
}

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:60}", self.problem)?;
        for (name, seconds) in &self.cells {
            match seconds {
                Ok(seconds) => write!(f, "  {name} {:8.2} ms", seconds * 1e3)?,
                Err(why) => write!(f, "  {name}: {why}")?,
            }
            if let Some(ratio) =
                seconds.as_ref().ok().and_then(|&s| self.ratio(s)).filter(|_| !is_measure(name))
            {
                write!(f, " ({ratio:5.2})")?;
            }
        }
        Ok(())
    }
}

/// Writes the table into the page, at the mark of this number of threads.
pub(crate) fn write(rows: &[Row], settings: &Settings, version: Option<&str>) -> Result<(), String> {
    let page = std::fs::read_to_string(PAGE).map_err(|e| format!("{PAGE}: {e}"))?;
    let begin = format!("<!-- begin: bench engines, threads {} -->", settings.threads);
    let end = "<!-- end -->";
    let start = page.find(&begin).ok_or(format!("{PAGE} has no `{begin}`"))? + begin.len();
    let stop = page[start..].find(end).ok_or(format!("{PAGE} does not end `{begin}`"))? + start;
    let text = markdown(rows, settings, version);
    let page = format!("{}\n{text}{}", &page[..start], &page[stop..]);
    std::fs::write(PAGE, page).map_err(|e| format!("{PAGE}: {e}"))
}

fn markdown(rows: &[Row], settings: &Settings, version: Option<&str>) -> String {
    let names: Vec<&str> =
        rows.first().map_or(vec![], |row| row.cells.iter().map(|(name, _)| name.as_str()).collect());
    let others: Vec<&str> = names.into_iter().filter(|name| !is_measure(name)).collect();
    let mut text = format!("| problem | {} |\n|---|{}\n", others.join(" | "), "---:|".repeat(others.len()));
    for row in rows {
        text += &format!("| {} |", row.problem);
        for (_, seconds) in row.cells.iter().filter(|(name, _)| !is_measure(name)) {
            text += &match seconds.as_ref().ok().and_then(|&s| row.ratio(s)) {
                Some(ratio) => format!(" {ratio:.2} |"),
                None => " – |".to_owned(),
            };
        }
        text += "\n";
    }
    let version = version.unwrap_or("that is not there");
    text + &format!("\nONNX Runtime {version}, medians of {} rounds.\n", settings.rounds)
}
