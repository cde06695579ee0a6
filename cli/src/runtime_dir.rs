//! A driver that complains.
//!
//! Where a Vulkan device is looked for, a layer of Mesa's asks Wayland's library which one the screen is on, and that prints
//! "XDG_RUNTIME_DIR is invalid or not set in the environment" on standard error, several times, where it is not set: in
//! containers, on CI machines, over ssh. (An empty one is none.) So the commands that look for a device start
//! themselves once more with a folder in which nothing is and nothing can be made. All other commands, and what they
//! start, have the user's environment as it is.

#[cfg(unix)]
const VARIABLE: &str = "XDG_RUNTIME_DIR";

/// No folder, so that no program can listen in it.
#[cfg(unix)]
const NOTHING: &str = "/dev/null";

/// Where the variable is not set, runs this command with it, and does not come back. Should that not work, the driver complains.
#[cfg(unix)]
pub(crate) fn provide() {
    use std::os::unix::process::CommandExt;
    if std::env::var_os(VARIABLE).is_some_and(|folder| !folder.is_empty()) {
        return;
    }
    let mut words = std::env::args_os();
    let (Some(name), Ok(program)) = (words.next(), std::env::current_exe()) else { return };
    // What comes back is the error.
    let _ = std::process::Command::new(program).arg0(name).args(words).env(VARIABLE, NOTHING).exec();
}

/// Only Mesa complains.
#[cfg(not(unix))]
pub(crate) fn provide() {}
