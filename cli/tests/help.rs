//! The help of every command, as a person sees it: reviewed whenever it changes.

use std::process::Command;

#[test]
fn every_command_says_what_it_takes() {
    let help = |args: &[&str]| {
        let program = env!("CARGO_BIN_EXE_onnxsmith");
        let output = Command::new(program).args(args).arg("--help").output().expect("the program starts");
        assert!(output.status.success());
        String::from_utf8(output.stdout).expect("text")
    };
    let all = help(&[]);
    insta::assert_snapshot!("onnxsmith", all);
    let listed =
        all.split("Commands:\n").nth(1).and_then(|rest| rest.split("\n\n").next()).unwrap_or_default();
    let names: Vec<&str> = listed.lines().filter_map(|line| line.split_whitespace().next()).collect();
    assert!(names.contains(&"fuzz") && names.contains(&"merge"), "{names:?}");
    for name in names.into_iter().filter(|name| *name != "help") {
        insta::assert_snapshot!(name, help(&[name]));
    }
}
