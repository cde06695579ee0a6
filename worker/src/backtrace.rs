//! The functions that a panic came through.
//!
//! To name them takes the symbols of the whole program, which are read and sorted first. A process that has panicked is
//! replaced, so that each would do that anew. A parent that runs the same program does it once: it gets the places of the
//! frames in the program, and names them itself ([`names`]).

use std::ffi::c_void;
use std::sync::atomic::{AtomicBool, Ordering};

/// How many are reported.
const MOST: usize = 12;

/// How many frames are looked at where the parent names them: those of the panic hook and of [`MACHINERY`], and then more
/// than [`MOST`].
const DEEPEST: usize = 64;

/// What stands between a panic and the function that panicked.
const MACHINERY: [&str; 5] =
    ["rust_begin_unwind", "core::panicking", "core::option", "core::result", "std::panicking"];
/// Where the engine was called, or one of its threads began.
const ENTRIES: [&str; 5] =
    ["catch_unwind", "__rust_try", "__rust_begin_short_backtrace", "rayon_core::", "onnxsmith_worker::serve"];

/// The frames of a panic.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub(super) struct Trace {
    /// The function names from where the panic is to where the engine was called, without hashes and type parameters,
    /// which differ between builds and cases.
    pub(super) names: Vec<String>,
    /// The frames' places in the program, where the parent names them.
    pub(super) places: Vec<i64>,
}

/// Whether the parent names the frames of panics.
static PARENT_NAMES: AtomicBool = AtomicBool::new(false);

/// Takes note of the program that the parent runs: if it is this one, the parent names the frames of panics.
pub(super) fn meet_parent(its_program: Option<&str>) {
    let is_same = its_program.is_some() && its_program == program().as_deref();
    PARENT_NAMES.store(is_same, Ordering::Relaxed);
}

/// The file of the program that this process runs, told apart from all others as long as it runs; `None` if the system does
/// not tell. Its name would not do: another build may have taken it since.
pub(super) fn program() -> Option<String> {
    #[cfg(target_os = "linux")]
    {
        use std::os::unix::fs::MetadataExt;
        let file = std::fs::metadata("/proc/self/exe").ok()?;
        Some(format!("{}:{}", file.dev(), file.ino()))
    }
    #[cfg(not(target_os = "linux"))]
    None
}

/// The frames of the panic that this thread is in, to be called by a panic hook.
pub(super) fn of_panic() -> Trace {
    if PARENT_NAMES.load(Ordering::Relaxed) {
        return Trace { names: Vec::new(), places: places_of_panic() };
    }
    Trace { names: names_of_panic(), places: Vec::new() }
}

/// Only frames that are reported are looked up: to name one beneath them, in the C library, may mean to read megabytes of
/// debug information.
fn names_of_panic() -> Vec<String> {
    let mut frames = Frames::default();
    backtrace::trace(|frame| frames.take_at(frame.ip()));
    frames.names
}

fn places_of_panic() -> Vec<i64> {
    let mut places = Vec::new();
    backtrace::trace(|frame| {
        places.push(frame.ip().addr().wrapping_sub(anchor()) as i64);
        places.len() < DEEPEST
    });
    places
}

/// The names of the frames at these places of this program.
pub(super) fn names(places: &[i64]) -> Vec<String> {
    let mut frames = Frames::default();
    let at = |place: &i64| std::ptr::without_provenance_mut(anchor().wrapping_add(*place as usize));
    // A stranger's worker may send any number of places.
    let _ = places.iter().take(DEEPEST).map(at).all(|ip| frames.take_at(ip));
    frames.names
}

/// Where this process has the program: an address that is at one place in it.
fn anchor() -> usize {
    static ANCHOR: u8 = 0;
    (&raw const ANCHOR).addr()
}

/// What is kept of the frames, the innermost first.
#[derive(Default)]
struct Frames {
    names: Vec<String>,
    /// Whether the frames of the panic hook are behind us.
    began: bool,
}

impl Frames {
    /// Takes the next frame, of which this is the instruction, with functions that are inlined there; whether there is more
    /// to come.
    fn take_at(&mut self, ip: *mut c_void) -> bool {
        let mut goes_on = true;
        backtrace::resolve(ip, |symbol| {
            if let Some(name) = symbol.name() {
                goes_on = goes_on && self.take(&format!("{name:#}"));
            }
        });
        goes_on
    }

    /// Takes the next function; whether there is more to come.
    fn take(&mut self, function: &str) -> bool {
        let name = normalised(function);
        let is_any = |parts: &[&str]| parts.iter().any(|part| name.contains(part));
        if !self.began || self.names.is_empty() && is_any(&MACHINERY) {
            self.began |= name.contains(MACHINERY[0]);
            return true;
        }
        if is_any(&ENTRIES) {
            return false;
        }
        self.names.push(name.to_owned());
        self.names.len() < MOST
    }
}

/// A function without its type parameters.
fn normalised(function: &str) -> &str {
    let parameters = function.find('<').filter(|&at| at > 0).unwrap_or(function.len());
    function[..parameters].trim_end_matches(':')
}

#[cfg(test)]
mod tests {
    use std::panic::{catch_unwind, set_hook, take_hook};
    use std::sync::{Arc, Mutex};

    use super::*;

    #[test]
    fn the_parent_gives_frames_the_names_that_the_worker_would() {
        let seen = Arc::new(Mutex::new((Vec::new(), Vec::new())));
        let (to, usual, own) = (Arc::clone(&seen), take_hook(), std::thread::current().id());
        set_hook(Box::new(move |info| {
            if std::thread::current().id() == own {
                *to.lock().unwrap() = (names_of_panic(), places_of_panic());
            } else {
                usual(info);
            }
        }));
        catch_unwind(|| Vec::<i32>::new().remove(std::hint::black_box(1))).unwrap_err();
        let _ = take_hook();
        let (told, places) = seen.lock().unwrap().clone();
        assert!(told.iter().any(|name| name.contains("remove")), "{told:?}");
        assert_eq!(names(&places), told);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_parent_of_another_program_names_nothing() {
        let own = program();
        for (its, is_same) in [(own.as_deref(), true), (Some("0:0"), false), (None, false)] {
            meet_parent(its);
            assert_eq!(PARENT_NAMES.swap(false, Ordering::Relaxed), is_same, "{its:?}");
        }
    }

    #[test]
    fn frames_are_normalised() {
        let stack = [
            "backtrace::trace",
            "onnxsmith_worker::serve::record_panic",
            "__rustc::rust_begin_unwind",
            "core::panicking::panic_fmt",
            "rten::ops::conv::conv::<f32>",
            "<A as B>::run",
            "core::option::expect_failed",
            "map<alloc::vec::Vec<f32>>",
            "std::panic::catch_unwind",
            "main",
        ];
        let mut frames = Frames::default();
        let taken = stack.iter().take_while(|name| frames.take(name)).count();
        let expected = ["rten::ops::conv::conv", "<A as B>::run", "core::option::expect_failed", "map"];
        assert_eq!((taken, frames.names), (8, expected.map(str::to_owned).to_vec()));
    }
}
