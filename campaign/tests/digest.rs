//! A seed gives the same case on every machine and in every build of one version: models and inputs of 1,000 seeds
//! are compared with `digest.txt`, a hash per 50 seeds.
//!
//! A difference on one platform alone is a bug: something depends on hash order, on the width of `usize`, or on a
//! function of the platform's mathematical library. A difference everywhere means that the change alters what a
//! seed generates. If that is meant, write the file anew and note the change in `CHANGELOG.md`:
//!
//! ```sh
//! UPDATE_DIGEST=1 cargo test -p onnxsmith-campaign --test digest
//! ```

use std::fmt::Write;
use std::path::Path;

use graphgen::Settings;
use harness::{Case, Maker};

const SEEDS: u64 = 1000;
const SEEDS_PER_LINE: u64 = 50;

/// FNV-1a in 64 bits, by Fowler, Noll and Vo.
struct Fnv1a(u64);

impl Fnv1a {
    fn new() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
}

fn case_of(seed: u64) -> Case {
    let settings = Settings { opset: *ir::graph::OPSETS.end(), nodes: 6, ..Settings::default() };
    let maker = Maker::new(seed, settings);
    maker.make(0).unwrap()
}

fn line(first: u64) -> String {
    let mut hash = Fnv1a::new();
    for seed in first..first + SEEDS_PER_LINE {
        let case = case_of(seed);
        hash.write(&case.onnx);
        for (name, tensor) in case.inputs {
            hash.write(&onnx::tensor::encode(&name, &tensor));
        }
    }
    format!("{:03}-{:03} {:016x}\n", first, first + SEEDS_PER_LINE - 1, hash.0)
}

/// The lines, made on two threads: cases do not depend on what else is being made.
fn digest() -> String {
    let starts: Vec<u64> = (0..SEEDS).step_by(SEEDS_PER_LINE as usize).collect();
    let (front, back) = starts.split_at(starts.len() / 2);
    let lines = |part: &[u64]| part.iter().map(|&first| line(first)).collect::<String>();
    std::thread::scope(|scope| {
        let front = scope.spawn(|| lines(front));
        let back = lines(back);
        front.join().unwrap() + &back
    })
}

#[test]
fn a_thousand_seeds_give_the_same_bytes() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/digest.txt");
    let now = digest();
    if std::env::var_os("UPDATE_DIGEST").is_some() {
        std::fs::write(&file, &now).unwrap();
        return;
    }
    let committed = std::fs::read_to_string(&file).unwrap();
    let mut report = String::new();
    for (now, committed) in now.lines().zip(committed.lines()).filter(|(now, committed)| now != committed) {
        writeln!(report, "{committed} became {now}").unwrap();
    }
    assert!(
        report.is_empty() && now.lines().count() == committed.lines().count(),
        "these seeds give other cases than before; the head of this file says what to do:\n{report}"
    );
}
