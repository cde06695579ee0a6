//! How a target is named on the command line: by an engine, and maybe one of its levels.

/// The beginning of the name of a user's own runner.
const COMMAND: &str = "cmd:";

/// Whether a name stands for a user's own runner: a command line.
pub fn is_runner(name: &str) -> bool {
    name.starts_with(COMMAND)
}

/// Splits a name into an engine and a level. A command line may contain colons, so there the level must be a word of
/// its own, the last one.
pub(super) fn with_level(name: &str) -> (&str, Option<&str>) {
    let parts = if is_runner(name) { name.rsplit_once(" :") } else { name.split_once(':') };
    match parts {
        Some((engine, level)) if is_word(level) => (engine, Some(level)),
        _ => (name, None),
    }
}

fn is_word(level: &str) -> bool {
    !level.contains([' ', '\'', '"'])
}

/// Splits a command line whose last word may be meant to end in a level: `cmd:./runner:all`.
pub(super) fn glued(name: &str) -> Option<(&str, &str)> {
    let (before, level) = name.strip_prefix(COMMAND)?.rsplit_once(':')?;
    let is_level = !level.is_empty() && is_word(level) && !level.contains('/') && !before.ends_with(' ');
    (is_level && !before.is_empty()).then(|| (&name[..COMMAND.len() + before.len()], level))
}

/// An engine at a level as a command to be pasted names them.
pub fn on(engine: &str, level: &str) -> String {
    let between = if is_runner(engine) { " " } else { "" };
    format!("{engine}{between}:{level}")
}

#[cfg(test)]
mod tests {
    use super::{glued, with_level};

    #[test]
    fn a_level_stands_behind_a_colon_and_that_of_a_command_line_in_a_word_of_its_own() {
        for (name, engine, level) in [
            ("rten", "rten", None),
            ("rten:all", "rten", Some("all")),
            ("wgpu@0:teams", "wgpu@0", Some("teams")),
            ("cmd:./runner --at host:80", "cmd:./runner --at host:80", None),
            ("cmd:./runner --at host:80 :all", "cmd:./runner --at host:80", Some("all")),
            ("cmd:./runner ':80'", "cmd:./runner ':80'", None),
            ("cmd:sh -c 'a :b c'", "cmd:sh -c 'a :b c'", None),
        ] {
            assert_eq!(with_level(name), (engine, level), "{name}");
        }
    }

    #[test]
    fn what_may_be_a_level_is_seen_in_the_last_word_of_a_command_line() {
        for (name, wanted) in [
            ("cmd:./runner:all", Some(("cmd:./runner", "all"))),
            ("cmd:python r.py:all", Some(("cmd:python r.py", "all"))),
            ("cmd:./runner", None),
            ("cmd:./runner :all", None),
            ("cmd:./runner --at http://host", None),
            ("cmd:sh -c 'a:b c'", None),
            ("cmd::all", None),
            ("rten:all", None),
        ] {
            assert_eq!(glued(name), wanted, "{name}");
        }
    }
}
