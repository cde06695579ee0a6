//! Links from page to page and to files of the repository, and paths of source files: whether there is something at their end.

use std::path::Path;

/// What is wrong with the relative links of a page in this folder and with the source files that it names, and the line where.
pub(super) fn read(text: &str, folder: &Path, root: &Path) -> Vec<(usize, String)> {
    let mut wrong = Vec::new();
    let mut in_block = false;
    for (line, text) in (1..).zip(text.lines()) {
        if text.trim_start().starts_with("```") {
            in_block = !in_block;
        }
        // Code in a line may look like a link.
        let prose: String = text.split('`').step_by(2).collect();
        for link in prose.split("](").skip(1).filter(|_| !in_block) {
            let target = link.split([')', '#']).next().unwrap_or_default();
            if !target.is_empty() && !target.contains("://") && !folder.join(target).exists() {
                wrong.push((line, format!("a link leads to {target}, which is not there")));
            }
        }
        for source in text.split('`').skip(1).step_by(2).filter(|code| !in_block && is_source(code)) {
            if !root.join(source).exists() {
                wrong.push((line, format!("{source} is not there")));
            }
        }
    }
    wrong
}

/// Whether a word is the path of a source file, as seen from the root.
fn is_source(word: &str) -> bool {
    let is_rust = Path::new(word).extension().is_some_and(|ending| ending == "rs");
    is_rust && word.contains("/src/") && !word.contains(['*', '<', '…', ' ', '{'])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checked_in::root;

    #[test]
    fn a_link_leads_somewhere() {
        let text = "[a](README.md#state) [`b`](docs) [c](https://example.org/x) [d](#here) `v[0](x)`\n```\n[e](nowhere)\n```\n[f](nowhere.md)\n`ir/src/lib.rs` `ir/src/no.rs`\n";
        let found = read(text, &root(), &root());
        assert_eq!(found.iter().map(|(line, _)| *line).collect::<Vec<_>>(), [5, 6], "{found:?}");
    }
}
