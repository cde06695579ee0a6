//! The parent's side: workers that are started when needed, kept between cases and replaced after a fault.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use ir::{Datum, DatumKind, Tensor};

use super::outcome::{Fault, FaultKind, Outcome, Run};
use super::process::{Exchange, Process};
use super::protocol::{Description, FrameError, Greeting, Hello, Reply};
use super::spec::{EngineSpec, Limits, WorkerError};
use super::{Case, Source};

/// One worker: a process that is replaced when it dies.
pub struct Worker {
    spec: EngineSpec,
    limits: Limits,
    description: Description,
    process: Option<Process>,
    /// Inside the engine, since [`Worker::take_engine_seconds`].
    engine_seconds: f64,
    /// When it ends what it runs, see [`Pool::end_at`].
    end: Option<Instant>,
    /// Whether it has.
    has_cut: bool,
}

impl Worker {
    /// Starts a worker and shakes hands.
    pub fn start(spec: EngineSpec, mut limits: Limits) -> Result<Self, WorkerError> {
        // Here, as a case may get less than the usual time later on, and a process that replaces this one starts no faster then.
        limits.startup = limits.startup.max(limits.timeout);
        let (process, description, engine_seconds) = launch(&spec, &limits)?;
        Ok(Self {
            spec,
            limits,
            description,
            process: Some(process),
            engine_seconds,
            end: None,
            has_cut: false,
        })
    }

    /// The seconds inside the engine since this was asked last: all of its runs, those repeated included, and what it
    /// took to load it whenever a process started.
    pub fn take_engine_seconds(&mut self) -> f64 {
        std::mem::take(&mut self.engine_seconds)
    }

    /// What the engine is and can do.
    pub fn description(&self) -> &Description {
        &self.description
    }

    /// The process id, while there is a process.
    pub fn process_id(&self) -> Option<u32> {
        self.process.as_ref().map(Process::id)
    }

    /// Gives up the process, so that the next case runs in a fresh one: to confirm that a fault is the case's own.
    pub fn restart(&mut self) {
        self.process = None;
    }

    /// Runs a case, in a new process if the old one is gone.
    ///
    /// A process that has run other cases may die of what they left behind: a thread, a second answer, memory. So
    /// a fault there counts as the case's own only if a fresh process has it too. A panic is told by the worker
    /// itself, of this case, and needs no proof.
    pub fn run(&mut self, case: &Case) -> Result<Run, WorkerError> {
        if let Some(run) = self.unheard_of(case) {
            return Ok(run);
        }
        let dead = self.bury();
        let is_fresh = self.process.as_ref().is_none_or(Process::is_fresh);
        let run = self.run_once(case)?;
        let (false, Outcome::Fault(fault)) = (is_fresh, &run.outcome) else {
            return Ok(Run { late_faults: dead.into_iter().collect(), ..run });
        };
        if matches!(fault, Fault::Panic { .. }) {
            return Ok(run);
        }
        let again = self.run_once(case)?;
        Ok(self.confirmed(again, fault.clone()))
    }

    /// The run of a case that had a fault when it ran before. One that was cut short shows nothing of that.
    fn confirmed(&self, again: Run, before: Fault) -> Run {
        if self.has_cut && again.has_hung() { again } else { again.beside(before) }
    }

    /// Runs a case as [`Worker::run`] does, where it may take this long.
    pub fn run_within(&mut self, timeout: Duration, case: &Case) -> Result<Run, WorkerError> {
        self.within(timeout, |worker| worker.run(case))
    }

    /// What comes of it where each case may take this long.
    fn within<T>(&mut self, timeout: Duration, run: impl FnOnce(&mut Self) -> T) -> T {
        let usual = std::mem::replace(&mut self.limits.timeout, timeout);
        let ran = run(self);
        self.limits.timeout = usual;
        ran
    }

    /// Runs cases, one after the other, each as [`Worker::run`] does. Small ones are sent together, so that parent and worker
    /// wake each other less often. If something goes wrong among them, those without an answer run one by one. One that
    /// hangs gets less time to do so again in a fresh process, and those after it get as much.
    pub fn run_all(&mut self, cases: &[Case], after_hang: Duration) -> Result<Vec<Run>, WorkerError> {
        let mut runs = Vec::with_capacity(cases.len());
        while runs.len() < cases.len() {
            let open = &cases[runs.len()..];
            if runs.iter().any(Run::has_hung) {
                runs.push(self.run_within(after_hang, &open[0])?);
                continue;
            }
            let heard_of = open.iter().take_while(|case| self.unheard_of(case).is_none()).count();
            match &open[..heard_of.max(1)] {
                [case] => runs.push(self.run(case)?),
                open => runs.extend(self.run_together(open, after_hang)?),
            }
        }
        Ok(runs)
    }

