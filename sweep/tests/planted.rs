//! A backend whose answers are wrong on purpose: what is planted is seen in its row, and nothing else is.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use backends::cpu::CpuEngine;
use harness::Target;
use interp::Profile;
use ir::{DType, Datum, Tensor};
use onnxsmith_sweep::cases;
use onnxsmith_sweep::rows::{Row, Rows};
use onnxsmith_sweep::store::{Earlier, Error, Store, load};
use onnxsmith_sweep::tally::Standing;
use onnxsmith_sweep::{Identity, PartForm, PartResult, Scope, parts, run};
use worker::{Case, Description, Engine, EngineError};

/// Our CPU kernels, but that every float of an output becomes another one.
struct Planted {
    right: CpuEngine,
    name: &'static str,
    becomes: fn(f64) -> f64,
}

impl Engine for Planted {
    fn describe(&self) -> Description {
        let profile = Some(Profile::WGSL.name.to_owned());
        Description { engine: self.name.to_owned(), profile, ..self.right.describe() }
    }

    fn run(&mut self, case: &Case) -> Result<Vec<(String, Datum)>, EngineError> {
        let outputs = self.right.run(case)?.into_iter();
        let wrong = |tensor: Tensor| {
            let (ty, numbers) = (tensor.ty(), tensor.to_f64s());
            if ty.dtype.is_float() {
                Tensor::from_f64_fn(&ty, |i| (self.becomes)(numbers[i]))
            } else {
                tensor
            }
        };
        Ok(outputs.map(|(name, value)| (name, value.map(wrong))).collect())
    }
}

fn planted(name: &'static str, becomes: fn(f64) -> f64) -> Target {
    let engine = Planted { right: CpuEngine::default(), name, becomes };
    Target::here(Box::new(engine)).swap_remove(0)
}

fn cpu() -> Target {
    Target::here(Box::new(CpuEngine::default())).swap_remove(0)
}

fn scope(operators: &[&str], dtype: DType, forms: &[PartForm]) -> Scope {
    Scope {
        seed: 3,
        opset: *ir::graph::OPSETS.end(),
        operators: operators.iter().map(ToString::to_string).collect(),
        dtypes: [dtype.name().to_owned()].into(),
        forms: forms.iter().copied().collect(),
        samples: 2048,
        cases: 2,
    }
}

fn swept(scope: &Scope, targets: &[Target], jobs: usize) -> Vec<PartResult> {
    let mut all = Vec::new();
    let take = |ran| {
        all.push(ran);
        Ok(())
    };
    run(scope, &parts(scope), targets, jobs, &AtomicBool::new(false), take).unwrap();
    all
}

fn rows(scope: &Scope, targets: &[Target]) -> Rows {
    Rows::of(&Identity::of(scope, targets), &swept(scope, targets, 2))
}

fn row<'r>(rows: &'r Rows, backend: &str) -> &'r Row {
    rows.rows.iter().find(|row| row.backend == backend).unwrap()
}

#[test]
fn a_sine_as_wgsl_allows_it_is_flagged_and_not_called_wrong() {
    let rough = planted("rough", |v| if v.abs() > 0.5 { v * (1.0 - 1e-4) } else { v });
    let rows = rows(&scope(&["Sin"], DType::F32, &[PartForm::Unary]), &[cpu(), rough]);
    let (cpu, rough) = (row(&rows, "cpu"), row(&rows, "rough"));
    assert_eq!((cpu.total.beyond_tight, cpu.total.beyond_spec), (0, 0), "{:?}", cpu.total.worst);
    assert!(rough.total.beyond_tight > 100 && rough.total.beyond_spec == 0, "{:?}", rough.total.worst);
    assert!(rows.are_clean());
    let worst = rough.total.worst.as_ref().unwrap();
    assert_eq!(worst.standing, Standing::Specified);
    let between = &rows.pairs[0].apart;
    assert!(between.differ > 100 && between.ulps.max() > 500.0, "{between:?}");
}

#[test]
fn one_wrong_number_of_all_halves_is_found_and_named() {
    let wrong = planted("wrong", |v| if v == 3.0 { 3.5 } else { v });
    let rows = rows(&scope(&["Identity"], DType::F16, &[PartForm::Unary]), &[wrong]);
    let total = &row(&rows, "wrong").total;
    assert_eq!((total.beyond_spec, total.elements), (1, 65_536));
    assert!(!rows.are_clean());
    let worst = total.worst.as_ref().unwrap();
    assert_eq!((worst.at.as_str(), worst.actual.as_str(), worst.standing), ("3.0", "3.5", Standing::Beyond));
}

