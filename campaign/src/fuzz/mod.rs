//! The campaign's loop: make a case, run it on every target, judge, blame, save.
//!
//! | module | holds |
//! |---|---|
//! | `queue` | which case is next, and when it is enough |
//! | `work` | what each thread does |
//! | `run` | one case: made, run and judged |
//! | `count` | what one case adds to the report |
//! | `reduced` | what a case that is to be saved is reduced to |
//! | `ledger` | counting, saving and storing, in the order of cases |
//!
//! Threads take cases from a queue, in order, and one thread puts the results back in order before it counts them. So a
//! campaign's report does not depend on the number of threads; see [`crate::store`] for what follows from that.

mod count;
mod ledger;
mod queue;
mod reduced;
mod run;
mod work;

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use crate::event::Event;
use crate::report::Report;
use crate::shard::Shard;
use crate::store::{Identity, Store, StoreError};
use harness::case::Maker;
use harness::invalid::schedule::{Levels, Schedule};
use harness::target::{Target, late_faults};
use oracles::Finding;
use triage::known::{Known, KnownEntry};
use triage::oracle::Oracles;

use count::{Counted, Find};
use ledger::Ledger;
use queue::Queue;
use reduced::Seen;
use work::Work;

/// What to do and for how long.
pub struct Plan<'p> {
    /// How cases are made.
    pub maker: Maker<'p>,
    /// How far they are from the constraints of the standard.
    pub levels: Levels,
    /// What they run on.
    pub targets: Vec<Target>,
    /// Who judges the answers.
    pub oracles: Oracles,
    /// How many cases run at the same time.
    pub jobs: usize,
    /// The most cases, those of all shards together.
    pub cases: Option<u64>,
    /// The most time, that of earlier sessions included.
    pub time: Option<Duration>,
    /// This machine's part.
    pub shard: Shard,
    /// How many cases of one signature are saved. Cases that are smaller than all before come on top.
    pub saved_per_signature: u64,
    /// The most bytes that saved cases take.
    pub max_disk: Option<u64>,
    /// The findings that are known.
    pub known: Known,
    /// Whether it ends with the first case that has a finding which is neither known nor of a signature that was met before.
    pub until_found: bool,
}

impl<'p> Plan<'p> {
    /// Valid cases without an end, compared with the reference, one at a time; one of each signature is saved, and
    /// nothing is known.
    pub fn of(maker: Maker<'p>, targets: Vec<Target>) -> Self {
        Self {
            maker,
            levels: Levels::default(),
            targets,
            oracles: Oracles::default(),
            jobs: 1,
            cases: None,
            time: None,
            shard: Shard::WHOLE,
            saved_per_signature: 1,
            max_disk: None,
            known: Known::default(),
            until_found: false,
        }
    }
}

impl Plan<'_> {
    /// One target of each engine.
    fn engines(&self) -> impl Iterator<Item = &Target> {
        self.targets.chunk_by(Target::is_beside).map(|levels| &levels[0])
    }

    /// The seconds that the targets have spent inside their engines so far.
    fn engine_seconds(&self) -> f64 {
        self.engines().map(Target::engine_seconds).sum()
    }

    /// The entry that covers a finding, if it is known.
    fn known_entry(&self, find: &Find) -> Option<&KnownEntry> {
        self.entry_for(find.target, &find.finding)
    }

    /// The entry that covers a finding on the target of a number, if it is known.
    fn entry_for(&self, target: usize, finding: &Finding) -> Option<&KnownEntry> {
        let version = &self.targets[target].description().version;
        self.known.covering_finding(version, finding).first().map(|(_, entry)| *entry)
    }

    /// Whether a target was ended before it answered.
    fn has_cut(&self) -> bool {
        self.engines().any(Target::has_cut)
    }
}

/// How long what runs may go on when the campaign's time is over.
const GRACE: Duration = Duration::from_secs(1);

/// Ends what targets run when the campaign's time is over, as long as this is there.
struct End<'p>(&'p Plan<'p>);

impl<'p> End<'p> {
    /// The end of a campaign that has run for some seconds.
    fn of(plan: &'p Plan<'p>, seconds: f64) -> Self {
        let before = Duration::try_from_secs_f64(seconds).unwrap_or_default();
        let end = plan.time.and_then(|time| Instant::now().checked_add(time.saturating_sub(before) + GRACE));
        plan.engines().for_each(|target| target.end_at(end));
        Self(plan)
    }
}

