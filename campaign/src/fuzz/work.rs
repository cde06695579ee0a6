//! What each thread of a campaign does: takes cases from the queue, and gives what came of them.

use std::sync::mpsc::SyncSender;

use harness::invalid::schedule::Schedule;

use super::Plan;
use super::count::Counted;
use super::queue::Queue;
use super::reduced::Seen;
use super::run::{self, CaseRun, Narrowed};

/// What the threads share.
pub(super) struct Work<'w> {
    pub(super) plan: &'w Plan<'w>,
    pub(super) queue: &'w Queue<'w>,
    /// Knows the level of each case.
    pub(super) schedule: &'w Schedule,
    pub(super) narrowed: &'w Narrowed,
    pub(super) seen: &'w Seen,
}

impl Work<'_> {
    /// Runs cases until there are no more, the campaign is stopped, or nobody takes what came of them.
    pub(super) fn send_all(&self, to: &SyncSender<(u64, Counted)>) {
        let _closing = self.queue.closing();
        while let Some(number) = self.queue.next() {
            let Some(counted) = self.one(number) else { break };
            if to.send((number, counted)).is_err() {
                break;
            }
        }
    }

    /// Runs the case of a number, and reduces it where it seems to be saved. `None` where the campaign was stopped
    /// meanwhile: the case runs again. Where only its time is over, the case is cut off.
    fn one(&self, number: u64) -> Option<Counted> {
        let Self { plan, queue, .. } = self;
        let is_over = || queue.is_over();
        let index = plan.shard.case(number);
        let turn = self.schedule.turn(number, plan.maker.stream(index));
        let ran = match run::run(plan, self.narrowed, index, turn.level, &is_over) {
            Some(ran) if !plan.has_cut() => ran,
            Some(_) | None if queue.is_stopped() => return None,
            // Others behind it may be done, and count.
            Some(_) | None => CaseRun::cut_off(index),
        };
        // Before it is reduced, which may take long: later cases wait for the signatures alone.
        turn.found(ran.signatures());
        let mut counted = Counted::new(plan, ran);
        let is_cut = counted.reduce(plan, self.seen, &is_over).is_err();
        if is_cut && queue.is_stopped() { None } else { Some(counted) }
    }
}
