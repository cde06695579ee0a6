//! Einstein's summation, written as text: which axes of which operands are one, and which of them the result has.

use std::fmt;

use ir::{Attribute, Attributes, BadAttribute};

use crate::attributes::Part;

/// What an axis is called.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Label {
    /// So many axes as are not called by a letter, from the last one of them: `...`.
    Rest,
    /// An axis that is one with all that have this letter.
    Letter(char),
}

/// `ij,jk->ik`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Equation {
    /// The axes of each operand.
    pub operands: Vec<Vec<Label>>,
    /// The axes of the result, where they are said.
    pub result: Option<Vec<Label>>,
}

impl Equation {
    /// Reads an equation.
    pub fn parse(text: &str) -> Result<Self, String> {
        let (operands, result) = match text.split_once("->") {
            Some((operands, result)) => (operands, Some(labels(result)?)),
            None => (text, None),
        };
        let operands = operands.split(',').map(labels).collect::<Result<Vec<_>, _>>()?;
        let equation = Self { operands, result };
        let known = equation.once_or_more();
        let result = equation.results();
        for (i, label) in result.iter().enumerate() {
            if result[..i].contains(label) {
                return Err(format!("the result has `{label}` twice"));
            }
            // A rest that no operand has is no axis.
            if *label != Label::Rest && !known.contains(label) {
                return Err(format!("no operand has `{label}`"));
            }
        }
        Ok(equation)
    }

    /// The labels that operands have, each once, in their order.
    fn once_or_more(&self) -> Vec<Label> {
        let mut all: Vec<Label> = self.operands.iter().flatten().copied().collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    /// The axes of the result. Where they are not said, the rest comes first and then what appears once, in the order of the
    /// alphabet.
    pub fn results(&self) -> Vec<Label> {
        let count = |label| self.operands.iter().flatten().filter(|&&other| other == label).count();
        let implied = || {
            let labels = self.once_or_more().into_iter();
            labels.filter(|&label| label == Label::Rest || count(label) == 1).collect()
        };
        self.result.clone().unwrap_or_else(implied)
    }
}

fn labels(text: &str) -> Result<Vec<Label>, String> {
    let text: String = text.chars().filter(|c| !c.is_whitespace()).collect();
    let with_rest = text.replace("...", ".");
    if with_rest.matches('.').count() > 1 {
        return Err(format!("`{text}` has more than one `...`"));
    }
    let label = |c: char| match c {
        '.' => Ok(Label::Rest),
        c if c.is_ascii_alphabetic() => Ok(Label::Letter(c)),
        c => Err(format!("`{c}` is no letter")),
    };
    if text.matches('.').count().is_multiple_of(3) {
        with_rest.chars().map(label).collect()
    } else {
        Err(format!("`{text}` has dots that are no `...`"))
    }
}

impl fmt::Display for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rest => f.write_str("..."),
            Self::Letter(letter) => write!(f, "{letter}"),
        }
    }
}

impl fmt::Display for Equation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = |labels: &[Label]| labels.iter().map(ToString::to_string).collect::<String>();
        let operands: Vec<String> = self.operands.iter().map(|labels| text(labels)).collect();
        f.write_str(&operands.join(","))?;
        self.result.as_ref().map_or(Ok(()), |result| write!(f, "->{}", text(result)))
    }
}

impl Part for Equation {
    fn read(given: &Attributes) -> Result<Self, BadAttribute> {
        let name = "equation".to_owned();
        if given.get(&name).is_none() {
            return Err(BadAttribute::Missing(name));
        }
        let value = given.get_name(&name, "")?;
        let wrong = |why| BadAttribute::Value {
            name,
            value: value.clone(),
            wanted: format!("an equation, but {why}"),
        };
        Self::parse(&value).map_err(wrong)
    }

    fn write(&self, all: &mut Attributes) {
        all.set("equation", Attribute::Name(self.to_string()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_and_spaces_say_nothing() {
        for text in ["ij,jk->ik", "...ij,...jk->...ik", "ii->i", "ab,c", "i->", "...,..."] {
            assert_eq!(Equation::parse(text).map(|it| it.to_string()), Ok(text.to_owned()));
        }
        assert_eq!(Equation::parse(" i j , j k -> i k "), Equation::parse("ij,jk->ik"));
    }

    #[test]
    fn a_result_that_is_not_said_has_what_appears_once() {
        let implied = |text| {
            Equation::parse(text).map(|it| it.results().iter().map(ToString::to_string).collect::<String>())
        };
        assert_eq!(implied("kj,ji"), Ok("ik".to_owned()));
        assert_eq!(implied("b...a,a"), Ok("...b".to_owned()));
        assert_eq!(implied("ii"), Ok(String::new()));
    }

    #[test]
    fn what_means_nothing_is_refused() {
        for text in ["i->ii", "i->j", "i1->i", "i....->i", "i..->i", "......"] {
            assert!(Equation::parse(text).is_err(), "{text}");
        }
    }
}
