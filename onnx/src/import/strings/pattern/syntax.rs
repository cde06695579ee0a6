//! Which patterns mean the same in RE2 as in the crate `regex`.
//!
//! RE2: [syntax](https://github.com/google/re2/wiki/Syntax), and its parser (`re2/parse.cc`) where the page is silent.
//! The crate has more, which RE2 refuses, or reads as other characters: `[a[b]]` is a class and a bracket there, and
//! `a{ 2}` five characters. RE2 has more, too, which the crate refuses by itself. Here each part of a pattern is looked
//! at as the crate reads it.

use regex_syntax::ast::parse::Parser;
use regex_syntax::ast::{
    self, AssertionKind, Ast, ClassBracketed, ClassSetBinaryOp, ClassSetItem, ClassUnicode, ClassUnicodeKind,
    Flag, Flags, FlagsItemKind, GroupKind, HexLiteralKind, Literal, LiteralKind, Repetition, RepetitionKind,
    RepetitionRange, Span, Visitor,
};

/// The largest count of a repetition, alone or as the product of one inside others (RE2, `kMaxRepeat`).
const MOST_REPEATS: u32 = 1000;

/// The names of Unicode classes that both have: general categories, and some scripts. `C` is another set in each, as
/// unassigned characters are not in RE2's. Names in other spellings, aliases and properties are the crate's alone.
const CLASSES: [&str; 50] = [
    "Any",
    "Cc",
    "Cf",
    "Co",
    "L",
    "Ll",
    "Lm",
    "Lo",
    "Lt",
    "Lu",
    "M",
    "Mc",
    "Me",
    "Mn",
    "N",
    "Nd",
    "Nl",
    "No",
    "P",
    "Pc",
    "Pd",
    "Pe",
    "Pf",
    "Pi",
    "Po",
    "Ps",
    "S",
    "Sc",
    "Sk",
    "Sm",
    "So",
    "Z",
    "Zl",
    "Zp",
    "Zs",
    "Arabic",
    "Armenian",
    "Bengali",
    "Cyrillic",
    "Devanagari",
    "Ethiopic",
    "Georgian",
    "Greek",
    "Han",
    "Hangul",
    "Hebrew",
    "Hiragana",
    "Katakana",
    "Latin",
    "Thai",
];

/// The strings on which a pattern matches the same here as in RE2.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Same {
    /// All strings.
    Any,
    /// Strings of ASCII without a vertical tab. In RE2, `\d` and its like match ASCII alone, and `\s` does
    /// not match that tab.
    Plain,
}

impl Same {
    /// Whether a string is one of those.
    pub(super) fn has(self, text: &str) -> bool {
        match self {
            Self::Any => true,
            Self::Plain => text.is_ascii() && !text.contains('\u{b}'),
        }
    }
}

/// The strings on which a pattern matches the same here as in RE2. The error says what RE2 does not have.
pub(super) fn check(pattern: &str) -> Result<Same, String> {
    let ast = Parser::new().parse(pattern).map_err(|e| e.kind().to_string())?;
    ast::visit(&ast, Reader { pattern, same: Same::Any, repeats: Vec::new() })
}

struct Reader<'p> {
    pattern: &'p str,
    same: Same,
    /// For each repetition around what is being looked at, how often that may still be repeated.
    repeats: Vec<u32>,
}

impl Visitor for Reader<'_> {
    type Output = Same;
    type Err = String;

    fn finish(self) -> Result<Same, String> {
        Ok(self.same)
    }

    fn visit_pre(&mut self, ast: &Ast) -> Result<(), String> {
        match ast {
            Ast::Empty(_) | Ast::Dot(_) | Ast::Alternation(_) | Ast::Concat(_) => Ok(()),
            Ast::Flags(set) => flags(&set.flags),
            Ast::Literal(literal) => self.literal(literal),
            Ast::Assertion(assertion) => self.assertion(&assertion.kind, &assertion.span),
            Ast::ClassUnicode(class) => self.unicode(class),
            Ast::ClassPerl(_) => self.of_ascii(),
            Ast::ClassBracketed(class) => self.bracketed(class),
            Ast::Repetition(repetition) => self.repetition(repetition),
            Ast::Group(group) => self.group(&group.kind),
        }
    }

    fn visit_post(&mut self, ast: &Ast) -> Result<(), String> {
        if matches!(ast, Ast::Repetition(_)) {
            self.repeats.pop();
        }
        Ok(())
    }

    fn visit_class_set_item_pre(&mut self, item: &ClassSetItem) -> Result<(), String> {
        match item {
            ClassSetItem::Empty(_) | ClassSetItem::Ascii(_) | ClassSetItem::Union(_) => Ok(()),
            ClassSetItem::Literal(literal) => self.literal(literal),
            ClassSetItem::Range(range) => self.literal(&range.start).and_then(|()| self.literal(&range.end)),
            ClassSetItem::Unicode(class) => self.unicode(class),
            ClassSetItem::Perl(_) => self.of_ascii(),
            ClassSetItem::Bracketed(class) => Err(self.lacks("no class inside another", &class.span)),
        }
    }

    fn visit_class_set_binary_op_pre(&mut self, operation: &ClassSetBinaryOp) -> Result<(), String> {
        Err(self.lacks("no classes that are calculated", &operation.span))
    }
}

