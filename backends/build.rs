//! Tells the engines the versions of the runtimes that are built in, as they stand in `Cargo.lock`: a checkout or a commit of one
//! may take the place of the release.

use std::path::Path;

/// The packages, and the variables that their versions are in.
const RUNTIMES: [(&str, &str); 3] =
    [("rten", "RTEN_VERSION"), ("tract-onnx", "TRACT_VERSION"), ("oxionnx", "OXIONNX_VERSION")];

/// How many digits of a commit tell it from others.
const DIGITS: usize = 9;

fn main() {
    // As of this run: a build script may have been compiled in another checkout that shares the target folder.
    let package = std::env::var_os("CARGO_MANIFEST_DIR").expect("cargo says where the package is");
    let lock = Path::new(&package).join("../Cargo.lock");
    println!("cargo::rerun-if-changed={}", lock.display());
    let packages = std::fs::read_to_string(&lock).expect("the workspace has a Cargo.lock");
    for (package, variable) in RUNTIMES {
        let version = version(&packages, package).expect("Cargo.lock has all packages that may be built in");
        println!("cargo::rustc-env={variable}={version}");
    }
}

/// The version of a package; behind a `+` the commit that it is from, or that it is a checkout.
fn version(packages: &str, name: &str) -> Option<String> {
    let field = |package: &str, key: &str| {
        let value = |line: &str| {
            Some(line.strip_prefix(key)?.strip_prefix(" = \"")?.trim_end_matches('"').to_owned())
        };
        package.lines().find_map(value)
    };
    let package = packages.split("[[package]]").find(|it| field(it, "name").as_deref() == Some(name))?;
    let version = field(package, "version")?;
    Some(match field(package, "source") {
        Some(source) if source.starts_with("git+") => {
            let commit = source.rsplit('#').next().unwrap_or_default();
            format!("{version}+{}", &commit[..commit.len().min(DIGITS)])
        }
        Some(_) => version,
        None => format!("{version}+checkout"),
    })
}
