//! The axes of an Einsum's result where its equation does not say them.

use std::collections::BTreeMap;

use ops::linear::equation::{Equation, Label};

/// The labels of the result: those that are said, or else the axes without a letter, then each letter that is written once, in the
/// order of the alphabet.
pub(crate) fn results(equation: &Equation) -> Vec<Label> {
    let mut written: BTreeMap<Label, usize> = BTreeMap::new();
    for &label in equation.operands.iter().flatten() {
        *written.entry(label).or_default() += 1;
    }
    // `Rest` comes before every letter.
    let is_kept = |label: &Label, times: usize| *label == Label::Rest || times == 1;
    let implied = || written.iter().filter(|(label, times)| is_kept(label, **times)).map(|(label, _)| *label);
    equation.result.clone().unwrap_or_else(|| implied().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_once_is_kept() {
        for (equation, kept) in [
            ("ba", "ab"),
            ("ij,jk", "ik"),
            ("ii", ""),
            ("b...,...B", "...Bb"),
            ("ij->", ""),
            ("ij,jk->ki", "ki"),
        ] {
            let labels = results(&Equation::parse(equation).expect("an equation"));
            let text: String = labels.iter().map(ToString::to_string).collect();
            assert_eq!(text, kept, "{equation}");
        }
    }
}