impl Reader<'_> {
    /// The part of the pattern that is somewhere.
    fn text(&self, span: &Span) -> &str {
        self.pattern.get(span.start.offset..span.end.offset).unwrap_or_default()
    }

    fn lacks(&self, what: &str, span: &Span) -> String {
        format!("RE2 has {what}, as `{}` is here", self.text(span))
    }

    #[allow(clippy::unnecessary_wraps, reason = "the other parts may be refused")]
    fn of_ascii(&mut self) -> Result<(), String> {
        self.same = Same::Plain;
        Ok(())
    }

    fn literal(&self, literal: &Literal) -> Result<(), String> {
        match literal.kind {
            LiteralKind::Verbatim
            | LiteralKind::Meta
            | LiteralKind::Superfluous
            | LiteralKind::Octal
            | LiteralKind::Special(_)
            | LiteralKind::HexFixed(HexLiteralKind::X)
            | LiteralKind::HexBrace(HexLiteralKind::X) => Ok(()),
            LiteralKind::HexFixed(HexLiteralKind::UnicodeShort | HexLiteralKind::UnicodeLong)
            | LiteralKind::HexBrace(HexLiteralKind::UnicodeShort | HexLiteralKind::UnicodeLong) => {
                Err(self.lacks("no such escape", &literal.span))
            }
        }
    }

    fn assertion(&mut self, kind: &AssertionKind, span: &Span) -> Result<(), String> {
        match kind {
            AssertionKind::StartLine
            | AssertionKind::EndLine
            | AssertionKind::StartText
            | AssertionKind::EndText => Ok(()),
            AssertionKind::WordBoundary | AssertionKind::NotWordBoundary => self.of_ascii(),
            AssertionKind::WordBoundaryStart
            | AssertionKind::WordBoundaryEnd
            | AssertionKind::WordBoundaryStartAngle
            | AssertionKind::WordBoundaryEndAngle
            | AssertionKind::WordBoundaryStartHalf
            | AssertionKind::WordBoundaryEndHalf => Err(self.lacks("no such boundary", span)),
        }
    }

    fn unicode(&self, class: &ClassUnicode) -> Result<(), String> {
        let is_in_both = match &class.kind {
            ClassUnicodeKind::OneLetter(letter) => CLASSES.contains(&letter.to_string().as_str()),
            ClassUnicodeKind::Named(name) => CLASSES.contains(&name.as_str()),
            ClassUnicodeKind::NamedValue { .. } => false,
        };
        if is_in_both { Ok(()) } else { Err(self.lacks("maybe no such class, or another one", &class.span)) }
    }

    /// RE2 has a range where a `-` or `]` at the beginning is followed by a `-` and something else.
    fn bracketed(&self, class: &ClassBracketed) -> Result<(), String> {
        let text = self.text(&class.span);
        let inside = text.trim_start_matches('[').trim_start_matches('^');
        let is_range = inside.strip_prefix("]-").is_some_and(|rest| !rest.starts_with(']'));
        if is_range || text.contains("--") {
            return Err(self.lacks("another range", &class.span));
        }
        Ok(())
    }

    fn repetition(&mut self, repetition: &Repetition) -> Result<(), String> {
        let (span, left) = (&repetition.op.span, self.repeats.last().copied().unwrap_or(MOST_REPEATS));
        if matches!(*repetition.ast, Ast::Repetition(_)) {
            return Err(self.lacks("no repetition of another without a group", span));
        }
        let (counts, most) = match &repetition.op.kind {
            RepetitionKind::ZeroOrOne | RepetitionKind::ZeroOrMore | RepetitionKind::OneOrMore => {
                (String::new(), 0)
            }
            RepetitionKind::Range(RepetitionRange::Exactly(n)) => (format!("{{{n}}}"), *n),
            RepetitionKind::Range(RepetitionRange::AtLeast(n)) => (format!("{{{n},}}"), *n),
            RepetitionKind::Range(RepetitionRange::Bounded(m, n)) => (format!("{{{m},{n}}}"), *n),
        };
        // In any other spelling it is characters: with spaces, or with zeros before a number.
        if !self.text(span).starts_with(&counts) {
            return Err(self.lacks("no such repetition", span));
        }
        let left = left / most.max(1);
        if left == 0 {
            return Err(self.lacks(&format!("at most {MOST_REPEATS} repetitions"), span));
        }
        self.repeats.push(left);
        Ok(())
    }

    fn group(&self, kind: &GroupKind) -> Result<(), String> {
        match kind {
            GroupKind::CaptureIndex(_) => Ok(()),
            GroupKind::NonCapturing(set) => flags(set),
            GroupKind::CaptureName { starts_with_p: true, name }
                if name.name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') =>
            {
                Ok(())
            }
            // Newer versions have names without a P.
            GroupKind::CaptureName { name, .. } => Err(self.lacks("maybe no such name", &name.span)),
        }
    }
}