#[test]
fn a_lost_nan_and_flushed_denormals_are_counted_apart() {
    let loses = planted("loses", |v| if v.is_nan() { 0.0 } else { v });
    let flushes = planted("flushes", |v| if v.abs() < f64::from(f32::MIN_POSITIVE) { 0.0 } else { v });
    let rows = rows(&scope(&["Neg"], DType::F32, &[PartForm::Unary]), &[loses, flushes]);
    let (loses, flushes) = (&row(&rows, "loses").total, &row(&rows, "flushes").total);
    assert!(loses.non_finite > 0 && loses.beyond_tight == loses.non_finite && loses.beyond_spec == 0);
    assert!(flushes.flushed > 0 && flushes.beyond_tight == 0 && flushes.ulps.max() == 0.0, "{flushes:?}");
}

#[test]
fn a_wrong_product_of_long_rows_is_told_by_its_length() {
    let wrong = planted("wrong", |v| if v.abs() > 10.0 { v * 1.01 } else { v });
    let rows = rows(&scope(&["MatMul"], DType::F32, &[PartForm::Lengths]), &[wrong]);
    let row = row(&rows, "wrong");
    let is_wrong = |length: i64| row.lengths[&length].beyond_spec > 0;
    assert!(is_wrong(1025) && !is_wrong(1) && !is_wrong(8));
    assert_eq!(row.total.worst.as_ref().unwrap().part.form, PartForm::Lengths);
}

/// Our CPU kernels, but that 64 bits are computed in 32, as is declared, and that integers are off by so much.
struct Narrow {
    right: CpuEngine,
    off: i32,
}

impl Narrow {
    const DECLARED: [(DType, DType); 2] = [(DType::F64, DType::F32), (DType::I64, DType::I32)];
}

impl Engine for Narrow {
    fn describe(&self) -> Description {
        let mut description = Description { engine: "narrow".to_owned(), ..self.right.describe() };
        let declared = Self::DECLARED.map(|(of, by)| (of.name().to_owned(), by.name().to_owned()));
        description.dtypes.extend(declared);
        description
    }

    fn run(&mut self, case: &Case) -> Result<Vec<(String, Datum)>, EngineError> {
        let narrowed = |tensor: Tensor| match tensor.dtype() {
            DType::F64 => {
                let numbers = tensor.to_f64s();
                Tensor::from_f64_fn(&tensor.ty(), |i| f64::from(numbers[i] as f32))
            }
            DType::I64 => {
                let numbers = tensor.to_i128s();
                Tensor::from_i128_fn(&tensor.ty(), |i| (numbers[i] as i32).wrapping_add(self.off).into())
            }
            _ => tensor,
        };
        let outputs = self.right.run(case)?.into_iter();
        Ok(outputs.map(|(name, value)| (name, value.map(narrowed))).collect())
    }
}

#[test]
fn what_a_backend_declares_that_it_computes_otherwise_is_no_failure() {
    for dtype in [DType::F64, DType::I64] {
        let narrow = Target::here(Box::new(Narrow { right: CpuEngine::default(), off: 0 })).swap_remove(0);
        let rows = rows(&scope(&["Neg"], dtype, &[PartForm::Unary]), &[cpu(), narrow]);
        let narrow = row(&rows, "narrow");
        assert_eq!((narrow.total.beyond_spec, narrow.failed.len()), (0, 0), "{:?}", narrow.total.worst);
        let mut said = narrow.lacks.keys();
        assert!(
            said.all(|why| why.starts_with("declared limitation: narrow")),
            "{dtype}: {:?}",
            narrow.lacks
        );
        assert!(narrow.lacks.values().sum::<u64>() > 0, "{dtype}");
        assert!(rows.are_clean());
    }
}

#[test]
fn where_every_value_fits_what_is_wrong_is_no_declared_limitation() {
    let off = Target::here(Box::new(Narrow { right: CpuEngine::default(), off: 1 })).swap_remove(0);
    let rows = rows(&scope(&["ReduceSum"], DType::I64, &[PartForm::Lengths]), &[off]);
    let row = row(&rows, "narrow");
    assert!(row.total.beyond_spec > 0 && row.lacks.is_empty(), "{:?}", row.lacks);
}

#[test]
fn what_is_found_does_not_depend_on_threads() {
    let scope = scope(&["Pow", "ReduceMean", "Gather"], DType::F16, &PartForm::ALL);
    let targets = [cpu()];
    assert_eq!(swept(&scope, &targets, 1), swept(&scope, &targets, 4));
}

