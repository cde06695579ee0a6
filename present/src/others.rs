//! What the targets made of the whole cases of a finding, in words.
//!
//! A case is reduced for the target that is accused alone. So what the others do is told of the whole case, and one that is wrong
//! for another reason is told with that reason: it may well be right about what is left.

use std::collections::BTreeMap;

use campaign::group::Group;
use campaign::report::Others;

/// What some levels of one engine made of the cases, all of them the same.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Line {
    /// The engine and its levels, as `rten at all, none`.
    pub targets: String,
    /// How many cases they got right and wrong.
    pub counts: Vec<String>,
    /// Whether they got some of the cases wrong.
    pub is_wrong: bool,
    /// The signatures of what is wrong instead of this finding, with the number of cases, most frequent first.
    pub instead: Vec<(String, u64)>,
}

/// How many signatures of other wrong answers are listed.
const INSTEAD: usize = 3;

/// The lines of a group, engine by engine.
pub fn lines(group: &Group) -> Vec<Line> {
    let mut alike: BTreeMap<&str, Vec<(&Others, Vec<&str>)>> = BTreeMap::new();
    for (target, made) in group.others.iter().filter(|(_, made)| **made != Others::default()) {
        let (engine, level) = target.rsplit_once(':').unwrap_or((target, ""));
        let of_engine = alike.entry(engine).or_default();
        match of_engine.iter_mut().find(|(other, _)| *other == made) {
            Some((_, levels)) => levels.push(level),
            None => of_engine.push((made, vec![level])),
        }
    }
    let of_engine = |(engine, all): (&str, Vec<(&Others, Vec<&str>)>)| -> Vec<Line> {
        all.into_iter().map(|(made, levels)| line(engine, &levels, made)).collect()
    };
    alike.into_iter().flat_map(of_engine).collect()
}

fn line(engine: &str, levels: &[&str], made: &Others) -> Line {
    let Others { right, same, otherwise, silent, as_signatures } = made;
    let counts = [
        (*right, "right"),
        (*same, "wrong in the same way"),
        (*otherwise, "wrong, but not known to be in the same way"),
        (*silent, "not judged"),
    ];
    let counts = counts.iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{count} {what}"));
    let mut instead: Vec<(String, u64)> =
        as_signatures.iter().map(|(name, count)| (name.clone(), *count)).collect();
    instead.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    instead.truncate(INSTEAD);
    let targets = match levels {
        [""] => engine.to_owned(),
        levels => format!("{engine} at {}", levels.join(", ")),
    };
    Line { targets, counts: counts.collect(), is_wrong: made.wrong() > 0, instead }
}

#[cfg(test)]
mod tests {
    use oracles::{Finding, Symptom, Verdict};

    use super::*;

    fn example() -> Finding {
        match Verdict::bug("ort", "all", Symptom::WrongType, String::new()) {
            Verdict::Bug(finding) => *finding,
            other => panic!("{other:?} is no bug"),
        }
    }

    fn group(others: BTreeMap<String, Others>) -> Group {
        Group {
            backend: "ort".to_owned(),
            place: "form Loop in context".to_owned(),
            does: "wrong type".to_owned(),
            count: 2,
            smallest: None,
            reduced: None,
            steady: None,
            example: example(),
            known: None,
            known_in: None,
            others,
            signatures: Vec::new(),
        }
    }

    #[test]
    fn levels_that_do_the_same_are_one_line_and_what_is_wrong_instead_is_named() {
        let same = Others { same: 1, ..Others::default() };
        let signature = "rten | Conv f32 dense | mismatch gross".to_owned();
        let conv = BTreeMap::from([(signature.clone(), 1)]);
        let otherwise = Others { otherwise: 1, as_signatures: conv, ..Others::default() };
        let of = [
            ("ort:all", same.clone()),
            ("ort:basic", Others { right: 1, ..Others::default() }),
            ("ort:none", same),
            ("rten:all", otherwise),
            ("an earlier one", Others::default()),
        ];
        let lines = lines(&group(of.into_iter().map(|(target, made)| (target.to_owned(), made)).collect()));
        let told: Vec<(&str, String)> =
            lines.iter().map(|l| (l.targets.as_str(), l.counts.join(", "))).collect();
        let expected = [
            ("ort at all, none", "1 wrong in the same way"),
            ("ort at basic", "1 right"),
            ("rten at all", "1 wrong, but not known to be in the same way"),
        ];
        assert_eq!(told, expected.map(|(targets, counts)| (targets, counts.to_owned())));
        assert_eq!(lines[2].instead, [(signature, 1)]);
    }
}
