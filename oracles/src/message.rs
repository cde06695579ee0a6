//! The parts of runtimes' messages that do not depend on the case, and how alike two messages are.

/// A message without what varies between cases: numbers, quoted names, addresses, paths and lists of tensors become
/// placeholders, and only the first sentence counts: the first line, and the next while it ends in a colon.
pub fn normalise(message: &str) -> String {
    let line = first_sentence(scanned(message));
    let line = innermost(&line);
    let mut out = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(c) = rest.chars().next() {
        let (placeholder, len) = placeholder(c, rest);
        match placeholder {
            Some(text) => {
                if !out.ends_with(text) {
                    out.push_str(text);
                }
            }
            // A star stands for anything in a list of known findings, which a message is put into as it is.
            None => out.push(if c == '*' { '×' } else { c }),
        }
        rest = &rest[len..];
    }
    let mut out = without_numbered_names(&without_tensors(&out)).replace(UNNAMED, NAMED);
    out.truncate(out.char_indices().nth(MOST).map_or(out.len(), |(i, _)| i));
    out
}

/// How many bytes of a message are looked at, at most. Runtimes have no messages that long; what plays one may send
/// megabytes.
const SCANNED: usize = 64 << 10;

/// The start of a message that is looked at: all of it, if its length is usual.
fn scanned(message: &str) -> &str {
    &message[..message.floor_char_boundary(SCANNED)]
}

/// The first line that says something. A line that ends in a colon only says where or when, and goes before the next one:
/// OpenVINO has a line for each place that an error came through.
fn first_sentence(message: &str) -> String {
    let mut lines = message.lines().map(str::trim).filter(|line| !line.is_empty()).peekable();
    let mut sentence = lines.next().unwrap_or_default().to_owned();
    while let Some(next) = lines.next_if(|_| sentence.ends_with(':')) {
        sentence.push(' ');
        sentence.push_str(next);
    }
    sentence
}

/// How messages speak of a node without a name, and of one that has one: whether it has is not what is wrong.
const UNNAMED: &str = "ode  (";
const NAMED: &str = "ode \u{2039}name\u{203a} (";

/// What a message says of the node that failed. ONNX Runtime says of a node in a branch or a loop what it says of any,
/// behind the same words about the node that has the body.
fn innermost(message: &str) -> &str {
    const FAILED: &str = "Non-zero status code returned while running ";
    message.rfind(FAILED).filter(|_| message.starts_with(FAILED)).map_or(message, |at| &message[at..])
}

/// A normalised message in which nodes that are called as exporters call them, by operator and number, have the name
/// that nodes have where nothing is made of it: `Node (Add_7)` is `Node (n7)`.
fn without_numbered_names(message: &str) -> String {
    const OPENS: &str = "Node (";
    const NUMBER: &str = "_\u{2039}n\u{203a}";
    let mut parts = message.split(OPENS);
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        out.push_str(OPENS);
        let name = part.split_once(')').and_then(|(name, _)| name.strip_suffix(NUMBER));
        let is_operator = |name: &&str| {
            name.starts_with(|c: char| c.is_ascii_uppercase()) && name.chars().all(char::is_alphanumeric)
        };
        match name.filter(is_operator) {
            Some(name) => out.extend(["n", &part[name.len() + 1..]]),
            None => out.push_str(part),
        }
    }
    out
}

/// A normalised message with a placeholder for each group in parentheses that speaks of shapes, such as the operands of
/// the node that failed: how many there are and of which dtypes is the case's, not the fault's.
fn without_tensors(message: &str) -> String {
    const SHAPE: &str = "[\u{2039}n\u{203a}]";
    let mut shapes = message.match_indices(SHAPE).map(|(at, _)| at).peekable();
    let mut out = String::with_capacity(message.len());
    let mut written = 0;
    for (open, close) in groups(message) {
        // A group within one that has been replaced is gone with it.
        if open < written {
            continue;
        }
        while shapes.next_if(|&at| at < open).is_some() {}
        if shapes.peek().is_some_and(|&at| at < close) {
            out.push_str(&message[written..open]);
            out.push_str("(\u{2039}tensors\u{203a})");
            written = close + 1;
        }
    }
    out + &message[written..]
}

