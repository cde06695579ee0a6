//! Functions of WGSL: reading files of them, and bringing in those that a kernel calls.
//!
//! A file is cut at blank lines. A piece that declares a function is known by its name and brought in where it is
//! called; of what else a kernel's own file declares (`struct`, `const`), all is brought in.

use super::class::Class;

/// Functions on the bits of floats, and real functions in `f32`.
const COMMON: [&str; 2] = [include_str!("library/bits.wgsl"), include_str!("library/math.wgsl")];

/// What can be called of every class of dtypes under the same names, with `T` for the type.
fn of_class(class: Class) -> &'static str {
    match class {
        Class::Bool | Class::Int | Class::Long => include_str!("library/signed.wgsl"),
        Class::Uint | Class::Ulong => include_str!("library/unsigned.wgsl"),
        Class::Float => include_str!("library/float.wgsl"),
        Class::Double => include_str!("library/double.wgsl"),
    }
}

/// The texts that a kernel which computes in a class may call functions of.
pub(super) fn shared(class: Option<Class>) -> Vec<&'static str> {
    COMMON.into_iter().chain(class.map(of_class)).collect()
}

/// The pieces of a text.
pub(super) fn pieces(text: &str) -> impl Iterator<Item = &str> {
    text.split("\n\n").map(str::trim_end).filter(|piece| piece.lines().any(|l| !l.starts_with("//")))
}

/// The name of the function that a piece declares.
pub(super) fn name(piece: &str) -> Option<&str> {
    let line = piece.lines().find(|l| !l.starts_with("//"))?;
    Some(line.strip_prefix("fn ")?.split_once('(')?.0)
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
pub(super) fn link<'p>(text: &str, pieces: &[&'p str]) -> Vec<&'p str> {
    let mut wanted = vec![false; pieces.len()];
    let mut unread = vec![text];
    while let Some(text) = unread.pop() {
        for (piece, wanted) in pieces.iter().zip(&mut wanted) {
            if !*wanted && name(piece).is_some_and(|name| calls(text, name)) {
                *wanted = true;
                unread.push(piece);
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

    fn all() -> Vec<&'static str> {
        shared(Some(Class::Float)).into_iter().flat_map(pieces).collect()
    }

    #[test]
    fn linking_adds_what_is_called_and_nothing_else() {
        let names = |text| link(text, &all()).into_iter().filter_map(name).collect::<Vec<_>>();
        assert!(names("x + abs(y)").is_empty());
        assert!(names("my_is_nan(x)").is_empty());
        let linked = names("f_sigmoid(x)");
        assert!(linked.contains(&"f_exp") && linked.contains(&"is_nan"), "{linked:?}");
        assert!(names("largest(x, y)").contains(&"order"));
    }

    #[test]
    fn names_are_unique() {
        for class in [Class::Bool, Class::Uint, Class::Long, Class::Float, Class::Double] {
            let mut names: Vec<_> = shared(Some(class)).into_iter().flat_map(pieces).map(name).collect();
            assert!(names.iter().all(Option::is_some), "{names:?}");
            names.sort_unstable();
            let all = names.len();
            names.dedup();
            assert!(all == names.len() && all > 20);
        }
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