impl Drop for End<'_> {
    fn drop(&mut self) {
        self.0.engines().for_each(|target| target.end_at(None));
    }
}

/// How long results may wait until they are stored: what a death costs.
const CHECKPOINT: Duration = Duration::from_secs(1);

/// How long results are gathered before they are counted. To wake the thread that counts them for each costs more than to
/// count it.
const GATHER: Duration = Duration::from_millis(20);

/// How many results of each job may wait to be counted: more than one makes while they are gathered.
const WAITING: usize = 64;

/// Runs a campaign, or the rest of one, until its plan is done or `stop` is set.
pub fn fuzz(
    plan: &Plan<'_>,
    store: &mut Store,
    stop: &AtomicBool,
    on_event: &mut dyn FnMut(&Event),
) -> Result<Report, StoreError> {
    let identity = Identity::of(plan);
    store.expect(&identity)?;
    let (from, seconds) = store.progress()?;
    let schedule = Schedule::resume(plan.levels.choice, from, store.firsts()?);
    let queue = Queue::new(plan, stop, from, seconds);
    let _end = End::of(plan, seconds);
    let narrowed = run::Narrowed::of(plan);
    let seen = Seen::new(plan, &store.total()?.clusters);
    let work = Work { plan, queue: &queue, schedule: &schedule, narrowed: &narrowed, seen: &seen };
    let mut ledger = Ledger::new(plan, store, on_event, &queue)?;
    let cut_off = run_all(&work, &mut ledger)?;
    let late_cases = ledger.late_cases();
    let mut report = store.report()?;
    report.late_cases = late_cases;
    report.late_faults = late_faults(&plan.targets);
    report.mark_known(&plan.known, &identity);
    for Counted { index, trouble, .. } in cut_off {
        for what in trouble {
            report.troubles += 1;
            report.trouble.push(what.clone());
            on_event(&Event::Trouble { index, what });
        }
    }
    Ok(report)
}

/// Runs cases on threads until there are no more, and counts and stores them on this one. Gives those that were cut off.
fn run_all(work: &Work<'_>, ledger: &mut Ledger<'_>) -> Result<Vec<Counted>, StoreError> {
    let (queue, jobs) = (work.queue, work.plan.jobs.max(1));
    std::thread::scope(|scope| {
        let (sender, receiver) = mpsc::sync_channel(WAITING * jobs);
        for _ in 0..jobs {
            let sender = sender.clone();
            scope.spawn(move || work.send_all(&sender));
        }
        drop(sender);
        let stored = store_in_order(ledger, queue, &receiver);
        // Whatever is still under way ends at the next send.
        queue.close();
        if stored.is_err() {
            // What came before the case that failed is worth a try; where that fails too, it runs again.
            let _ = ledger.commit(queue.seconds());
        }
        stored
    })
}

/// Takes results as they come, and counts and stores them in the order of their numbers. What was cut off counts where something
/// behind it is done, as what is stored has no gaps. The others are given back: a later session runs them again.
fn store_in_order(
    ledger: &mut Ledger<'_>,
    queue: &Queue<'_>,
    receiver: &Receiver<(u64, Counted)>,
) -> Result<Vec<Counted>, StoreError> {
    let mut early: BTreeMap<u64, Counted> = BTreeMap::new();
    // Cases that come next, all cut off.
    let mut cut_off: Vec<Counted> = Vec::new();
    loop {
        match receiver.recv_timeout(CHECKPOINT) {
            Ok((number, counted)) => {
                early.insert(number, counted);
                std::thread::sleep(GATHER);
                early.extend(receiver.try_iter());
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => {
                ledger.commit(queue.seconds())?;
                return Ok(cut_off);
            }
        }
        while let Some(counted) = early.remove(&(ledger.next() + cut_off.len() as u64)) {
            if counted.is_cut_off {
                cut_off.push(counted);
                continue;
            }
            for counted in cut_off.drain(..).chain([counted]) {
                if ledger.take(counted)?.is_break() {
                    ledger.commit(queue.seconds())?;
                    return Ok(Vec::new());
                }
                queue.done(ledger.next());
            }
        }
        if ledger.waits() >= CHECKPOINT {
            ledger.commit(queue.seconds())?;
        }
    }
}
