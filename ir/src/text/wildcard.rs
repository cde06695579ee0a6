//! Patterns in which `*` is any text.

/// Whether a whole text is as a pattern says, in which each `*` stands for any text, the empty one included, and everything
/// else for itself.
pub fn matches(pattern: &str, text: &str) -> bool {
    let Some((first, rest)) = pattern.split_once('*') else { return pattern == text };
    let Some(mut left) = text.strip_prefix(first) else { return false };
    let (between, last) = rest.rsplit_once('*').unwrap_or(("", rest));
    // The leftmost place for each part leaves the most room for the others, so that none has to be tried again.
    for part in between.split('*') {
        let Some(at) = left.find(part) else { return false };
        left = &left[at + part.len()..];
    }
    left.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn a_star_is_any_text_and_everything_else_itself() {
        assert!(matches("a*c", "abc") && matches("a*c", "ac") && matches("*", "") && matches("a**", "a"));
        assert!(matches("a*b*b", "abb") && matches("*aa*", "xaax") && matches("abc", "abc"));
        assert!(!matches("a*b*b", "ab") && !matches("ab*ba", "aba") && !matches("abc", "abcd"));
        assert!(!matches("a.c", "abc") && !matches("*b", "abc") && matches("‹n›*", "‹n› of ‹n›"));
        assert!(matches("*L*Pool", "GlobalLpPool") && !matches("*L*Pool", "GlobalLpPools"));
    }

    #[test]
    fn many_stars_take_no_longer_than_the_text_is() {
        let text = "a".repeat(10_000);
        assert!(matches(&"a*".repeat(5_000), &text) && !matches(&("a*".repeat(5_000) + "b"), &text));
    }
}
