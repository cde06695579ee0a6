//! Which names the values of a scope have.

use std::collections::HashSet;

/// The names in use, as a set. It is made when the first new name is asked for: most copies of a program get
/// none.
#[derive(Debug, Default)]
pub(super) struct Taken(Option<HashSet<String>>);

impl Taken {
    /// This name or, where it is in use, one made from it; it is in use from now on. `names` are all that are
    /// in use so far.
    pub(super) fn fresh(&mut self, names: &[String], name: &str) -> String {
        let taken = self.0.get_or_insert_with(|| names.iter().cloned().collect());
        let mut name = name.to_owned();
        while !taken.insert(name.clone()) {
            name.push('_');
        }
        name
    }
}

impl Clone for Taken {
    fn clone(&self) -> Self {
        Self::default()
    }
}

/// The set says nothing that the names do not.
impl PartialEq for Taken {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_name_is_none_that_is_in_use() {
        let mut names = vec!["x".to_owned(), "x_".to_owned()];
        let mut taken = Taken::default();
        for wanted in ["y", "x__", "y_", "x___"] {
            let name = taken.fresh(&names, &wanted[..1]);
            assert_eq!(name, wanted);
            names.push(name);
        }
        assert_eq!(taken.clone().fresh(&names, "y"), "y__");
    }
}
