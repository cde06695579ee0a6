//! What an engine is called in reports.
//!
//! A built-in engine and an adapter have their name on the command line. A program of the user's own, `cmd:…`, is called as its
//! `hello` says: a signature is about the engine, wherever its runner lies and with which flags it is started, and a list of
//! known findings holds on every machine. Commands to be pasted still have the `cmd:` form
//! ([`Target::engine`](crate::Target::engine)).
//!
//! Two programs may give the same name: two builds of a runtime, one runtime with other flags, or a runner for a
//! runtime that is built in too. Then a built-in engine keeps the name, or else the first on the command line; the
//! others get a number behind it: `mine#2`. Numbers are used for two reasons: the command would bring the paths of one
//! machine into every signature, and the version is the same for two programs of one build. `mine*` in a list of known
//! findings covers them all. The report says which command has which name (`Tested` in `campaign::store::identity`).

use std::collections::BTreeMap;

/// The longest name that is taken over.
const LONGEST: usize = 64;

/// The name of an engine. For a command it is made of what the engine calls itself, for all others it is the
/// name on the command line.
pub(crate) fn name(engine: &str, hello: &str) -> String {
    if !engine.starts_with("cmd:") {
        return engine.to_owned();
    }
    // Other characters mean something in signatures and lists of them, on the command line, or in paths.
    let plain = |c: char| if c.is_alphanumeric() || " -_.+()".contains(c) { c } else { '-' };
    let name: String = hello.trim().chars().take(LONGEST).map(plain).collect();
    if name.chars().any(char::is_alphanumeric) { name } else { engine.to_owned() }
}

/// The names of engines, in which different engines of one name get numbers. Each engine is given as it stands on the
/// command line, with the name that it would have.
pub(crate) fn numbered(engines: &[(&str, &str)]) -> Vec<String> {
    let mut same: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    let mut names = vec![String::new(); engines.len()];
    // A built-in engine has its name before a program that calls itself so.
    for own in [true, false] {
        for (given, (engine, name)) in
            names.iter_mut().zip(engines).filter(|(_, (engine, name))| (engine == name) == own)
        {
            let same = same.entry(name).or_default();
            let number = same.iter().position(|other| other == engine).unwrap_or_else(|| {
                same.push(engine);
                same.len() - 1
            });
            *given = if number > 0 { format!("{name}#{}", number + 1) } else { (*name).to_owned() };
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_has_the_name_that_it_gives() {
        assert_eq!(name("rten", "another"), "rten");
        assert_eq!(name("cmd:./my-runner --flag", "mine"), "mine");
        assert_eq!(name("cmd:./x", " My Runtime 2.0 (debug) "), "My Runtime 2.0 (debug)");
        assert_eq!(name("cmd:./x", "../a|b:*\n,#é"), "..-a-b-----é");
        assert_eq!(name("cmd:./x", &"n".repeat(100)).len(), LONGEST);
        for nothing in ["", " ", "..", "|"] {
            assert_eq!(name("cmd:./x", nothing), "cmd:./x");
        }
    }

    #[test]
    fn different_engines_of_one_name_have_numbers() {
        let (one, two) = (("cmd:./one", "mine"), ("cmd:./two", "mine"));
        assert_eq!(numbered(&[one, two]), ["mine", "mine#2"]);
        // Levels of one engine are not different engines.
        assert_eq!(numbered(&[one, two, one, two]), ["mine", "mine#2", "mine", "mine#2"]);
        assert_eq!(numbered(&[("cmd:./one", "rten"), ("rten", "rten"), two]), ["rten#2", "rten", "mine"]);
    }
}
