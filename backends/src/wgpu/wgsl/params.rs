//! What the host tells a kernel, by name.
//!
//! [`params!`](crate::wgpu::wgsl::params) declares the parameters of a kernel once. The WGSL struct that the body reads
//! as `params.name` and the words that a launch passes both follow from the declaration. [`body!`](crate::wgpu::wgsl::body)
//! takes the text of a kernel together with its parameters and does not compile if either side lacks a name.

use std::marker::PhantomData;

/// One name in a WGSL struct.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Field {
    /// What it is called on both sides.
    pub(crate) name: &'static str,
    /// Its WGSL type.
    pub(crate) wgsl: &'static str,
    /// The fields of that type, if it is a struct of ours.
    pub(crate) fields: &'static [Field],
}

/// A value that can be passed to a kernel.
pub(crate) trait Param {
    /// The WGSL type, whose elements are words without gaps.
    const WGSL: &'static str;
    /// The fields of that type, if it is a struct.
    const FIELDS: &'static [Field] = &[];
    /// Appends the words of the value.
    fn push(&self, words: &mut Vec<u32>);
}

impl Param for () {
    const WGSL: &'static str = "";
    fn push(&self, _: &mut Vec<u32>) {}
}

impl Param for u32 {
    const WGSL: &'static str = "u32";
    fn push(&self, words: &mut Vec<u32>) {
        words.push(*self);
    }
}

impl Param for i32 {
    const WGSL: &'static str = "i32";
    fn push(&self, words: &mut Vec<u32>) {
        words.push(*self as u32);
    }
}

impl Param for f32 {
    const WGSL: &'static str = "f32";
    fn push(&self, words: &mut Vec<u32>) {
        words.push(self.to_bits());
    }
}

/// One number for each of three spatial axes, from the outermost.
impl Param for [u32; 3] {
    const WGSL: &'static str = "array<u32, 3>";
    fn push(&self, words: &mut Vec<u32>) {
        words.extend(self);
    }
}

/// As many as there are, so it is the last field. WGSL has no empty arrays: a word that nobody reads stands for none.
impl Param for Vec<u32> {
    const WGSL: &'static str = "array<u32>";
    fn push(&self, words: &mut Vec<u32>) {
        words.extend(self);
        if self.is_empty() {
            words.push(0);
        }
    }
}

/// Declares a struct of parameters; see [`self`](crate::wgpu::wgsl::params).
macro_rules! params {
    ($(#[$doc:meta])* $visibility:vis struct $name:ident { $($(#[$field_doc:meta])* $field:ident: $ty:ty,)+ }) => {
        $(#[$doc])*
        #[derive(Clone, Debug)]
        $visibility struct $name {
            $($(#[$field_doc])* pub(crate) $field: $ty,)+
        }

        impl $crate::wgpu::wgsl::Param for $name {
            const WGSL: &'static str = stringify!($name);
            const FIELDS: &'static [$crate::wgpu::wgsl::Field] = &[$($crate::wgpu::wgsl::Field {
                name: stringify!($field),
                wgsl: <$ty as $crate::wgpu::wgsl::Param>::WGSL,
                fields: <$ty as $crate::wgpu::wgsl::Param>::FIELDS,
            },)+];
            fn push(&self, words: &mut Vec<u32>) {
                $($crate::wgpu::wgsl::Param::push(&self.$field, words);)+
            }
        }
    };
}
pub(crate) use params;

/// The text of a kernel, whose parameters are those of `P`.
#[derive(Debug)]
pub(crate) struct Body<P> {
    /// Tells bodies apart, with the module it is in.
    pub(super) name: &'static str,
    /// WGSL, function by function, with a blank line between two.
    pub(super) texts: &'static [&'static str],
    params: PhantomData<fn(P)>,
}

impl<P> Clone for Body<P> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<P> Copy for Body<P> {}

impl<P> Body<P> {
    /// For [`body!`](crate::wgpu::wgsl::body), which checks the names.
    pub(crate) const fn new(name: &'static str, texts: &'static [&'static str]) -> Self {
        Self { name, texts, params: PhantomData }
    }
}

/// The WGSL files of a kernel and the type of its parameters: `body!(Params, "file.wgsl")`. A name that only one of
/// both sides has stops the compiler.
macro_rules! body {
    ($params:ty, $($file:literal),+) => {{
        const TEXTS: &[&str] = &[$(include_str!($file)),+];
        const FIELDS: &[$crate::wgpu::wgsl::Field] = <$params as $crate::wgpu::wgsl::Param>::FIELDS;
        const _: () = $crate::wgpu::wgsl::every_declared_name_is_read(TEXTS, FIELDS);
        const _: () = $crate::wgpu::wgsl::every_name_read_is_declared(TEXTS, FIELDS);
        $crate::wgpu::wgsl::Body::<$params>::new(concat!(module_path!(), $(" ", $file),+), TEXTS)
    }};
}
pub(crate) use body;

/// Fails to compile, with the name, where a parameter is declared that no text reads.
pub(crate) const fn every_declared_name_is_read(texts: &[&str], fields: &[Field]) {
    if let Some(name) = unused(texts, fields) {
        panic!("{}", name);
    }
}

/// Fails to compile, with the name, where a text reads a parameter that is not declared.
pub(crate) const fn every_name_read_is_declared(texts: &[&str], fields: &[Field]) {
    let mut t = 0;
    while t < texts.len() {
        if let Some(name) = undeclared(texts[t], fields) {
            panic!("{}", name);
        }
        t += 1;
    }
}

/// A declared name that no text reads.
const fn unused<'f>(texts: &[&str], fields: &'f [Field]) -> Option<&'f str> {
    let mut f = 0;
    while f < fields.len() {
        let Field { name, fields: inner, .. } = fields[f];
        let (mut read, mut t) = (false, 0);
        while t < texts.len() {
            read = read || reads(texts[t].as_bytes(), name.as_bytes());
            t += 1;
        }
        if !read {
            return Some(name);
        }
        if let Some(name) = unused(texts, inner) {
            return Some(name);
        }
        f += 1;
    }
    None
}