    /// Runs as many of the cases as can be sent together; up to one that hangs, or has another fault that may not be its own.
    fn run_together(&mut self, cases: &[Case], after_hang: Duration) -> Result<Vec<Run>, WorkerError> {
        let dead = self.bury();
        let mut runs = self.ask(cases)?;
        // A panic is told of one case. Another fault may be what an earlier case left behind.
        let is_unsure = |run: &mut Run| match &run.outcome {
            Outcome::Fault(fault) => !matches!(fault, Fault::Panic { .. }),
            _ => false,
        };
        if let Some(Run { outcome: Outcome::Fault(fault), .. }) = runs.pop_if(is_unsure) {
            let time = if fault == Fault::Timeout { after_hang } else { self.limits.timeout };
            let again = self.run_within(time, &cases[runs.len()])?;
            runs.push(self.confirmed(again, fault));
        }
        runs[0].late_faults.extend(dead);
        Ok(runs)
    }

    /// The answer to a case that is not sent, because the worker does not know a dtype or a kind of value in it, or
    /// takes no files.
    fn unheard_of(&self, case: &Case) -> Option<Run> {
        let unknown = self.unknown_dtype(case).or_else(|| self.unknown_kind(case));
        let unknown = unknown.map(|what| format!("it does not name {what} in its hello"));
        let outcome = Outcome::Unsupported { why: unknown.or_else(|| self.unread_file(case))? };
        Some(Run::of(outcome))
    }

    fn unread_file(&self, case: &Case) -> Option<String> {
        let is_file = matches!(case.model, Source::File(_));
        (is_file && !self.description.files)
            .then(|| "the model has more than 2 GiB, and its hello says no `files`".to_owned())
    }

    fn unknown_dtype(&self, case: &Case) -> Option<String> {
        let inputs = case.inputs.iter().flat_map(|(_, value)| value.tensors().map(|tensor| tensor.dtype()));
        let mut dtypes = inputs.chain(case.outputs.iter().map(|wanted| wanted.dtype));
        let dtype = dtypes.find(|&dtype| !self.description.has_heard_of(dtype))?;
        Some(format!("the dtype {dtype}"))
    }

    fn unknown_kind(&self, case: &Case) -> Option<String> {
        let takes = |value: &Datum<&Tensor>| {
            DatumKind::ALL.into_iter().any(|kind| kind.admits(value) && self.description.takes(kind))
        };
        let refused = case.inputs.iter().map(|(_, value)| value).filter(|value| !takes(value));
        let refused = refused.filter_map(|value| DatumKind::ALL.into_iter().find(|kind| kind.admits(value)));
        let wanted = case.outputs.iter().map(|wanted| wanted.kind);
        let mut unknown = refused.chain(wanted.filter(|&kind| !self.description.takes(kind)));
        unknown.next().map(|kind| format!("values of the kind `{kind}`"))
    }

    fn run_once(&mut self, case: &Case) -> Result<Run, WorkerError> {
        Ok(self.ask(std::slice::from_ref(case))?.swap_remove(0))
    }

    /// The runs of some cases, from the first one to the last that was sent with it or the first that has no good answer,
    /// which is a fault; at least one.
    fn ask(&mut self, cases: &[Case]) -> Result<Vec<Run>, WorkerError> {
        let mut process = self.take_process()?;
        let started = Instant::now();
        let Exchange { answers, failure, is_cut, .. } = match process.run(cases, &self.limits, self.end) {
            Ok(asked) => asked,
            Err(why) => {
                self.process = Some(process);
                return Err(WorkerError::Request(why));
            }
        };
        let wall_seconds = started.elapsed().as_secs_f64();
        let (fault, stderr, process) = match failure {
            None => (None, process.stderr(), Some(process)),
            Some(seen) => {
                let (fault, stderr) = process.end(&seen);
                self.has_cut |= is_cut && fault == Fault::Timeout;
                (Some(fault), stderr, None)
            }
        };
        let mut outcomes: Vec<(Outcome, f64)> =
            answers.into_iter().map(|(reply, outputs)| outcome(reply, outputs)).collect();
        let answered: f64 = outcomes.iter().map(|(_, seconds)| seconds).sum();
        outcomes.extend(fault.map(|fault| (Outcome::Fault(fault), (wall_seconds - answered).max(0.0))));
        let run = |(outcome, engine_seconds)| {
            let stderr = stderr.clone();
            Run { outcome, engine_seconds, wall_seconds, stderr, late_faults: Vec::new() }
        };
        let runs: Vec<Run> = outcomes.into_iter().map(run).collect();
        let inside: f64 = runs.iter().map(|run| run.engine_seconds).sum();
        // A stranger's worker may say anything.
        self.engine_seconds += inside.clamp(0.0, wall_seconds);
        let is_worn = |run: &Run| self.limits.restart_after_panic && matches!(run.outcome, Outcome::Fault(_));
        self.process = process.filter(|_| !runs.iter().any(is_worn));
        Ok(runs)
    }

