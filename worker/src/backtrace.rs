//! The functions that a panic came through.

/// How many are reported.
const MOST: usize = 12;

/// What stands between a panic and the function that panicked.
const MACHINERY: [&str; 5] =
    ["rust_begin_unwind", "core::panicking", "core::option", "core::result", "std::panicking"];
/// Where the engine was called, or one of its threads began.
const ENTRIES: [&str; 5] =
    ["catch_unwind", "__rust_try", "__rust_begin_short_backtrace", "rayon_core::", "onnxsmith_worker::serve"];

/// The function names from where the panic is to where the engine was called, without hashes and type parameters,
/// which differ between builds and cases.
///
/// Only these frames are looked up: to name one beneath them, in the C library, may mean to read megabytes of debug
/// information, in every worker that panics.
pub(super) fn of_panic() -> Vec<String> {
    let mut frames = Frames::default();
    backtrace::trace(|frame| {
        let mut goes_on = true;
        backtrace::resolve_frame(frame, |symbol| {
            if let Some(name) = symbol.name() {
                goes_on = goes_on && frames.take(&format!("{name:#}"));
            }
        });
        goes_on
    });
    frames.names
}

/// What is kept of the frames, the innermost first.
#[derive(Default)]
struct Frames {
    names: Vec<String>,
    /// Whether the frames of the panic hook are behind us.
    began: bool,
}

impl Frames {
    /// Takes the next frame; whether there is more to come.
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
    use super::*;

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
