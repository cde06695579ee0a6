//! Commands that are read, not run: whether there is such a command, and whether it has the flags.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use clap::CommandFactory as _;

use super::page::Page;

/// The flags of each subcommand.
type Flags = BTreeMap<String, BTreeSet<String>>;

/// What this repository's programs take.
pub(super) struct Programs {
    onnxsmith: Flags,
    xtask: Flags,
    /// Where scripts are looked for.
    root: PathBuf,
}

/// The flags of a command, and of those that it has below it.
fn flags_of(program: &Path, name: &str) -> Result<BTreeSet<String>> {
    let own = help(program, &[name])?;
    let mut flags = flags_in(&own);
    for below in listed(&own) {
        flags.extend(flags_in(&help(program, &[name, below])?));
    }
    Ok(flags)
}

/// The commands that a help text lists.
fn listed(help: &str) -> impl Iterator<Item = &str> {
    let list =
        help.split("Commands:\n").nth(1).and_then(|rest| rest.split("\n\n").next()).unwrap_or_default();
    // What goes on in the next line is indented further.
    let begins = |line: &&str| line.strip_prefix("  ").is_some_and(|name| !name.starts_with(' '));
    let names = list.lines().filter(begins).filter_map(|line| line.split_whitespace().next());
    names.filter(|name| *name != "help")
}

/// What ends a command in a line of the shell.
const ENDS: &[&str] = &["|", "||", "&&", "&", ";", ">", ">>", "2>"];

impl Programs {
    /// Asks the program for its help, and this one for its own.
    pub(super) fn of(program: &Path, root: &Path) -> Result<Self> {
        let all = help(program, &[])?;
        let flags = |name: &str| Ok((name.to_owned(), flags_of(program, name)?));
        let mut onnxsmith: Flags = listed(&all).map(flags).collect::<Result<_>>()?;
        ensure!(onnxsmith.contains_key("fuzz"), "the program's help lists no commands:\n{all}");
        // The command without flags that the help does not list.
        onnxsmith.insert("worker".to_owned(), BTreeSet::new());
        let tasks = crate::Cli::command();
        let long = |task: &clap::Command| {
            let flags = task.get_arguments().filter_map(|a| Some(format!("--{}", a.get_long()?)));
            (task.get_name().to_owned(), flags.collect())
        };
        let xtask = tasks.get_subcommands().map(long).collect();
        Ok(Self { onnxsmith, xtask, root: root.to_path_buf() })
    }

    /// What is wrong with the commands of a page, and the line where.
    pub(super) fn read(&self, page: &Page) -> Vec<(usize, String)> {
        let mut wrong = Vec::new();
        for block in page.blocks.iter().filter(|block| ["sh", "yaml"].contains(&block.language.as_str())) {
            let lines = block.text.replace("\\\n", " ");
            for words in lines.lines().map(words) {
                let found = self.line(&words).into_iter().chain(self.files(&words));
                wrong.extend(found.map(|what| (block.line, what)));
            }
        }
        for (line, span) in &page.spans {
            wrong.extend(self.span(span).into_iter().map(|what| (*line, what)));
        }
        wrong
    }

    /// What is wrong with a line of the shell, which may hold several commands, and commands in quotes.
    fn line(&self, line: &[String]) -> Vec<String> {
        let mut wrong = Vec::new();
        for at in 0..line.len() {
            let rest = &line[at..];
            let end = rest.iter().position(|word| ENDS.contains(&word.as_str())).unwrap_or(rest.len());
            let command: Vec<&str> = rest[..end].iter().map(String::as_str).collect();
            wrong.extend(self.command(&command));
            if line[at].contains(' ') {
                wrong.extend(self.line(&words(&line[at])));
            }
        }
        wrong
    }

    /// The scripts of this repository that a line names although they do not exist.
    fn files(&self, line: &[String]) -> Vec<String> {
        let ours = line
            .iter()
            .filter(|word| ["scripts/", "adapters/"].iter().any(|folder| word.starts_with(folder)));
        ours.filter(|word| !self.root.join(word).exists()).map(|word| format!("there is no {word}")).collect()
    }

    /// What is wrong with a command that begins here, if one does.
    fn command(&self, words: &[&str]) -> Option<String> {
        let (flags, rest) = match words {
            ["onnxsmith", rest @ ..] => (&self.onnxsmith, rest),
            ["cargo", "xtask", rest @ ..] => (&self.xtask, rest),
            ["cargo", "run", rest @ ..] => {
                (&self.onnxsmith, &rest[rest.iter().position(|word| *word == "--")? + 1..])
            }
            _ => return None,
        };
        let [name, rest @ ..] = rest else { return None };
        // `onnxsmith` may be a name in a sentence.
        if name.starts_with("--") {
            return None;
        }
        let Some(known) = flags.get(*name) else {
            return Some(format!("`{}`: there is no command `{name}`", words.join(" ")));
        };
        let unknown = rest
            .iter()
            .take_while(|word| **word != "--")
            .find_map(|word| flag(word).filter(|flag| !known.contains(*flag)));
        unknown.map(|flag| format!("`{}`: `{name}` has no flag {flag}", words.join(" ")))
    }

