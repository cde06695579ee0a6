//! `cargo xtask commands`: the commands in the documents, run as a reader would run them.
//!
//! Every ```` ```sh ```` block of README.md, CONTRIBUTING.md, corpus/ and docs/ is run by `sh -e`, the blocks of a page one after
//! the other in one temporary folder, so that a block finds what those before it have written. `onnxsmith` and
//! `cargo run --release --` there are the program that was built, through a [`stand_in`] that shortens campaigns. A block may
//! have a comment on the line before it, which a reader of the page does not see:
//!
//! - `<!-- not run: REASON -->`: it needs the network, a cluster or an hour;
//! - `<!-- may find something -->`: a command may exit with 1, which means findings.
//!
//! What is not run is still read, and so are commands in running text and in manifests: a command that does not exist, a
//! flag that it does not have and a script that is not in the repository are errors ([`words`]), and so are links that lead
//! nowhere.

mod library;
mod links;
mod page;
pub(crate) mod stand_in;
mod words;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use anyhow::{Context, Result, bail, ensure};
use clap::Args;

use self::page::{Block, How, Page};
use self::stand_in::Surroundings;
use self::words::Programs;
use crate::checked_in::root;
use crate::corpus;
use crate::program::{Build, onnxsmith};

/// What to check.
#[derive(Args)]
pub(crate) struct Arguments {
    /// The pages, relative to the repository; without them, all
    pages: Vec<PathBuf>,
    /// The program; without it, it is built here, as for tests
    #[arg(long, value_name = "FILE")]
    program: Option<PathBuf>,
}

/// What commands may read of the repository, in the folder in which they run.
const READ: &[&str] = &["known.toml", "corpus", "conformance"];

/// Runs and reads.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let root = root();
    let program = onnxsmith(arguments.program.as_deref(), Build::Test, &[])?;
    let programs = Programs::of(&program, &root)?;
    let files = if arguments.pages.is_empty() { pages(&root)? } else { arguments.pages.clone() };
    let (mut wrong, mut ran, mut unrun) = (Vec::new(), 0, 0);
    for file in &files {
        let path = root.join(file);
        let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        let page = Page::read(&text).with_context(|| file.display().to_string())?;
        let complain = |(line, what): (usize, String)| format!("{}:{line}: {what}", file.display());
        let links = links::read(&text, path.parent().unwrap_or(&root), &root);
        let read = programs.read(&page).into_iter().chain(library::read(&page, &root)).chain(links);
        let read: Vec<String> = read.map(complain).collect();
        let folder = tempfile::tempdir().context("no folder to run commands in")?;
        for block in page.blocks.iter().filter(|block| block.is_shell()) {
            let How::Run { may_find } = block.how else {
                unrun += 1;
                continue;
            };
            ran += 1;
            let start = Instant::now();
            let said = run_block(block, may_find, folder.path(), &program, &root)
                .with_context(|| format!("{}:{}", file.display(), block.line));
            eprintln!("{}:{} ({:.1} s)", file.display(), block.line, start.elapsed().as_secs_f64());
            wrong.extend(said.err().map(|error| format!("{error:#}")));
        }
        wrong.extend(read);
    }
    for complaint in &wrong {
        eprintln!("{complaint}");
    }
    ensure!(wrong.is_empty(), "{} of the documents' commands are wrong", wrong.len());
    ensure!(ran > 0 || !arguments.pages.is_empty(), "the documents have no command to run");
    println!("{ran} blocks ran, {unrun} were only read");
    Ok(())
}

/// The pages for readers. What CHANGELOG.md says was true at its time.
fn pages(root: &Path) -> Result<Vec<PathBuf>> {
    let mut pages: Vec<PathBuf> =
        ["README.md", "CONTRIBUTING.md", "corpus/README.md"].map(PathBuf::from).into();
    let engines = corpus::engines(root)?;
    for folder in ["docs", "docs/decisions"].into_iter().chain(engines.iter().map(String::as_str)) {
        let entries = fs::read_dir(root.join(folder)).with_context(|| format!("cannot list {folder}"))?;
        let names = entries.map(|entry| Ok(Path::new(folder).join(entry?.file_name())));
        let mut names = names.collect::<std::io::Result<Vec<PathBuf>>>()?;
        names.retain(|name| name.extension().is_some_and(|e| e == "md"));
        names.sort();
        pages.extend(names);
    }
    Ok(pages)
}

/// Runs a block in the folder of its page.
fn run_block(block: &Block, may_find: bool, folder: &Path, program: &Path, root: &Path) -> Result<()> {
    for name in READ {
        let link = folder.join(name);
        if !link.exists() {
            lend(&root.join(name), &link).with_context(|| format!("cannot lend {name}"))?;
        }
    }
    let surroundings = Surroundings { program: program.to_path_buf(), may_find };
    let mut shell = Command::new("sh");
    shell.args(["-e", "-u", "-c", &block.text]).current_dir(folder);
    surroundings.apply(&mut shell, folder)?;
    let output = shell.output().context("cannot run sh")?;
    if !output.status.success() {
        let said = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        bail!("{}\n{}", output.status, said.concat());
    }
    Ok(())
}

/// A link, or a copy where there are no links.
fn lend(from: &Path, to: &Path) -> std::io::Result<()> {
    #[cfg(unix)]
    return std::os::unix::fs::symlink(from, to);
    #[cfg(not(unix))]
    return if from.is_dir() { Ok(()) } else { fs::copy(from, to).map(|_| ()) };
}