/// A sweep of two operators, and what came of its parts.
struct Whole {
    scope: Scope,
    identity: Identity,
    all: Vec<PartResult>,
}

impl Whole {
    fn new() -> Self {
        let scope =
            scope(&["Erf", "Mul"], DType::BF16, &[PartForm::Unary, PartForm::Pairs, PartForm::Constants]);
        let targets = [cpu()];
        Self { identity: Identity::of(&scope, &targets), all: swept(&scope, &targets, 1), scope }
    }

    fn open(&self, folder: &Path, earlier: Earlier) -> Result<(Store, Vec<PartResult>), Error> {
        Store::open(folder, &self.identity, &parts(&self.scope), earlier)
    }

    /// Stores its first two parts, and changes the text of the file.
    fn stored(&self, folder: &Path, change: impl Fn(String) -> String) -> String {
        let (mut store, before) = self.open(folder, Earlier::Refused).unwrap();
        assert!(before.is_empty());
        self.all[..2].iter().for_each(|ran| store.add(ran).unwrap());
        let text = change(std::fs::read_to_string(store.path()).unwrap());
        std::fs::write(store.path(), &text).unwrap();
        text
    }
}

fn text(folder: &Path) -> String {
    std::fs::read_to_string(folder.join("parts.jsonl")).unwrap()
}

#[test]
fn a_sweep_that_was_cut_off_goes_on_where_it_was() {
    let whole = Whole::new();
    let folder = tempfile::tempdir().unwrap();
    // With a space that this program does not write: what is whole is kept as it is.
    let cut = |text: String| text[..text.len() - 9].replacen('{', "{ ", 1);
    let left = whole.stored(folder.path(), cut);
    let (mut store, before) = whole.open(folder.path(), Earlier::Continued).unwrap();
    assert_eq!(before, whole.all[..1]);
    let lines = &left[..=left.rfind('\n').unwrap()];
    assert_eq!(text(folder.path()), lines);
    store.add(&whole.all[1]).unwrap();
    assert!(text(folder.path()).starts_with(lines));
    drop(store);
    assert_eq!(load(folder.path()).unwrap().1, whole.all[..2]);
    assert!(matches!(whole.open(folder.path(), Earlier::Refused), Err(Error::Exists(_))));
    let scope = Scope { seed: 4, ..whole.scope.clone() };
    let other = Whole { identity: Identity::of(&scope, &[cpu()]), scope, all: Vec::new() };
    let Err(Error::Other { differences, .. }) = other.open(folder.path(), Earlier::Continued) else {
        panic!("it is another sweep")
    };
    assert_eq!(differences, ["--seed: 3 there, 4 here"]);
}

#[test]
fn a_line_that_cannot_be_read_ends_no_sweep() {
    let whole = Whole::new();
    for (from, to, number) in [("\"seed\"", "\"sead\"", 1), ("\"answers\"", "\"replies\"", 2)] {
        let folder = tempfile::tempdir().unwrap();
        let before = whole.stored(folder.path(), |text| text.replacen(from, to, 1));
        let refused = whole.open(folder.path(), Earlier::Continued).err();
        assert!(matches!(refused, Some(Error::Line { line, .. }) if line == number), "{refused:?}");
        assert!(matches!(load(folder.path()), Err(Error::Line { line, .. }) if line == number));
        assert_eq!(text(folder.path()), before);
    }
}

#[test]
fn a_sweep_that_was_cut_off_in_its_first_line_begins() {
    let whole = Whole::new();
    let folder = tempfile::tempdir().unwrap();
    whole.stored(folder.path(), |text| text[..20].to_owned());
    assert!(matches!(load(folder.path()), Err(Error::NoSweep(_))));
    let (_, before) = whole.open(folder.path(), Earlier::Continued).unwrap();
    assert!(before.is_empty());
    assert_eq!(load(folder.path()).unwrap().0, whole.identity);
}

#[test]
fn two_processes_do_not_write_to_one_sweep() {
    let whole = Whole::new();
    let folder = tempfile::tempdir().unwrap();
    let open = whole.open(folder.path(), Earlier::Refused).unwrap();
    assert!(matches!(whole.open(folder.path(), Earlier::Continued), Err(Error::Busy(_))));
    drop(open);
    assert!(whole.open(folder.path(), Earlier::Continued).is_ok());
}

/// Our CPU kernels, slowly, counting what they run.
struct Counting {
    right: CpuEngine,
    runs: Arc<AtomicUsize>,
}

