//! The operators that are read by writing them out in others: which of them are drawn too, and on what.

use forms::Composite;
use ir::DType;
use serde::Serialize;

/// One operator.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Row {
    /// Its name.
    pub operator: &'static str,
    /// Its domain; empty for ONNX's default one.
    pub domain: &'static str,
    /// The first opset of the default domain, from 13 on, in which it is drawn; `None` where it is read alone.
    pub drawn_since: Option<u32>,
    /// The dtypes that it is drawn on: those of its first operand of numbers.
    pub dtypes: Vec<&'static str>,
}

/// Every operator of ONNX's default domain that is read and has no kernels, and those of other domains that are drawn, by name.
pub fn rows() -> Vec<Row> {
    let drawn = forms::composite::all().map(|composite| {
        let Composite { name, domain, since, dtypes, .. } = *composite;
        let dtypes = dtypes.iter().map(DType::name).collect();
        Row { operator: name, domain, drawn_since: Some(since), dtypes }
    });
    let is_read_alone = |name: &str| {
        onnx::import::knows("", name) && ops::find(name).is_none() && forms::composite::find(name).is_none()
    };
    let read = ops::schema::all().map(|(name, _)| name).filter(|name| is_read_alone(name));
    let read = read.map(|operator| Row { operator, domain: "", drawn_since: None, dtypes: Vec::new() });
    let mut rows: Vec<Row> = drawn.chain(read).collect();
    rows.sort_by_key(|row| (row.domain, row.operator));
    rows
}

/// The part of the page about operators, in Markdown.
pub fn markdown(rows: &[Row]) -> String {
    let mut out = String::from(
        "\n## Written out in others\n\nWhat is read by writing it out in operators above. Most are drawn as well, on these dtypes of the \
         first operand of numbers, or of the result where there is none ([how](decisions/drawn-as-written-out.md)).\n\n| operator | domain | drawn from opset | on |\n|---|---|---|---|\n",
    );
    for row in rows {
        let domain = if row.domain.is_empty() { "ai.onnx" } else { row.domain };
        let since = row.drawn_since.map_or_else(|| "–".to_owned(), |since| since.to_string());
        out += &format!("| {} | {domain} | {since} | {} |\n", row.operator, row.dtypes.join(" "));
    }
    let drawn = rows.iter().filter(|row| row.drawn_since.is_some()).count();
    let default = rows.iter().filter(|row| row.domain.is_empty()).count();
    out + &format!(
        "\n{} operators, {default} of them of ONNX's default domain; {drawn} are drawn.\n",
        rows.len()
    )
}