/// Whether a text has `.name` as a whole word after `params` or one of its fields.
const fn reads(text: &[u8], name: &[u8]) -> bool {
    let mut at = 0;
    while let Some(start) = next_params(text, at) {
        let mut word = start;
        loop {
            let end = word_end(text, word);
            if same(text, word, end, name) {
                return true;
            }
            if end < text.len() && text[end] == b'.' {
                word = end + 1;
            } else {
                break;
            }
        }
        at = start;
    }
    false
}

/// A name that a text reads and that is not declared.
const fn undeclared<'t>(text: &'t str, fields: &[Field]) -> Option<&'t str> {
    let (all, text) = (text, text.as_bytes());
    let mut at = 0;
    while let Some(start) = next_params(text, at) {
        let (mut level, mut word) = (fields, start);
        let mut first = true;
        loop {
            let end = word_end(text, word);
            let (mut found, mut f) = (false, 0);
            while f < level.len() && !found {
                if same(text, word, end, level[f].name.as_bytes()) {
                    found = true;
                    level = level[f].fields;
                }
                f += 1;
            }
            // What every kernel is told; see `Shader::source`.
            let always = first && (same(text, word, end, b"zero") || same(text, word, end, b"count"));
            if !found && !always {
                return Some(all.split_at(end).0.split_at(word).1);
            }
            first = false;
            if found && !level.is_empty() && end < text.len() && text[end] == b'.' {
                word = end + 1;
            } else {
                break;
            }
        }
        at = start;
    }
    None
}

/// The place after the next `params.` of a text, at or after `at`.
const fn next_params(text: &[u8], mut at: usize) -> Option<usize> {
    const READ: &[u8] = b"params.";
    while at + READ.len() <= text.len() {
        if text[at] == b'p' && same(text, at, at + READ.len(), READ) && (at == 0 || !is_word(text[at - 1])) {
            return Some(at + READ.len());
        }
        at += 1;
    }
    None
}

const fn is_word(c: u8) -> bool {
    c.is_ascii_alphanumeric() || c == b'_'
}

const fn word_end(text: &[u8], mut at: usize) -> usize {
    while at < text.len() && is_word(text[at]) {
        at += 1;
    }
    at
}

const fn same(text: &[u8], start: usize, end: usize, word: &[u8]) -> bool {
    if end - start != word.len() {
        return false;
    }
    let mut i = 0;
    while i < word.len() {
        if text[start + i] != word[i] {
            return false;
        }
        i += 1;
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    params! {
        struct Step {
            by: u32,
        }
    }

    params! {
        struct Example {
            /// Documented like every field.
            n: u32,
            alpha: f32,
            step: Step,
            sizes: Vec<u32>,
        }
    }

    const GOOD: &str =
        "params.n * params.step.by + params.sizes[params.zero] * u32(params.alpha) < params.count";

    #[test]
    fn values_are_passed_in_the_order_of_their_declaration() {
        let mut words = Vec::new();
        Example { n: 7, alpha: 1.0, step: Step { by: 3 }, sizes: vec![] }.push(&mut words);
        assert_eq!(words, [7, 0x3f80_0000, 3, 0]);
        let names: Vec<_> = Example::FIELDS.iter().map(|f| (f.name, f.wgsl)).collect();
        assert_eq!(names, [("n", "u32"), ("alpha", "f32"), ("step", "Step"), ("sizes", "array<u32>")]);
    }

    #[test]
    fn a_name_that_one_side_lacks_is_found() {
        let lacks = |text: &str| {
            let undeclared = undeclared(text, Example::FIELDS).map(str::to_owned);
            (unused(&[text], Example::FIELDS), undeclared)
        };
        assert_eq!(lacks(GOOD), (None, None));
        assert_eq!(lacks(&GOOD.replace("params.n ", "my_params.n ")).0, Some("n"));
        assert_eq!(lacks(&GOOD.replace(".by", "")).0, Some("by"));
        assert_eq!(lacks(&format!("params.m + {GOOD}")).1.as_deref(), Some("m"));
        assert_eq!(lacks(&format!("params.step.zero + {GOOD}")).1.as_deref(), Some("zero"));
    }
}
