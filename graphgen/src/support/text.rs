//! Forms as a person reads and writes them: one line for each fact, such as `dtype of X is f16 or f64`,
//! `rank of W >= 5`, `operand B is absent`, `attribute auto_pad is SAME_LOWER` or `opset >= 20`.

use std::fmt::Write as _;

use ops::Spec;

use super::form::{Fact, Subject, Test, UseForm};

/// A line that states no fact of an operator.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("`{line}` is no fact of {operator}: {why}")]
pub struct NoFact {
    /// The line.
    pub line: String,
    /// The operator.
    pub operator: &'static str,
    /// What is wrong with it.
    pub why: String,
}

/// The lines of a form.
pub fn lines(form: &UseForm, spec: &Spec) -> Vec<String> {
    form.facts().map(|fact| line(fact, spec)).collect()
}

/// The form on one line.
pub fn sentence(form: &UseForm, spec: &Spec) -> String {
    match lines(form, spec) {
        lines if lines.is_empty() => ALL.to_owned(),
        lines => lines.join(AND),
    }
}

/// The sentence of a form without facts.
const ALL: &str = "all of it";

/// What joins the facts of a sentence.
const AND: &str = " and ";

/// The form that a sentence states.
pub fn parse_sentence(sentence: &str, spec: &'static Spec) -> Result<UseForm, NoFact> {
    match sentence {
        ALL => Ok(UseForm::default()),
        sentence => sentence.split(AND).map(|line| fact(line, spec)).collect(),
    }
}

/// The form that lines state.
pub fn parse(lines: &[String], spec: &'static Spec) -> Result<UseForm, NoFact> {
    lines.iter().map(|line| fact(line, spec)).collect()
}

fn line(fact: &Fact, spec: &Spec) -> String {
    let mut text = subject_text(&fact.subject, spec);
    // Writing to a string cannot fail.
    let _ = match &fact.test {
        Test::OneOf(words) => {
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            write!(text, " is {}", words.join(" or "))
        }
        Test::Is(n) => write!(text, " = {n}"),
        Test::AtLeast(n) => write!(text, " >= {n}"),
        Test::AtMost(n) => write!(text, " <= {n}"),
        Test::Absent => write!(text, " is absent"),
        Test::Present => write!(text, " is there"),
    };
    text
}

fn subject_text(subject: &Subject, spec: &Spec) -> String {
    let operand =
        |i: &usize| spec.inputs.get(*i).map_or_else(|| format!("#{i}"), |port| port.name.to_owned());
    match subject {
        Subject::DType(i) => format!("dtype of {}", operand(i)),
        Subject::OutputDType(i) => format!("dtype of output {i}"),
        Subject::Operands => "operands".to_owned(),
        Subject::Outputs => "outputs".to_owned(),
        Subject::Operand(i) => format!("operand {}", operand(i)),
        Subject::Attribute(name) => format!("attribute {name}"),
        Subject::Length(name) => format!("length of {name}"),
        Subject::Least(name) => format!("least of {name}"),
        Subject::Greatest(name) => format!("greatest of {name}"),
        Subject::Rank(i) => format!("rank of {}", operand(i)),
        Subject::Changed => "changed axes".to_owned(),
        Subject::Opset => "opset".to_owned(),
    }
}

fn fact(line: &str, spec: &'static Spec) -> Result<Fact, NoFact> {
    let refuse = |why: String| NoFact { line: line.to_owned(), operator: spec.name, why };
    let (subject, test) = halves(line).map_err(refuse)?;
    Ok(Fact { subject: subject_of(subject, spec).map_err(refuse)?, test })
}

/// A test of a number.
type OfNumber = fn(i64) -> Test;

/// The tests of numbers, by their signs.
const NUMBERS: [(&str, OfNumber); 3] = [(" >= ", Test::AtLeast), (" <= ", Test::AtMost), (" = ", Test::Is)];

