//! Rows for people, as a table, and for spreadsheets, as CSV.

use std::collections::BTreeMap;

use crate::rows::{Between, Counts, Line, Row, Rows};

/// The columns of the table, and whether they are aligned to the right.
const HEAD: [(&str, Align); 12] = [
    ("operator", Align::Left),
    ("dtype", Align::Left),
    ("backend", Align::Left),
    ("elements", Align::Right),
    ("judged", Align::Right),
    ("exact", Align::Right),
    ("max ULP", Align::Right),
    ("p99", Align::Right),
    ("> tight", Align::Right),
    ("> spec", Align::Right),
    ("non-finite", Align::Right),
    ("worst", Align::Left),
];

#[derive(Clone, Copy, PartialEq, Eq)]
enum Align {
    Left,
    Right,
}

/// The most characters of a worst element in the table.
const WIDEST: usize = 72;

/// The rows as a table, and below it what backends lack and what failed.
pub fn text(rows: &Rows) -> String {
    let answered = rows.rows.iter().filter(|row| row.has_answers());
    let mut lines: Vec<[String; 12]> = vec![HEAD.map(|(name, _)| name.to_owned())];
    lines.extend(answered.map(cells));
    let mut out = aligned(&lines, &HEAD.map(|(_, align)| align));
    out += &of_fewer(rows);
    out += &hardly_judged(rows);
    out += &apart(rows);
    out += &lacking(rows);
    for row in &rows.rows {
        let Row { op, dtype, backend, .. } = row;
        for what in troubles(row) {
            out += &format!("{op} on {dtype}: {backend} {what}\n");
        }
    }
    out
}

/// What a backend lacks that has answers to other parts, what failed, and what killed its processes.
fn troubles(row: &Row) -> Vec<String> {
    let lacks = row.lacks.iter().filter(|_| row.has_answers());
    let lacks = lacks.map(|(why, parts)| format!("lacks {}: {why}", counted(*parts)));
    let failed =
        row.failed.iter().map(|(what, failed)| format!("failed in {}: {what}", counted(failed.parts)));
    let late = row.late_faults.iter();
    let late = late.map(|(kind, count)| format!("had {count} × {kind} that no part has in a fresh process"));
    lacks.chain(failed).chain(late).collect()
}

fn counted(parts: u64) -> String {
    if parts == 1 { "1 part".to_owned() } else { format!("{parts} parts") }
}

fn cells(row: &Row) -> [String; 12] {
    let counts = Counts::from(&row.total);
    let worst = row.total.worst.as_ref();
    let worst = worst.map(|worst| format!("{}: {} for {}", worst.place(), worst.actual, worst.expected));
    let worst = worst.unwrap_or_default();
    [
        row.op.clone(),
        row.dtype.clone(),
        row.backend.clone(),
        elements(row),
        share(counts.judged as f64 / counts.elements as f64),
        counts.exact_share.map(share).unwrap_or_default(),
        ulps(counts.max_ulp),
        ulps(counts.p99_ulp),
        counts.beyond_tight.to_string(),
        counts.beyond_spec.to_string(),
        counts.non_finite.to_string(),
        worst.chars().take(WIDEST).collect(),
    ]
}

/// How many elements a row has, and of how many, where another backend has more.
fn elements(row: &Row) -> String {
    match row.fewer() {
        0 => row.total.elements.to_string(),
        _ => format!("{} of {}", row.total.elements, row.most),
    }
}

/// What it means that rows have fewer elements than others, if some have.
fn of_fewer(rows: &Rows) -> String {
    let fewer = rows.rows.iter().filter(|row| row.fewer() > 0).count();
    if fewer == 0 {
        return String::new();
    }
    let have = if fewer == 1 { "row has" } else { "rows have" };
    format!(
        "\n{fewer} {have} fewer elements than another backend has (`of`), which answered parts that this one lacks or fails: the two are \
         not of one sample\n"
    )
}

/// What it means that of some rows hardly anything is judged, if there are some.
fn hardly_judged(rows: &Rows) -> String {
    let hardly = |row: &&Row| row.has_answers() && row.is_hardly_judged();
    match rows.rows.iter().filter(hardly).count() {
        0 => String::new(),
        few => format!(
            "\nof {few} {} less than half of the elements are judged: bounds are as large as values there, and nothing is said of the others\n",
            if few == 1 { "row" } else { "rows" }
        ),
    }
}

/// Lines of cells, each column as wide as its widest cell.
fn aligned<const N: usize>(lines: &[[String; N]], align: &[Align; N]) -> String {
    let mut widths = [0; N];
    for line in lines {
        for (width, cell) in widths.iter_mut().zip(line) {
            *width = (*width).max(cell.chars().count());
        }
    }
    let mut out = String::new();
    for line in lines {
        let padded = line.iter().zip(widths).zip(align).map(|((cell, width), align)| match align {
            Align::Left => format!("{cell:<width$}"),
            Align::Right => format!("{cell:>width$}"),
        });
        out += padded.collect::<Vec<_>>().join("  ").trim_end();
        out.push('\n');
    }
    out
}