impl Engine for Counting {
    fn describe(&self) -> Description {
        self.right.describe()
    }

    fn run(&mut self, case: &Case) -> Result<Vec<(String, Datum)>, EngineError> {
        self.runs.fetch_add(1, Ordering::Relaxed);
        std::thread::sleep(Duration::from_millis(20));
        self.right.run(case)
    }
}

#[test]
fn a_sweep_that_cannot_be_stored_ends_at_once() {
    let runs = Arc::new(AtomicUsize::new(0));
    let engine = Counting { right: CpuEngine::default(), runs: Arc::clone(&runs) };
    let targets = Target::here(Box::new(engine));
    let scope = scope(&["ReduceSum"], DType::F32, &[PartForm::Lengths]);
    let parts = parts(&scope);
    let full = |_| Err(Error::Full("sweep".into()));
    let ended = run(&scope, &parts, &targets[..1], 2, &AtomicBool::new(false), full);
    assert!(matches!(ended, Err(onnxsmith_sweep::run::Error::Store(_))), "{ended:?}");
    // A few parts have begun by then; how many hangs on the machine.
    let runs = runs.load(Ordering::Relaxed);
    assert!(2 * runs < parts.len(), "{runs} of {} parts", parts.len());
}

#[test]
fn the_worst_element_is_saved_alone_and_shows_the_fault() {
    let scope = scope(&["Sqrt"], DType::F16, &[PartForm::Unary]);
    let targets = [planted("off by one", |v| if v == 2.0 { 1.0 } else { v })];
    let rows = rows(&scope, &targets);
    let folder = tempfile::tempdir().unwrap();
    let mut done = 0;
    let saved = cases::save(folder.path(), &scope, &parts(&scope), &targets, &rows, || done += 1).unwrap();
    assert_eq!((saved, done), (1, 1));
    let path = folder.path().join(cases::CASES).join("off-by-one-Sqrt-f16");
    let case = onnx::CaseFolder::read(&path).unwrap();
    let x = case.sets[0].inputs[0].datum.tensors().next().unwrap().to_f64s();
    assert_eq!(x, [4.0]);
    let about = triage::folder::About::read(&case).unwrap();
    assert_eq!(about.findings.len(), 1);
}

/// Our CPU kernels, but that sums of 129 and of 127 numbers are refused, each in its way, and others are off.
struct Refusing(CpuEngine);

impl Engine for Refusing {
    fn describe(&self) -> Description {
        Description { engine: "refusing".to_owned(), ..self.0.describe() }
    }

    fn run(&mut self, case: &Case) -> Result<Vec<(String, Datum)>, EngineError> {
        let mut sizes = case.inputs.iter().flat_map(|(_, input)| input.tensors()).flat_map(|x| x.shape());
        match sizes.find(|&&size| size == 127 || size == 129) {
            Some(127) => Err(EngineError::Run("no 127".to_owned())),
            Some(_) => Err(EngineError::Load("too many".to_owned())),
            None => {
                let off = |x: Tensor| Tensor::from_f64_fn(&x.ty(), |i| 1.5 * x.to_f64s()[i]);
                let outputs = self.0.run(case)?.into_iter();
                Ok(outputs.map(|(name, value)| (name, value.map(off))).collect())
            }
        }
    }
}

#[test]
fn the_worst_element_and_each_way_to_fail_have_a_case_of_their_own() {
    let scope = scope(&["ReduceSum"], DType::F32, &[PartForm::Lengths]);
    let targets = Target::here(Box::new(Refusing(CpuEngine::default())));
    let rows = rows(&scope, &targets[..1]);
    let row = row(&rows, "refusing");
    assert_eq!((row.total.beyond_spec > 0, row.failed.len()), (true, 2), "{:?}", row.failed);
    let folder = tempfile::tempdir().unwrap();
    let saved = cases::save(folder.path(), &scope, &parts(&scope), &targets[..1], &rows, || {}).unwrap();
    let names = cases::names(row);
    assert_eq!((saved, names.len()), (3, 3));
    let lengths = names.iter().map(|name| {
        let case = onnx::CaseFolder::read(&folder.path().join(cases::CASES).join(name)).unwrap();
        assert_eq!(triage::folder::About::read(&case).unwrap().findings.len(), 1, "{name}");
        case.sets[0].inputs[0].datum.tensors().next().unwrap().len()
    });
    let lengths: Vec<usize> = lengths.collect();
    assert!(
        ![127, 129].contains(&lengths[0]) && lengths[1..].iter().all(|of| of % 127 == 0 || of % 129 == 0)
    );
}
