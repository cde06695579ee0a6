//! How far good implementations are from a model's outputs.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::Arc;

use interp::{Limits, Tier};
use ir::Tensor;
use ops::Model;

use crate::target::Target;

/// How far good implementations are, for one model with inputs, once that was needed. To find out takes as long as the bounds do.
#[derive(Default)]
pub struct Reached(RefCell<Option<ByTier>>);

/// What a kind of engines reaches.
struct ByTier {
    tier: Arc<Tier>,
    /// The numbers of the outputs of which that was asked.
    asked: BTreeSet<usize>,
    limits: Rc<[Limits]>,
}

impl Reached {
    /// For a target's kind, all outputs; none where the reference cannot evaluate the model. Levels of one engine are
    /// of one kind.
    pub fn by(&self, target: &Target, model: &Model, inputs: &[Tensor]) -> Rc<[Limits]> {
        let all: Vec<usize> = (0..model.graph.outputs.len()).collect();
        self.of(&all, target, model, inputs)
    }

    /// For a target's kind, those outputs alone whose numbers are given. What is said of others is of no use.
    pub fn of(&self, outputs: &[usize], target: &Target, model: &Model, inputs: &[Tensor]) -> Rc<[Limits]> {
        let mut known = self.0.borrow_mut();
        let mut asked: BTreeSet<usize> = outputs.iter().copied().collect();
        if let Some(known) = known.as_ref().filter(|known| Arc::ptr_eq(&known.tier, &target.tier)) {
            if asked.is_subset(&known.asked) {
                return Rc::clone(&known.limits);
            }
            asked.extend(&known.asked);
        }
        let numbers: Vec<usize> = asked.iter().copied().collect();
        let limits = interp::limits_of(&numbers, model, inputs, &target.tier).unwrap_or_default();
        let known = known.insert(ByTier { tier: Arc::clone(&target.tier), asked, limits: limits.into() });
        Rc::clone(&known.limits)
    }
}