/// How each two backends differ over all operators: how many rows agree bit for bit, and which differ most.
fn apart(rows: &Rows) -> String {
    let mut by_pair: BTreeMap<(&str, &str), Vec<Between>> = BTreeMap::new();
    for pair in rows.pairs.iter().filter(|pair| pair.apart.elements > 0) {
        by_pair.entry((&pair.a, &pair.b)).or_default().push(pair.into());
    }
    let mut out = String::new();
    for ((a, b), mut pairs) in by_pair {
        let same = pairs.iter().filter(|pair| pair.differ == 0).count();
        out += &format!("\n{a} against {b}: the same in {same} of {} rows", pairs.len());
        pairs.sort_by(|x, y| y.max_ulp.total_cmp(&x.max_ulp));
        let most = pairs.iter().filter(|pair| pair.differ > 0).take(MOST_APART);
        let most: Vec<String> = most.map(of_pair).collect();
        out +=
            &if most.is_empty() { "\n".to_owned() } else { format!("; most differ {}\n", most.join(", ")) };
    }
    out
}

/// How many rows are named in which two backends differ most.
const MOST_APART: usize = 5;

fn of_pair(pair: &Between) -> String {
    format!("{} {} ({} ULP, p99 {})", pair.op, pair.dtype, ulps(pair.max_ulp), ulps(pair.p99_ulp))
}

/// What backends lack altogether, by backend. Dtypes on which a backend lacks all operators of several stand together.
fn lacking(rows: &Rows) -> String {
    let mut by_backend: BTreeMap<&str, BTreeMap<&str, Vec<&str>>> = BTreeMap::new();
    for row in rows.rows.iter().filter(|row| !row.has_answers() && !row.lacks.is_empty()) {
        by_backend.entry(&row.backend).or_default().entry(&row.dtype).or_default().push(&row.op);
    }
    let mut out = String::new();
    for (backend, by_dtype) in by_backend {
        let of_all = |dtype: &str, lacking: usize| {
            let swept = rows.rows.iter().filter(|row| row.backend == backend && row.dtype == dtype);
            lacking > 1 && swept.count() == lacking
        };
        let (whole, by_dtype): (BTreeMap<_, _>, BTreeMap<_, _>) =
            by_dtype.into_iter().partition(|(dtype, operators)| of_all(dtype, operators.len()));
        if !whole.is_empty() {
            let dtypes: Vec<&str> = whole.into_keys().collect();
            out += &format!("\n{backend} lacks every operator on {}", dtypes.join(", "));
        }
        for (dtype, operators) in by_dtype {
            out += &format!("\n{backend} lacks on {dtype}: {}", operators.join(", "));
        }
    }
    if out.is_empty() { out } else { out + "\n" }
}

/// A share of elements, rounded down, so that 100 % means all.
fn share(share: f64) -> String {
    format!("{:.2}%", (share * 10_000.0).floor() / 100.0)
}

/// A distance in as many digits as say something.
pub fn ulps(ulp: f64) -> String {
    match ulp {
        0.0 => "0".to_owned(),
        few if few < 1e4 => format!("{}", (few * 100.0).round() / 100.0),
        many => format!("{many:.1e}"),
    }
}

/// The columns of the comma-separated values.
const COLUMNS: [&str; 17] = [
    "op",
    "dtype",
    "form",
    "backend",
    "elements",
    "exact_share",
    "max_ulp",
    "p99_ulp",
    "beyond_tight",
    "beyond_spec",
    "non_finite",
    "flushed",
    "judged",
    "worst",
    "lacks",
    "failed",
    "late_faults",
];

/// The rows as comma-separated values: a line for all of an operator on a dtype on a backend, and one for each form.
pub fn csv(rows: &Rows) -> String {
    let mut out = COLUMNS.join(",") + "\n";
    for line in rows.rows.iter().map(Line::from) {
        let Line { worst, lacks, failed, late_faults, .. } = &line;
        let late: Vec<_> = late_faults.iter().map(|(kind, count)| format!("{count} × {kind}")).collect();
        let of_all = [worst.clone().unwrap_or_default(), parts(lacks), parts(failed), late.join("; ")];
        out += &csv_line(&line, "all", &line.counts, &of_all);
        for (form, counts) in &line.forms {
            out += &csv_line(&line, form.name(), counts, &<[String; 4]>::default());
        }
    }
    out
}

/// A line of a form, with what is said of all forms together alone.
fn csv_line(line: &Line, form: &str, c: &Counts, of_all: &[String; 4]) -> String {
    let numbers = [
        c.elements.to_string(),
        c.exact_share.map(|share| share.to_string()).unwrap_or_default(),
        c.max_ulp.to_string(),
        c.p99_ulp.to_string(),
        c.beyond_tight.to_string(),
        c.beyond_spec.to_string(),
        c.non_finite.to_string(),
        c.flushed.to_string(),
        c.judged.to_string(),
    ];
    let names = [line.op.as_str(), &line.dtype, form, &line.backend];
    let cells = names.into_iter().chain(numbers.iter().chain(of_all).map(String::as_str));
    cells.map(quoted).collect::<Vec<_>>().join(",") + "\n"
}