fn flags(flags: &Flags) -> Result<(), String> {
    let lacking = flags.items.iter().find_map(|item| match item.kind {
        FlagsItemKind::Negation
        | FlagsItemKind::Flag(
            Flag::CaseInsensitive | Flag::MultiLine | Flag::DotMatchesNewLine | Flag::SwapGreed,
        ) => None,
        FlagsItemKind::Flag(Flag::Unicode) => Some('u'),
        FlagsItemKind::Flag(Flag::CRLF) => Some('R'),
        FlagsItemKind::Flag(Flag::IgnoreWhitespace) => Some('x'),
    });
    lacking.map_or(Ok(()), |flag| Err(format!("RE2 has no flag `{flag}`")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_both_have_is_told_apart_by_the_strings() {
        for pattern in [
            "",
            "a|ab|",
            "(?i)é.",
            "(?ims-U:^a$)",
            "(?P<a_1>x)",
            r"[[:alpha:][:^digit:]]",
            r"[]a][^]a][a-c-e][-a][a-]",
            r"\pL\P{Lu}\p{Greek}[\p{Lu}\PN]",
            r"\x41\x{e9}\.\-\_\ \%\n\v",
            "a{2}b{2,}?c{0,3}",
            "(a{30}){30}",
            r"\A\z",
        ] {
            assert_eq!(check(pattern), Ok(Same::Any), "{pattern}");
        }
        for pattern in [r"\d", r"[^\w]", r"a\b", r"\B", r"(?:\s)*"] {
            assert_eq!(check(pattern), Ok(Same::Plain), "{pattern}");
        }
        assert!(Same::Any.has("é\u{b}") && Same::Plain.has("a b\n"));
        assert!(!Same::Plain.has("é") && !Same::Plain.has("\u{b}"));
    }

    #[test]
    fn what_re2_lacks_or_reads_otherwise_is_named() {
        for (pattern, why) in [
            ("[a[b]]", "no class inside"),
            ("[[.a.]]", "no class inside"),
            ("[a&&b]", "calculated"),
            ("[a-z--b]", "another range"),
            ("[a~~b]", "calculated"),
            ("[--a]", "another range"),
            ("[]-a]", "another range"),
            ("[^]-a]", "another range"),
            ("(?x)a b", "flag `x`"),
            ("(?R:a)", "flag `R`"),
            ("(?-u:a)", "flag `u`"),
            (r"\u0061", "no such escape"),
            (r"\u{61}", "no such escape"),
            (r"[\U00000061-z]", "no such escape"),
            (r"\<a", "no such boundary"),
            (r"a\>", "no such boundary"),
            (r"\b{start}a", "no such boundary"),
            (r"a\b{end-half}", "no such boundary"),
            (r"\p{Greek}\p{greek}", r"`\p{greek}`"),
            (r"\p{Alphabetic}", "no such class"),
            (r"[\p{sc=Greek}]", "no such class"),
            (r"\pC", "no such class"),
            ("(?<a>b)", "no such name"),
            ("(?P<a.b>c)", "no such name"),
            ("a**", "no repetition of another"),
            ("a{2}{3}", "no repetition of another"),
            ("a{ 2}", "no such repetition"),
            ("a{2, 3}", "no such repetition"),
            ("a{02}", "no such repetition"),
            ("a{1001}", "at most 1000"),
            ("(a{30}){40}", "at most 1000"),
        ] {
            let said = check(pattern).expect_err(pattern);
            assert!(said.contains(why), "{pattern}: {said}");
        }
    }
}
