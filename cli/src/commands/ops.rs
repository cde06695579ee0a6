//! `onnxsmith ops`

use anyhow::bail;
use present::{table, written_out};

use crate::args::{Common, Ops};
use crate::screen;
use campaign::Exit;

/// Lists the operators.
pub(crate) fn run(common: Common, args: Ops) -> anyhow::Result<Exit> {
    if common.json && args.markdown {
        bail!("--markdown and --json ask for two forms; leave one out");
    }
    let rows = table::rows();
    if common.json {
        screen::json(&serde_json::json!({ "operators": rows, "written_out": written_out::rows() }))?;
    } else if args.markdown {
        screen::text(&table::markdown(&rows))?;
    } else {
        let mut out = String::new();
        for r in &rows {
            out += &format!(
                "{:<26} {:>2}  cpu {:>2}/{}  wgpu {:>2}/{}  {}\n",
                r.operator,
                r.since,
                r.cpu.len(),
                r.dtypes.len(),
                r.wgpu.len(),
                r.dtypes.len(),
                r.dtypes.join(" ")
            );
        }
        for r in written_out::rows() {
            let since = r.drawn_since.map_or_else(|| "--".to_owned(), |since| format!("{since:>2}"));
            out += &format!(
                "{:<26} {since}  written out where it is read  {}\n",
                r.operator,
                r.dtypes.join(" ")
            );
        }
        out += "\nWithout kernels:\n";
        out += &table::reasons(&rows);
        screen::text(&out)?;
    }
    Ok(Exit::Clean)
}
