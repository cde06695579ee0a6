//! Functions of WGSL: reading files of them, and bringing in those that a kernel calls.
//!
//! A file is cut at blank lines. A piece that declares a function is known by its name and brought in where it is
//! called; of what else a kernel's own file declares (`struct`, `const`), all is brought in.

use std::sync::LazyLock;

use super::class::Class;

/// Functions on the bits of floats, real functions in `f32`, and what makes a kernel of an elementwise function.
const COMMON: [&str; 3] =
    [include_str!("library/bits.wgsl"), include_str!("library/math.wgsl"), include_str!("library/map.wgsl")];

/// What can be called of every class of dtypes under the same names, with `T` for the type.
fn of_class(class: Class) -> &'static [&'static str] {
    const INTEGER: &str = include_str!("library/integer.wgsl");
    match class {
        Class::Bool | Class::Int | Class::Long => &[INTEGER, include_str!("library/signed.wgsl")],
        Class::Uint | Class::Ulong => &[INTEGER, include_str!("library/unsigned.wgsl")],
        Class::Float => &[include_str!("library/float.wgsl")],
        Class::Double => &[include_str!("library/double.wgsl")],
    }
}

/// A piece of a text, and the name of the function that it declares.
#[derive(Clone, Copy, Debug)]
pub(super) struct Piece<'t> {
    pub(super) name: Option<&'t str>,
    pub(super) text: &'t str,
}

impl<'t> Piece<'t> {
    /// A piece as it stands in a text.
    pub(super) fn new(text: &'t str) -> Self {
        let line = text.lines().find(|l| !l.starts_with("//")).unwrap_or_default();
        let name = line.strip_prefix("fn ").and_then(|rest| rest.split_once('('));
        Self { name: name.map(|(name, _)| name), text }
    }
}

/// The pieces of a text; comments that stand alone are none.
pub(super) fn pieces(text: &str) -> impl Iterator<Item = Piece<'_>> {
    let pieces = text.split("\n\n").map(str::trim_end);
    pieces.filter(|piece| piece.lines().any(|l| !l.starts_with("//"))).map(Piece::new)
}

/// Which real functions kernels call.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Debug)]
pub enum Functions {
    /// Those of the library, as accurate as good implementations everywhere.
    #[default]
    Own,
    /// The shading language's own, as the driver has them, wherever there is one.
    Builtin,
}

/// The functions that a kernel which computes in a class may call.
pub(super) fn shared(class: Option<Class>, functions: Functions) -> Vec<Piece<'static>> {
    static ALL: LazyLock<Vec<Piece<'static>>> =
        LazyLock::new(|| COMMON.into_iter().flat_map(pieces).collect());
    static BUILTINS: LazyLock<Vec<Piece<'static>>> =
        LazyLock::new(|| pieces(include_str!("library/builtins.wgsl")).collect());
    let builtin = |piece: &Piece<'static>| BUILTINS.iter().copied().find(|b| b.name == piece.name);
    let common = ALL.iter().map(|piece| match functions {
        Functions::Own => *piece,
        Functions::Builtin => builtin(piece).unwrap_or(*piece),
    });
    common.chain(class.into_iter().flat_map(of_class).flat_map(|text| pieces(text))).collect()
}

/// A function called `name` that calls `target`, with the operands that `target` declares.
pub(super) fn forward(name: &str, target: &str) -> Option<String> {
    let line = target.lines().find(|l| l.starts_with("fn "))?;
    let (declared, rest) = line.strip_prefix("fn ")?.split_once('(')?;
    let (operands, rest) = rest.split_once(')')?;
    let (result, _) = rest.split_once('{')?;
    let names: Vec<_> = operands.split(',').filter_map(|o| Some(o.split_once(':')?.0.trim())).collect();
    let call = format!("{declared}({})", names.join(", "));
    let returns = if result.trim().is_empty() { "" } else { "return " };
    Some(format!("fn {name}({operands}){result}{{ {returns}{call}; }}"))
}

/// The functions among `pieces` that `text` calls, and those that they call, in the order of the pieces.
pub(super) fn link<'p>(text: &str, pieces: &[Piece<'p>]) -> Vec<Piece<'p>> {
    let mut wanted = vec![false; pieces.len()];
    let mut unread = vec![text];
    while let Some(text) = unread.pop() {
        for (piece, wanted) in pieces.iter().zip(&mut wanted) {
            if !*wanted && piece.name.is_some_and(|name| calls(text, name)) {
                *wanted = true;
                unread.push(piece.text);
            }
        }
    }
    pieces.iter().zip(wanted).filter(|(_, wanted)| *wanted).map(|(piece, _)| *piece).collect()
}

fn calls(text: &str, name: &str) -> bool {
    text.match_indices(name).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        text[at + name.len()..].starts_with('(') && !before.is_some_and(|c| c.is_alphanumeric() || c == '_')
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn linking_adds_what_is_called_and_nothing_else() {
        let all = shared(Some(Class::Float), Functions::Own);
        let names = |text| link(text, &all).into_iter().filter_map(|p| p.name).collect::<Vec<_>>();
        assert!(names("x + abs(y)").is_empty());
        assert!(names("my_is_nan(x)").is_empty());
        let linked = names("f_sigmoid(x)");
        assert!(linked.contains(&"f_exp") && linked.contains(&"is_nan"), "{linked:?}");
        assert!(names("largest(x, y)").contains(&"order"));
    }

    #[test]
    fn names_are_unique() {
        for class in [Class::Bool, Class::Uint, Class::Long, Class::Float, Class::Double] {
            let mut names: Vec<_> = shared(Some(class), Functions::Own).into_iter().map(|p| p.name).collect();
            assert!(names.iter().all(Option::is_some), "{names:?}");
            names.sort_unstable();
            let all = names.len();
            names.dedup();
            assert!(all == names.len() && all > 20);
        }
    }

    #[test]
    fn each_builtin_stands_for_a_function_of_the_library() {
        let text = |functions| {
            let all = shared(None, functions).into_iter();
            all.map(|piece| (piece.name, piece.text)).collect::<Vec<_>>()
        };
        let (own, builtin) = (text(Functions::Own), text(Functions::Builtin));
        let replaced = own.iter().zip(&builtin).filter(|(own, builtin)| own.1 != builtin.1);
        assert_eq!(replaced.count(), pieces(include_str!("library/builtins.wgsl")).count());
        assert!(own.iter().zip(&builtin).all(|(own, builtin)| own.0 == builtin.0));
    }

    #[test]
    fn a_function_is_called_by_another_name() {
        let target = "// Why.\nfn sum(r: T, a: T) -> T { return r + a; }";
        let expected = "fn combine(r: T, a: T) -> T { return sum(r, a); }";
        assert_eq!(forward("combine", target).as_deref(), Some(expected));
        let expected = "fn element(i: u32) { of_one(i); }";
        assert_eq!(forward("element", "fn of_one(i: u32) {\n}").as_deref(), Some(expected));
    }
}