    /// The process, or a new one.
    fn take_process(&mut self) -> Result<Process, WorkerError> {
        if let Some(process) = self.process.take() {
            return Ok(process);
        }
        let (process, _, loading) = launch(&self.spec, &self.limits)?;
        self.engine_seconds += loading;
        Ok(process)
    }

    /// If the process died since its last answer, reaps it and says of what.
    fn bury(&mut self) -> Option<Fault> {
        self.process.take_if(|p| p.has_ended()).map(|p| p.end(&FrameError::Closed).0)
    }
}

/// A new process, what its engine is, and the seconds that the engine took to load.
fn launch(spec: &EngineSpec, limits: &Limits) -> Result<(Process, Description, f64), WorkerError> {
    let engine = || spec.name.clone();
    let mut process = Process::start(spec, limits).map_err(|source| WorkerError::Start {
        engine: engine(),
        program: spec.program.clone(),
        source,
    })?;
    match process.hello(limits) {
        // A stranger's worker may say anything.
        Ok(Greeting::Hello(Hello { description, seconds, .. })) => {
            Ok((process, description, seconds.clamp(0.0, limits.startup.as_secs_f64())))
        }
        Ok(Greeting::Unavailable { why }) => {
            process.end(&FrameError::Closed);
            Err(WorkerError::Unavailable { engine: engine(), why })
        }
        Err(seen) => {
            let (fault, stderr) = process.end(&seen);
            if let (Some(engine), Fault::Exit { .. }) = (spec.built_in(), &fault)
                && !stderr.trim().is_empty()
            {
                let why = stderr.trim().trim_start_matches("onnxsmith: ").to_owned();
                return Err(WorkerError::Unavailable { engine, why });
            }
            let (fault, time) = (Box::new(fault), limits.startup);
            Err(WorkerError::Handshake { engine: engine(), fault, time, stderr })
        }
    }
}

fn outcome(reply: Reply, outputs: Vec<(String, Datum)>) -> (Outcome, f64) {
    match reply {
        Reply::Ok { seconds, .. } => (Outcome::of_values(outputs), seconds),
        Reply::Rejected { stage, message, seconds, .. } => (Outcome::Rejected { stage, message }, seconds),
        Reply::Unsupported { why, seconds, .. } => (Outcome::Unsupported { why }, seconds),
        Reply::Panicked { message, location, frames, seconds, .. } => {
            (Outcome::Fault(Fault::Panic { message, location, frames }), seconds)
        }
    }
}

/// Workers of one kind, shared by the threads of a campaign. There are never more of them than threads that run a
/// case at the same time.
pub struct Pool {
    spec: EngineSpec,
    limits: Limits,
    description: Description,
    idle: Mutex<Vec<Worker>>,
    spent: Mutex<Spent>,
    end: Mutex<Option<Instant>>,
    has_cut: AtomicBool,
}

/// What the workers of a pool have cost so far.
#[derive(Default)]
struct Spent {
    /// Inside the engine.
    engine_seconds: f64,
    /// The seconds inside the engine for cases that it has answered, and the number of these cases.
    answered: (f64, u64),
    /// How many late faults there were, by kind.
    late: BTreeMap<FaultKind, u64>,
}

impl Pool {
    /// A pool with one worker, whose handshake says what the engine is.
    pub fn new(spec: EngineSpec, limits: Limits) -> Result<Self, WorkerError> {
        let worker = Worker::start(spec.clone(), limits.clone())?;
        let description = worker.description().clone();
        let idle = Mutex::new(vec![worker]);
        let (spent, end, has_cut) = (Mutex::default(), Mutex::default(), AtomicBool::new(false));
        Ok(Self { spec, limits, description, idle, spent, end, has_cut })
    }

    /// What the engine is and can do.
    pub fn description(&self) -> &Description {
        &self.description
    }

    /// What the pool runs.
    pub fn spec(&self) -> &EngineSpec {
        &self.spec
    }

    /// How long a case may take.
    pub fn timeout(&self) -> Duration {
        self.limits.timeout
    }