    /// What is wrong with code in running text: a command, a subcommand with flags, or flags alone.
    fn span(&self, span: &str) -> Vec<String> {
        let words = words(span);
        let Some((first, rest)) = words.split_first() else { return Vec::new() };
        if let Some(known) = self.onnxsmith.get(first).filter(|_| !rest.is_empty()) {
            let unknown = rest.iter().find_map(|word| flag(word).filter(|flag| !known.contains(*flag)));
            return unknown
                .map(|flag| format!("`{span}`: `{first}` has no flag {flag}"))
                .into_iter()
                .collect();
        }
        if let Some(flag) = flag(first) {
            let mut all = self.onnxsmith.values().chain(self.xtask.values());
            let is_known = all.any(|known| known.contains(flag));
            return (!is_known)
                .then(|| format!("`{span}`: no command has the flag {flag}"))
                .into_iter()
                .collect();
        }
        self.line(&words)
    }
}

/// The words of a line of the shell. What is not quite a line of the shell, as in a manifest, has its words between blanks.
fn words(line: &str) -> Vec<String> {
    let line = line.split(" #").next().unwrap_or_default();
    // An end of a command may stand next to a word.
    let line = line.replace(';', " ; ");
    shlex::split(&line).unwrap_or_else(|| line.split_whitespace().map(str::to_owned).collect())
}

/// The flag that a word is, without its value.
fn flag(word: &str) -> Option<&str> {
    let flag = word.split(['=', '|']).next()?;
    (flag.len() > 2 && flag.starts_with("--")).then_some(flag)
}

fn help(program: &Path, command: &[&str]) -> Result<String> {
    let output = Command::new(program).args(command).arg("--help").output();
    let output = output.with_context(|| format!("cannot run {}", program.display()))?;
    ensure!(output.status.success(), "{} gives no help", program.display());
    String::from_utf8(output.stdout).context("the help is not UTF-8")
}

/// The flags that a help text explains: its lines that begin with one.
fn flags_in(help: &str) -> BTreeSet<String> {
    let lines = help.lines().map(str::trim_start).filter(|line| line.starts_with('-'));
    let names = lines.filter_map(|line| line.split([' ', ',']).find(|word| word.starts_with("--")));
    names.map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checked_in::root;

    fn programs() -> Programs {
        let help = "Options:\n      --on <BACKENDS>\n          The backends --not-this\n  -q, --quiet\n";
        let flags: Flags =
            [("fuzz".to_owned(), flags_in(help)), ("run".to_owned(), flags_in("  --on <A>\n"))].into();
        Programs {
            onnxsmith: flags,
            xtask: [("docs".to_owned(), ["--check".to_owned()].into())].into(),
            root: root(),
        }
    }

    fn wrong(page: &str) -> Vec<String> {
        let page = Page::read(page).unwrap();
        programs().read(&page).into_iter().map(|(_, what)| what).collect()
    }

    #[test]
    fn a_flag_that_a_command_does_not_have_is_named() {
        let block = |text: &str| wrong(&format!("<!-- not run: a test -->\n```sh\n{text}\n```\n"));
        assert_eq!(block("onnxsmith fuzz --on rten --quiet && cargo xtask docs --check"), [""; 0]);
        for (text, flag) in [
            ("onnxsmith fuzz --on rten --not-this", "--not-this"),
            ("cargo run --release -- run a --quiet", "--quiet"),
            ("true; onnxsmith run a \\\n  --cases 3", "--cases"),
            ("sbatch --wrap \"onnxsmith fuzz --out a\"", "--out"),
            ("cargo xtask docs --chek", "--chek"),
        ] {
            let found = block(text);
            assert!(found.len() == 1 && found[0].ends_with(flag), "{text}: {found:?}");
        }
        assert!(block("onnxsmith sweep")[0].ends_with("there is no command `sweep`"));
        assert!(block("python scripts/nothing.py")[0].contains("scripts/nothing.py"));
    }

    #[test]
    fn commands_and_flags_in_running_text_are_read_too() {
        assert_eq!(
            wrong("`onnxsmith fuzz --on NAME`, `fuzz --on a`, `--check`, `cargo test --workspace`, `x --y`"),
            [""; 0]
        );
        for text in
            ["`fuzz --out a`", "`--nothing`", "| `onnxsmith run --quiet` |", "`onnxsmith fuzz\n--cases 3`"]
        {
            assert_eq!(wrong(text).len(), 1, "{text}");
        }
    }
}