/// Where the groups in parentheses start and end, in the order of their starts. One pass: a message may have a parenthesis
/// at every place, and none of them closed.
fn groups(text: &str) -> Vec<(usize, usize)> {
    let (mut open, mut groups) = (Vec::new(), Vec::new());
    for (at, c) in text.char_indices() {
        match c {
            '(' => open.push(at),
            ')' => groups.extend(open.pop().map(|start| (start, at))),
            _ => {}
        }
    }
    groups.sort_unstable();
    groups
}

/// How many characters of a message tell it from others. Runtimes that wrap one error in another put the cause last,
/// so this is long.
const MOST: usize = 400;

/// What stands for the text at the start of `rest`, and how long that text is.
fn placeholder(c: char, rest: &str) -> (Option<&'static str>, usize) {
    let run = |accept: fn(char) -> bool| rest.find(|c| !accept(c)).unwrap_or(rest.len());
    match c {
        // What has a space in it is a condition or a sentence, and likely the cause itself.
        '"' | '\'' | '`' => match rest[1..].find(|d: char| d == c || d.is_whitespace()) {
            Some(end) if rest[1 + end..].starts_with(c) => (Some("\u{2039}name\u{203a}"), end + 2),
            _ => (None, 1),
        },
        '/' => match run(|c| c.is_alphanumeric() || "/._-".contains(c)) {
            0..=3 => (None, 1),
            len => (Some("\u{2039}path\u{203a}"), len),
        },
        '[' => match list(rest, ']') {
            Some(len) => (Some("[\u{2039}n\u{203a}]"), len),
            None => (None, 1),
        },
        '{' => match list(rest, '}') {
            Some(len) => (Some("{\u{2039}n\u{203a}}"), len),
            None => (None, 1),
        },
        '-' if rest[1..].starts_with(|c: char| c.is_ascii_digit()) => {
            let digits = rest[1..].find(|c: char| !c.is_ascii_alphanumeric() && c != '.');
            (Some("\u{2039}n\u{203a}"), digits.map_or(rest.len(), |end| end + 1))
        }
        '0'..='9' => (Some("\u{2039}n\u{203a}"), run(|c| c.is_ascii_alphanumeric() || c == '.')),
        c => (None, c.len_utf8()),
    }
}

/// The length of a list of numbers up to what closes it, such as a shape, whose rank is the case's.
fn list(text: &str, close: char) -> Option<usize> {
    // Up to the first other character and no farther: each place of a message may open a list.
    let end = 1 + text[1..].find(|c: char| !(c.is_ascii_digit() || ", -".contains(c)))?;
    text[end..].starts_with(close).then_some(end + 1)
}

/// The words of a normalised message that say what is wrong: its innermost cause, without dtypes.
///
/// Runtimes put what they were doing before what went wrong, each part ended by a colon, and one cause comes up in
/// many places: `analysing node ‹name›: evaluating ‹name›: Axis ‹n› is out of range`. The last part that has enough
/// words to be a sentence is taken for the cause.
pub fn cause(normalised: &str) -> Vec<&str> {
    let starts = normalised.match_indices(": ").map(|(at, colon)| at + colon.len());
    let parts: Vec<Vec<&str>> =
        std::iter::once(0).chain(starts).map(|start| words(&normalised[start..])).collect();
    let is_sentence = |part: &&Vec<&str>| part.iter().filter(|w| **w != BLANK).count() >= SENTENCE;
    parts.iter().rev().find(is_sentence).unwrap_or(&parts[0]).clone()
}

/// How many words make a sentence.
const SENTENCE: usize = 3;

/// With fewer words, a message such as `SIGSEGV` does not tell one fault from another.
const TELLING: usize = 3;

/// Whether the words of a message tell one fault from another.
pub fn is_telling(words: &[&str]) -> bool {
    words.len() >= TELLING
}

/// Stands for every placeholder and dtype, and for a row of them.
const BLANK: &str = "\u{2039}\u{203a}";

/// The words of a normalised message, without punctuation.
pub fn words(normalised: &str) -> Vec<&str> {
    let mut words = Vec::new();
    for word in normalised.split(|c: char| !(c.is_alphanumeric() || "_\u{2039}\u{203a}".contains(c))) {
        let word = if word.contains('\u{2039}') || is_dtype(word) { BLANK } else { word };
        let repeats = word == BLANK && words.last() == Some(&BLANK);
        if !word.is_empty() && !repeats {
            words.push(word);
        }
    }
    words
}