    /// Runs a case on an idle worker, or a new one.
    pub fn run(&self, case: &Case) -> Result<Run, WorkerError> {
        self.run_within(self.limits.timeout, case)
    }

    /// Runs a case on an idle worker, or a new one, where it may take this long.
    pub fn run_within(&self, timeout: Duration, case: &Case) -> Result<Run, WorkerError> {
        let run = self.on_worker(|worker| worker.run_within(timeout, case))?;
        self.count(std::slice::from_ref(&run));
        Ok(run)
    }

    /// Runs cases on one worker, as [`Worker::run_all`] does, where each may take this long.
    pub fn run_all_within(
        &self,
        timeout: Duration,
        cases: &[Case],
        after_hang: Duration,
    ) -> Result<Vec<Run>, WorkerError> {
        let runs =
            self.on_worker(|worker| worker.within(timeout, |worker| worker.run_all(cases, after_hang)))?;
        self.count(&runs);
        Ok(runs)
    }

    fn on_worker<T>(
        &self,
        run: impl FnOnce(&mut Worker) -> Result<T, WorkerError>,
    ) -> Result<T, WorkerError> {
        let waiting = self.idle().pop();
        let mut worker = match waiting {
            Some(worker) => worker,
            None => self.start(self.limits.clone())?,
        };
        let ran = self.until_end(&mut worker, run);
        self.idle().push(worker);
        ran
    }

    /// Runs a case in a process of its own: a fault there is the case's, and need not be shown twice.
    pub fn run_afresh(&self, case: &Case) -> Result<Run, WorkerError> {
        self.run_apart(self.limits.threads, case)
    }

    /// Runs a case in a process of its own, which may use this many threads.
    pub fn run_apart(&self, threads: usize, case: &Case) -> Result<Run, WorkerError> {
        let mut worker = self.start(Limits { threads, ..self.limits.clone() })?;
        self.until_end(&mut worker, |worker| worker.run(case))
    }

    /// What a worker runs, as long as the end has not come.
    fn until_end<T>(&self, worker: &mut Worker, run: impl FnOnce(&mut Worker) -> T) -> T {
        worker.end = *self.end.lock().unwrap_or_else(PoisonError::into_inner);
        let ran = run(worker);
        self.spent().engine_seconds += worker.take_engine_seconds();
        self.has_cut.fetch_or(std::mem::take(&mut worker.has_cut), Ordering::Relaxed);
        ran
    }

    /// Ends what is begun from now on and still runs at a moment, as if it had used up its time. From then on a
    /// time-out says nothing of a case: [`Pool::has_cut`] tells whether there was one. `None` lets cases have all their
    /// time.
    pub fn end_at(&self, end: Option<Instant>) {
        *self.end.lock().unwrap_or_else(PoisonError::into_inner) = end;
        self.has_cut.fetch_and(end.is_some(), Ordering::Relaxed);
    }

    /// Whether a case was ended so since there is an end.
    pub fn has_cut(&self) -> bool {
        self.has_cut.load(Ordering::Relaxed)
    }

    fn start(&self, limits: Limits) -> Result<Worker, WorkerError> {
        Worker::start(self.spec.clone(), limits)
    }

    /// The seconds inside the engine so far, by [`Worker::take_engine_seconds`].
    pub fn engine_seconds(&self) -> f64 {
        self.spent().engine_seconds
    }

    /// What a case takes inside the engine that it answers, on average; `None` where there was none.
    pub fn usual_seconds(&self) -> Option<f64> {
        let (seconds, cases) = self.spent().answered;
        (cases > 0).then(|| seconds / cases as f64)
    }

    /// How many faults, by kind, were no case's own (see [`Run::late_faults`]), those of workers that have died since
    /// their last case included.
    pub fn late_faults(&self) -> BTreeMap<FaultKind, u64> {
        for fault in self.idle().iter_mut().filter_map(Worker::bury) {
            self.count_late(&fault);
        }
        self.spent().late.clone()
    }

    fn idle(&self) -> MutexGuard<'_, Vec<Worker>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn spent(&self) -> MutexGuard<'_, Spent> {
        self.spent.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn count(&self, runs: &[Run]) {
        for run in runs {
            if !matches!(run.outcome, Outcome::Fault(_)) {
                let (seconds, cases) = &mut self.spent().answered;
                (*seconds, *cases) = (*seconds + run.engine_seconds.clamp(0.0, run.wall_seconds), *cases + 1);
            }
            run.late_faults.iter().for_each(|fault| self.count_late(fault));
        }
    }

    fn count_late(&self, fault: &Fault) {
        *self.spent().late.entry(fault.kind()).or_default() += 1;
    }
}
