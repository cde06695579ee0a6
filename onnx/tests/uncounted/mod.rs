//! Settings for models whose values nobody needs to read them.

use graphgen::Settings;

/// Operators that pick as many elements as their operands say: a model with one is read for values, which these have not.
pub(crate) const COUNTED: [&str; 2] = ["NonZero", "Compress"];

/// Settings without these.
pub(crate) fn settings() -> Settings {
    let mut settings = Settings::default();
    settings.operators.retain(|name| !COUNTED.contains(name));
    settings
}
