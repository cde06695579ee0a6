//! How to depend on the crates, as the documents say it: the packages and folders that a `toml` block names.

use std::fs;
use std::path::Path;

use super::page::Page;

/// What is wrong with the dependencies in a page's `toml` blocks, and the line where.
pub(super) fn read(page: &Page, root: &Path) -> Vec<(usize, String)> {
    let blocks = page.blocks.iter().filter(|block| block.language == "toml");
    blocks.flat_map(|block| wrong(&block.text, root).into_iter().map(|what| (block.line, what))).collect()
}

fn wrong(text: &str, root: &Path) -> Vec<String> {
    let table: toml::Table = match text.parse() {
        Ok(table) => table,
        Err(error) => return vec![error.to_string()],
    };
    let dependencies = table.get("dependencies").and_then(toml::Value::as_table).into_iter().flatten();
    dependencies.filter_map(|(name, dependency)| wrong_dependency(name, dependency, root)).collect()
}

/// What is wrong with a dependency on a crate of this workspace.
fn wrong_dependency(name: &str, dependency: &toml::Value, root: &Path) -> Option<String> {
    let package = dependency.get("package")?.as_str()?;
    let manifest = root.join(name).join("Cargo.toml");
    let Some(found) = fs::read_to_string(&manifest).ok().and_then(|text| text.parse::<toml::Table>().ok())
    else {
        return Some(format!("there is no crate `{name}`"));
    };
    let is = found.get("package")?.get("name")?.as_str()?;
    if is != package {
        return Some(format!("the package of `{name}` is `{is}`, not `{package}`"));
    }
    let path = dependency.get("path")?.as_str()?;
    (!Path::new(path).ends_with(name)).then(|| format!("`{path}` is not the folder of `{name}`"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checked_in::root;

    #[test]
    fn packages_and_folders_are_those_of_the_workspace() {
        let of = |text: &str| wrong(&format!("[dependencies]\n{text}\n"), &root());
        assert_eq!(
            of("ir = { package = \"onnxsmith-ir\", path = \"../onnxsmith/ir\" }\nserde = \"1\""),
            [""; 0]
        );
        assert_eq!(of("ir = { package = \"onnxsmith-graph\", path = \"../onnxsmith/ir\" }").len(), 1);
        assert_eq!(of("ir = { package = \"onnxsmith-ir\", path = \"../onnxsmith/ops\" }").len(), 1);
        assert_eq!(of("rr = { package = \"onnxsmith-ir\", path = \"../onnxsmith/rr\" }").len(), 1);
        assert_eq!(of("= 1").len(), 1);
    }
}