/// What a backend lacks or what failed, and in how many parts.
fn parts(counts: &BTreeMap<String, u64>) -> String {
    let each = counts.iter().map(|(what, parts)| format!("in {}: {what}", counted(*parts)));
    each.collect::<Vec<_>>().join("; ")
}

/// A text as a cell of CSV.
fn quoted(text: &str) -> String {
    if text.contains([',', '"', '\n']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::form::PartForm;
    use crate::plan::Name;
    use crate::rows::Failed;
    use crate::tally::Tally;
    use worker::FaultKind;

    #[test]
    fn numbers_are_written_for_people() {
        assert_eq!([0.0, 0.5, 1234.567, 5e7].map(ulps), ["0", "0.5", "1234.57", "5.0e7"]);
        assert_eq!([1.0, 0.99999, 0.0].map(share), ["100.00%", "99.99%", "0.00%"]);
    }

    #[test]
    fn what_failed_is_told_and_shares_of_nothing_are_not() {
        let op = "Mod".to_owned();
        let first = Name { op, dtype: "i32".to_owned(), form: PartForm::Pairs, number: 0, length: None };
        let failed = [("panicked".to_owned(), Failed { parts: 2, first })].into();
        let row = Row { op: "Mod".to_owned(), dtype: "i32".to_owned(), failed, ..lacking("rten:none") };
        let text = csv(&Rows { rows: vec![row], pairs: Vec::new() });
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines[0].ends_with(",worst,lacks,failed,late_faults"), "{text}");
        assert_eq!(lines[1..], ["Mod,i32,all,rten:none,0,,0,0,0,0,0,0,0,,,in 2 parts: panicked,"]);
    }

    #[test]
    fn what_is_lacked_of_some_parts_is_told_with_each_reason() {
        let lacks = [("no axes".to_owned(), 2), ("no ties".to_owned(), 1)];
        let row = |elements| Row {
            op: "TopK".to_owned(),
            dtype: "f32".to_owned(),
            total: Tally { elements, ..Tally::default() },
            lacks: lacks.clone().into(),
            ..lacking("a")
        };
        let table = |elements| text(&Rows { rows: vec![row(elements)], pairs: Vec::new() });
        let some = table(200);
        assert!(some.contains("TopK on f32: a lacks 2 parts: no axes\n"), "{some}");
        assert!(some.contains("TopK on f32: a lacks 1 part: no ties\n"), "{some}");
        assert!(table(0).contains("a lacks on f32: TopK") && !table(0).contains("no axes"));
        let csv = csv(&Rows { rows: vec![row(0)], pairs: Vec::new() });
        assert!(csv.contains(",in 2 parts: no axes; in 1 part: no ties,"), "{csv}");
    }

    #[test]
    fn a_process_that_dies_of_what_ran_before_is_told() {
        let late_faults = [(FaultKind::Signal, 3)].into();
        let total = Tally { elements: 9, judged: 9, exact: 9, ..Tally::default() };
        let row = Row { op: "Relu".to_owned(), dtype: "f32".to_owned(), total, late_faults, ..lacking("a") };
        let rows = Rows { rows: vec![row], pairs: Vec::new() };
        let told = text(&rows);
        assert!(
            told.ends_with("Relu on f32: a had 3 × signal that no part has in a fresh process\n"),
            "{told}"
        );
        assert!(csv(&rows).ends_with(",3 × signal\n") && !rows.are_clean());
    }

    /// A row without an answer.
    fn lacking(backend: &str) -> Row {
        Row {
            op: String::new(),
            dtype: String::new(),
            backend: backend.to_owned(),
            total: Tally::default(),
            most: 0,
            forms: BTreeMap::new(),
            lengths: BTreeMap::new(),
            lacks: BTreeMap::new(),
            failed: BTreeMap::new(),
            late_faults: BTreeMap::new(),
        }
    }

    #[test]
    fn a_row_with_fewer_elements_than_another_backend_has_is_marked() {
        let row = |backend: &str, elements: u64| Row {
            op: "Exp".to_owned(),
            dtype: "f32".to_owned(),
            total: Tally { elements, judged: elements / 3, ..Tally::default() },
            most: 300,
            ..lacking(backend)
        };
        let table = |rows: Vec<Row>| text(&Rows { rows, pairs: Vec::new() });
        let marked = table(vec![row("a", 300), row("b", 200), row("c", 0)]);
        assert!(marked.contains("200 of 300") && !marked.contains("300 of"), "{marked}");
        assert!(marked.contains("\n1 row has fewer elements"), "{marked}");
        assert!(!table(vec![row("a", 300)]).contains("300 of "));
        assert!(
            marked.contains("33.33%")
                && marked.contains("\nof 2 rows less than half of the elements are judged"),
            "{marked}"
        );
    }

    #[test]
    fn a_cell_with_commas_or_quotes_is_quoted() {
        assert_eq!(quoted("plain"), "plain");
        assert_eq!(quoted("a, \"b\""), "\"a, \"\"b\"\"\"");
    }
}
