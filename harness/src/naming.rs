//! What an engine is called in reports.
//!
//! A built-in engine and an adapter have their name on the command line. A program of the user's own, `cmd:…`, is called as its
//! `hello` says: a signature is about the engine, wherever its runner lies and with which flags it is started, and a list of
//! known findings holds on every machine. Commands to be pasted still have the `cmd:` form ([`Target::engine`]).
//!
//! Two programs may give the same name: two builds of a runtime, one runtime with other flags, a runner of what is also built in.
//! Then a built-in engine, or else the first on the command line, has the name, and the others a number behind it: `mine#2`. It is
//! a number, as the command would bring the paths of one machine into every signature, and the version does not tell two programs
//! of one build apart. A list of known findings that is to cover them all says `mine*`. The report says which command has which
//! name ([`campaign::store::identity::Tested`]).

use std::collections::BTreeMap;

use crate::target::Target;

/// The longest name that is taken over.
const LONGEST: usize = 64;

/// The name of an engine, from what it is on the command line and what it says itself.
pub(crate) fn name(engine: &str, hello: &str) -> String {
    if !engine.starts_with("cmd:") {
        return engine.to_owned();
    }
    // Other characters mean something in signatures and lists of them, on the command line, or in paths.
    let plain = |c: char| if c.is_alphanumeric() || " -_.+()".contains(c) { c } else { '-' };
    let name: String = hello.trim().chars().take(LONGEST).map(plain).collect();
    if name.chars().any(char::is_alphanumeric) { name } else { engine.to_owned() }
}

/// Numbers different engines that have the same name.
pub fn tell_apart(targets: &mut [Target]) {
    let mut engines: BTreeMap<String, Vec<String>> = BTreeMap::new();
    // An engine of this program's own has its name before a stranger that says it is called so.
    for own in [true, false] {
        for target in targets.iter_mut().filter(|target| (target.engine == target.backend) == own) {
            let same = engines.entry(target.backend.clone()).or_default();
            let number = same.iter().position(|engine| *engine == target.engine).unwrap_or_else(|| {
                same.push(target.engine.clone());
                same.len() - 1
            });
            if number > 0 {
                target.backend = format!("{}#{}", target.backend, number + 1);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use backends::engines::models::OnModels;

    use super::*;
    use crate::reference::Reference;

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
        let names = |engines: &[(&str, &str)]| {
            let target = |(engine, hello): &(&str, &str)| {
                let mut target = Target::here(Box::new(OnModels(Reference))).swap_remove(0);
                (target.engine, target.backend) = ((*engine).to_owned(), name(engine, hello));
                target
            };
            let mut targets: Vec<Target> = engines.iter().map(target).collect();
            tell_apart(&mut targets);
            targets.into_iter().map(|target| target.backend).collect::<Vec<_>>()
        };
        let (one, two) = (("cmd:./one", "mine"), ("cmd:./two", "mine"));
        assert_eq!(names(&[one, two]), ["mine", "mine#2"]);
        // Levels of one engine are not different engines.
        assert_eq!(names(&[one, two, one, two]), ["mine", "mine#2", "mine", "mine#2"]);
        assert_eq!(names(&[("cmd:./one", "rten"), ("rten", "rten"), two]), ["rten#2", "rten", "mine"]);
    }
}
