//! The adapters of this repository: programs beside this one that speak for engines which are not built in.

/// An adapter.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Adapter {
    /// What `--on` calls it.
    pub name: &'static str,
    /// The command that installs what it needs, in a checkout of this repository.
    pub set_up: &'static str,
}

const PYTHON: &str = "scripts/python-env";

/// All of them.
pub const ALL: [Adapter; 9] = [
    Adapter { name: "openvino", set_up: PYTHON },
    Adapter { name: "tvm", set_up: PYTHON },
    Adapter { name: "iree", set_up: PYTHON },
    Adapter { name: "onnxruntime", set_up: PYTHON },
    Adapter { name: "onnxruntime_webgpu", set_up: PYTHON },
    Adapter { name: "onnxruntime_cuda", set_up: "scripts/python-env --cuda" },
    Adapter { name: "onnxruntime_web", set_up: "scripts/node-env" },
    Adapter { name: "candle", set_up: "scripts/candle" },
    Adapter { name: "onnx_reference", set_up: PYTHON },
];

/// The adapter of that name. What stands behind an `@` is for it.
pub fn find(name: &str) -> Option<Adapter> {
    let name = name.split('@').next().unwrap_or(name);
    ALL.into_iter().find(|adapter| adapter.name == name)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::*;

    fn read(path: &str) -> String {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        fs::read_to_string(root.join(path)).expect("a text")
    }

    #[test]
    fn wherever_engines_are_listed_each_adapter_is() {
        let lists = [
            "README.md",
            "docs/commands.md",
            "docs/engines.md",
            "cli/tests/snapshots/help__run.snap",
            "xtask/src/main.rs",
        ];
        for path in lists {
            // Who has no GPU of NVIDIA's, and no hours, compares without these.
            let left_out = if path.starts_with("xtask") { &["onnxruntime_cuda", "iree"][..] } else { &[] };
            let text = read(path);
            let words: Vec<&str> = text.split(|c: char| !c.is_alphanumeric() && c != '_').collect();
            for Adapter { name, .. } in ALL.iter().filter(|adapter| !left_out.contains(&adapter.name)) {
                assert!(words.contains(name), "{path} lacks {name}");
            }
        }
    }

    #[test]
    fn what_sets_an_adapter_up_is_there() {
        for Adapter { name, set_up } in ALL {
            let script = set_up.split(' ').next().unwrap_or_default();
            assert!(!read(script).is_empty(), "{name}");
        }
        assert_eq!(find("onnxruntime_web@0").map(|adapter| adapter.set_up), Some("scripts/node-env"));
        assert_eq!(find("rten"), None);
    }
}