/// Whether a word is a dtype that is written without a number; the others are placeholders by then.
fn is_dtype(word: &str) -> bool {
    ["bool", "boolean", "float", "double", "half"].iter().any(|dtype| word.eq_ignore_ascii_case(dtype))
}

/// How alike two lists of words are, from 0 to 1: 1 less the share of words to be edited, or exchanged with the next.
pub fn similarity(a: &[&str], b: &[&str]) -> f64 {
    let longer = a.len().max(b.len());
    if longer == 0 { 1.0 } else { 1.0 - strsim::generic_damerau_levenshtein(a, b) as f64 / longer as f64 }
}

/// Words with which runtimes say that they lack something, as opposed to finding fault with the model.
const LACKING: &[&str] = &[
    "not supported",
    "are supported (got",
    "unsupported",
    "not implemented",
    "unimplemented",
    "not_implemented",
    "not yet",
    "no opset import",
    "doesn't support",
    "does not support",
    "not registered",
    "unknown operator",
    "could not find an implementation",
];

/// Types of a runtime's own that ONNX does not have. A complaint about one does not say that the runtime
/// lacks the model's dtype. tract makes an i64 a symbolic dimension (TDim) if it comes from a shape.
const OWN_TYPES: &[&str] = &["tdim"];

/// Whether a clean error says that the runtime lacks something that the model asks for.
pub fn says_unsupported(message: &str) -> bool {
    let message = message.to_lowercase();
    let says = |words: &[&str]| words.iter().any(|word| message.contains(word));
    says(LACKING) && !says(OWN_TYPES)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_announce_another_go_before_it() {
        let refusal = |why: &str| {
            normalise(&format!(
                "RuntimeError: Exception from src/inference/src/cpp/core.cpp:124:\n\
                 Check 'pads_are_valid' failed at src/core/pad_shape_inference.hpp:63:\n\
                 While validating node 'opset1::Pad Pad_8 (x[0]:f32[2,3]) -> (f32[?])' with friendly_name 'n8':\n\
                 {why}\n\nand what else there is\n"
            ))
        };
        let reflected = refusal("REFLECT padding of 3 is too much.");
        assert_ne!(reflected, refusal("The pad value is no scalar."));
        assert_eq!(cause(&reflected), ["REFLECT", "padding", "of", BLANK, "is", "too", "much"]);
        assert_eq!(normalise("Error:\n\nno rank\nno more"), "Error: no rank");
        assert_eq!(normalise("Error:"), "Error:");
    }

    #[test]
    fn what_varies_is_replaced() {
        let a = normalise("node \"v12\" at /tmp/x/model.onnx: shape [2, 3] has 6 elements\nbacktrace");
        let b = normalise("node \"n7_0\" at /home/me/m.onnx: shape [14] has 14 elements");
        assert_eq!(a, b);
        assert_ne!(a, normalise("node \"v12\": dtype mismatch"));
    }

    #[test]
    fn of_bodies_within_bodies_the_node_that_failed_is_told() {
        let failed = |node: &str| {
            format!(
                "Non-zero status code returned while running {node} node. Name:'{node}_1' Status Message: "
            )
        };
        let inner = failed("Pad") + "/x/pad.cc:312: Input tensor has no dimensions";
        assert_eq!(normalise(&(failed("If") + &failed("Loop") + &inner)), normalise(&inner));
        assert_ne!(normalise(&(failed("If") + "no branch")), normalise("no branch"));
    }

    #[test]
    fn what_exporters_call_a_node_does_not_count() {
        let of = |name: &str| normalise(&format!("Node ({name}) Op (ReduceL1) [ShapeInferenceError] axis 7"));
        assert_eq!(of("Add_65"), of("n4"));
        assert_ne!(of("gemm_output_reshape"), of("n4"));
        assert_ne!(of("_inlfunc_f1_n4"), of("n4"));
        let built = |name: &str| {
            normalise(&format!("Building node {name} (Not): Node {name} (Not): expected attribute 'to'"))
        };
        assert_eq!(cause(&built("")), cause(&built("n4")));
    }

    #[test]
    fn no_star_is_left_that_would_stand_for_anything_in_a_list() {
        assert_eq!(normalise("cannot multiply a * b"), "cannot multiply a × b");
    }

    #[test]
    fn signs_and_operands_do_not_count() {
        let a =
            normalise("Axis 3 is out of range [-3, 3). Inputs were (tensor(f32) [5, 4], -, tensor(i32) [3])");
        let b = normalise("Axis -3 is out of range [-1, 1). Inputs were (tensor(bool) [8])");
        assert_eq!(a, b);
        assert_ne!(a, normalise("Axis 3 is out of range [-3, 3). Inputs were (none)"));
        let shape = |shape: &str| normalise(&format!("no pad beyond the axis. Input shape:{shape}"));
        assert_eq!(shape("{2}"), shape("{2,3,4}"));
        assert_ne!(shape("{2}"), shape("{n}"));
    }

    #[test]
    fn a_condition_in_quotes_is_no_name() {
        assert_eq!(normalise("node `n1`: failed: `a > b`"), "node \u{2039}name\u{203a}: failed: `a > b`");
        assert_eq!(normalise("it can't and won't"), "it can't and won't");
    }

    #[test]
    fn the_cause_is_the_last_sentence_whatever_was_being_done() {
        let load = normalise(
            "Failed analyse for node #9 \"n7\" Reduce13: Evaluating \"adhoc\": U32 is not a number",
        );
        let run = normalise("Evaluating #5 \"n6\" Reduce<Sum>: Bool is not a number");
        assert_eq!(cause(&load), [BLANK, "is", "not", "a", "number"]);
        assert_eq!(cause(&load), cause(&run));
        let a = normalise("wiring \"n4\": Div: Typed ops require rank match. Inputs for Div: 4,3,F32");
        assert_eq!(cause(&a)[..3], ["Typed", "ops", "require"]);
        assert_eq!(cause("Invalid axis"), ["Invalid", "axis"]);
        assert_eq!(cause(""), [""; 0]);
    }

    #[test]
    fn similarity_counts_words() {
        let ten = words("a b c d e f g h i j");
        assert_eq!(similarity(&ten, &ten), 1.0);
        assert_eq!(similarity(&ten, &ten[..9]), 0.9);
        assert_eq!(similarity(&ten, &words("a b c d e x g h i j")), 0.9);
        assert_eq!(similarity(&ten, &[]), 0.0);
        assert_eq!(similarity(&[], &[]), 1.0);
    }

    #[test]
    fn unbalanced_quotes_and_long_messages_are_kept_short() {
        assert_eq!(normalise("can't do"), "can't do");
        assert!(normalise(&"ab ".repeat(1000)).chars().count() <= MOST);
        assert_eq!(normalise(""), "");
        assert_eq!(normalise("é / ü"), "é / ü");
        assert_eq!(normalise("f(a(b [1, 2]"), "f(a(b [\u{2039}n\u{203a}]");
    }

    #[test]
    fn what_follows_the_start_of_an_endless_message_is_not_looked_at() {
        let long = "(".repeat(4 << 20);
        assert_eq!(scanned(&long).len(), SCANNED);
        assert_eq!(scanned("short"), "short");
        assert_eq!(scanned(&"é".repeat(SCANNED)).len(), SCANNED);
        assert!(scanned(&"€".repeat(SCANNED)).len() < SCANNED, "no character is cut");
        assert_eq!(normalise(&long), "(".repeat(MOST));
        assert_eq!(normalise(&"[".repeat(4 << 20)), "[".repeat(MOST));
    }

    #[test]
    fn groups_are_found_in_one_pass() {
        assert_eq!(groups("a) (b (c) (d"), [(6, 8)]);
        assert_eq!(groups("((()))"), [(0, 5), (1, 4), (2, 3)]);
        let shape = "[\u{2039}n\u{203a}]";
        let text = format!("f(a) g((b {shape}) c {shape}) h({shape}");
        assert_eq!(without_tensors(&text), format!("f(a) g(\u{2039}tensors\u{203a}) h({shape}"));
        assert_eq!(
            normalise("( (f32 [2, 3]) and (i8"),
            "( (\u{2039}tensors\u{203a}) and (i\u{2039}n\u{203a}"
        );
    }

    #[test]
    fn limitations_are_told_from_complaints() {
        assert!(says_unsupported("Operator Foo is NOT_IMPLEMENTED"));
        assert!(says_unsupported("MatMulNBits: only bits=4 and bits=2 are supported (got 8)"));
        assert!(!says_unsupported("incompatible shapes"));
        assert!(says_unsupported("BitAnd does not support F32"));
        assert!(!says_unsupported("BitAnd does not support TDim"));
    }
}