/// What is read, as text, and the test.
fn halves(line: &str) -> Result<(&str, Test), String> {
    if let Some(subject) = line.strip_suffix(" is absent") {
        return Ok((subject, Test::Absent));
    }
    if let Some(subject) = line.strip_suffix(" is there") {
        return Ok((subject, Test::Present));
    }
    for (sign, test) in NUMBERS {
        if let Some((subject, number)) = line.split_once(sign) {
            let number = number.parse().map_err(|_| format!("`{number}` is no integer"))?;
            return Ok((subject, test(number)));
        }
    }
    let (subject, words) = line.split_once(" is ").ok_or(
        "write what is read, and then `is WORD or WORD`, `is absent`, `is there`, `= N`, `>= N` or `<= N`",
    )?;
    Ok((subject, Test::OneOf(words.split(" or ").map(str::to_owned).collect())))
}

fn subject_of(text: &str, spec: &Spec) -> Result<Subject, String> {
    let operand = |name: &str| {
        let names = || spec.inputs.iter().map(|port| port.name).collect::<Vec<_>>().join(", ");
        let found = spec.inputs.iter().position(|port| port.name == name);
        let found = found.or_else(|| name.strip_prefix('#')?.parse().ok());
        found.ok_or_else(|| format!("there is no operand `{name}`; there are {}", names()))
    };
    let name = |name: &str| name.to_owned();
    Ok(match text.rsplit_once(' ') {
        Some(("dtype of output", i)) => {
            Subject::OutputDType(i.parse().map_err(|_| format!("`{i}` is no number of an output"))?)
        }
        Some(("dtype of", x)) => Subject::DType(operand(x)?),
        Some(("rank of", x)) => Subject::Rank(operand(x)?),
        Some(("operand", x)) => Subject::Operand(operand(x)?),
        Some(("attribute", a)) => Subject::Attribute(name(a)),
        Some(("length of", a)) => Subject::Length(name(a)),
        Some(("least of", a)) => Subject::Least(name(a)),
        Some(("greatest of", a)) => Subject::Greatest(name(a)),
        None if text == "operands" => Subject::Operands,
        None if text == "outputs" => Subject::Outputs,
        None if text == "opset" => Subject::Opset,
        Some(("changed", "axes")) => Subject::Changed,
        _ => {
            return Err(format!(
                "nothing is called `{text}`; there are opset, operands, outputs, changed axes, operand X, dtype of X, dtype of \
                 output N, rank of X, attribute A, length of A, least of A and greatest of A"
            ));
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn conv() -> &'static Spec {
        ops::find("Conv").unwrap()
    }

    #[test]
    fn what_is_written_is_read_again() {
        let lines_of = |lines: &[&str]| lines.iter().map(|&line| line.to_owned()).collect::<Vec<_>>();
        let all = lines_of(&[
            "dtype of X is bf16 or f16",
            "dtype of output 0 is f64",
            "operands = 3",
            "outputs >= 2",
            "operand B is absent",
            "attribute auto_pad is SAME_LOWER",
            "attribute dilations is there",
            "changed axes >= 3",
            "rank of W >= 5",
            "length of pads <= 4",
            "least of strides = 1",
            "greatest of dilations >= 2",
            "opset >= 20",
        ]);
        let form = parse(&all, conv()).unwrap();
        assert_eq!(lines(&form, conv()), all);
        for form in [form, UseForm::default()] {
            assert_eq!(parse_sentence(&sentence(&form, conv()), conv()), Ok(form));
        }
    }

    #[test]
    fn what_is_no_fact_is_named() {
        let why = |line: &str| parse(&[line.to_owned()], conv()).unwrap_err().to_string();
        assert!(why("dtype of Q is f16").contains("there is no operand `Q`; there are X, W, B"));
        assert!(why("rank of X >= many").contains("`many` is no integer"));
        assert!(why("shape of X is odd").contains("nothing is called `shape of X`"));
        assert!(why("rank of X").contains("`rank of X` is no fact of Conv: write what is read"));
    }
}
