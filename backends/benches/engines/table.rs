//! What was measured, for the terminal and for the documentation.

use std::fmt;

use super::Settings;

/// The page, and what encloses the table in it.
const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/performance.md");

/// What one engine takes with a number of threads: the median of its seconds, or why there is none.
pub(crate) struct Cell {
    pub(crate) engine: String,
    pub(crate) threads: usize,
    pub(crate) seconds: Result<f64, String>,
}

/// One problem on all engines, with each number of threads.
pub(crate) struct Row {
    pub(crate) problem: String,
    pub(crate) cells: Vec<Cell>,
}

impl Row {
    /// The seconds of an engine with a number of threads.
    fn seconds(&self, engine: &str, threads: usize) -> Option<f64> {
        let cell = self.cells.iter().find(|cell| cell.engine == engine && cell.threads == threads)?;
        cell.seconds.as_ref().ok().copied()
    }

    /// The engine that the others are measured by, where it is there.
    fn measure(&self) -> Option<&str> {
        self.cells.iter().map(|cell| cell.engine.as_str()).find(|engine| is_measure(engine))
    }

    /// How many times as long as an engine ONNX Runtime takes with as many threads.
    fn ratio(&self, engine: &str, threads: usize) -> Option<f64> {
        Some(self.seconds(self.measure()?, threads)? / self.seconds(engine, threads)?)
    }

    /// How many times as fast an engine is with these threads as with the fewer ones.
    fn gain(&self, engine: &str, [fewer, threads]: [usize; 2]) -> Option<f64> {
        Some(self.seconds(engine, fewer)? / self.seconds(engine, threads)?)
    }

    /// The engines that ran with a number of threads, without the one that they are measured by.
    fn engines(&self, threads: usize) -> impl Iterator<Item = &str> {
        let cells = self.cells.iter().filter(move |cell| cell.threads == threads);
        cells.map(|cell| cell.engine.as_str()).filter(|engine| !is_measure(engine))
    }
}

pub(crate) fn is_measure(name: &str) -> bool {
    name.starts_with("ort:") || name.starts_with("onnxruntime:")
}

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.problem)?;
        let mut threads = None;
        for cell in &self.cells {
            if threads.replace(cell.threads) != Some(cell.threads) {
                write!(f, "\n  {} threads:", cell.threads)?;
            }
            match &cell.seconds {
                Ok(seconds) => write!(f, "  {} {:8.2} ms", cell.engine, seconds * 1e3)?,
                Err(why) => write!(f, "  {}: {why}", cell.engine)?,
            }
            if let Some(ratio) = self.ratio(&cell.engine, cell.threads).filter(|_| !is_measure(&cell.engine))
            {
                write!(f, " ({ratio:5.2})")?;
            }
        }
        Ok(())
    }
}

/// Writes the tables into the page: one for each number of threads, and what the last number gains over the first.
pub(crate) fn write(rows: &[Row], settings: &Settings, version: Option<&str>) -> Result<(), String> {
    let mut page = std::fs::read_to_string(PAGE).map_err(|e| format!("{PAGE}: {e}"))?;
    let note = format!(
        "\nONNX Runtime {}, medians of {} rounds.\n",
        version.unwrap_or("that is not there"),
        settings.rounds
    );
    for &threads in &settings.threads {
        page = with(&page, &format!("bench engines, threads {threads}"), &(ratios(rows, threads) + &note))?;
    }
    if let [fewer, .., threads] = settings.threads[..] {
        page = with(&page, "bench engines, gain", &(gains(rows, [fewer, threads]) + &note))?;
    }
    std::fs::write(PAGE, page).map_err(|e| format!("{PAGE}: {e}"))
}

/// The page with a text between the marks of this name.
fn with(page: &str, mark: &str, text: &str) -> Result<String, String> {
    let (begin, end) = (format!("<!-- begin: {mark} -->"), "<!-- end -->");
    let start = page.find(&begin).ok_or(format!("{PAGE} has no `{begin}`"))? + begin.len();
    let stop = page[start..].find(end).ok_or(format!("{PAGE} does not end `{begin}`"))? + start;
    Ok(format!("{}\n{text}{}", &page[..start], &page[stop..]))
}

/// ONNX Runtime's time ÷ that of each engine.
fn ratios(rows: &[Row], threads: usize) -> String {
    let engines: Vec<&str> = rows.first().map_or(vec![], |row| row.engines(threads).collect());
    table(rows, &engines, |row, engine| row.ratio(engine, threads))
}

/// What more threads gain ONNX Runtime and each engine.
fn gains(rows: &[Row], threads: [usize; 2]) -> String {
    let Some(row) = rows.first() else { return String::new() };
    let engines: Vec<&str> = row.measure().into_iter().chain(row.engines(threads[1])).collect();
    table(rows, &engines, |row, engine| row.gain(engine, threads))
}

/// A number for each problem and engine.
fn table(rows: &[Row], engines: &[&str], number: impl Fn(&Row, &str) -> Option<f64>) -> String {
    let mut text = format!("| problem | {} |\n|---|{}\n", engines.join(" | "), "---:|".repeat(engines.len()));
    for row in rows {
        let cells = engines.iter().map(|engine| match number(row, engine) {
            Some(number) => format!(" {number:.2} |"),
            None => " – |".to_owned(),
        });
        text += &format!("| {} |{}\n", row.problem, cells.collect::<String>());
    }
    text
}
