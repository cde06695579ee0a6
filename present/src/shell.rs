//! Commands for a person to paste into a shell.

use std::borrow::Cow;
use std::path::Path;

/// The command that runs a case on a target, which is named as [`harness::target::on`] has it, or by its engine alone.
pub fn run(case: &Path, target: &str) -> String {
    command("run", case, target)
}

/// The command that looks for a smaller case.
pub fn reduce(case: &Path, target: &str) -> String {
    command("reduce", case, target)
}

/// The command that writes what an engine has to a file.
pub fn probe(engine: &str, out: &Path) -> String {
    format!("onnxsmith backends --probe {} --out {}", word(engine), word(&out.to_string_lossy()))
}

/// The command that judges each operator of a model, with what was given of its inputs.
pub fn blame(case: &Path, target: &str, given: &[String]) -> String {
    let given = given.iter().map(|part| format!(" {}", word(part)));
    command("blame", case, target) + &given.collect::<String>()
}

fn command(verb: &str, case: &Path, target: &str) -> String {
    format!("onnxsmith {verb} {} --on {}", word(&case.to_string_lossy()), word(target))
}

/// A text as one word.
fn word(text: &str) -> Cow<'_, str> {
    shlex::try_quote(text).unwrap_or(Cow::Borrowed(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_pasted_is_one_word_each() {
        let case = Path::new("a folder/case-7");
        assert_eq!(run(case, "rten:all"), "onnxsmith run 'a folder/case-7' --on rten:all");
        let words = shlex::split(&reduce(case, "cmd:./my runner --at host:80 :none")).unwrap();
        assert_eq!(words[1..], ["reduce", "a folder/case-7", "--on", "cmd:./my runner --at host:80 :none"]);
        let given = ["--dim", "a b=4"].map(str::to_owned);
        assert_eq!(
            blame(case, "ort:none", &given),
            "onnxsmith blame 'a folder/case-7' --on ort:none --dim 'a b=4'"
        );
        assert_eq!(
            probe("cmd:./my runner", Path::new("a file")),
            "onnxsmith backends --probe 'cmd:./my runner' --out 'a file'"
        );
        assert_eq!(run(case, "cmd:./runner"), "onnxsmith run 'a folder/case-7' --on cmd:./runner");
    }
}
