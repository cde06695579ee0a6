//! How far good implementations are from a model's outputs.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::Arc;

use interp::{Limits, Tier};
use ir::Tensor;
use ops::Model;

use crate::target::Target;

/// How far good implementations are from the outputs of one model with inputs, once that was needed. To find it out
/// takes as long as the bounds do.
#[derive(Default)]
pub struct Reached(RefCell<Option<ByTier>>);

/// What a kind of engines reaches.
struct ByTier {
    tier: Arc<Tier>,
    /// The numbers of the outputs for which that was asked.
    asked: BTreeSet<usize>,
    limits: Rc<[Limits]>,
}

impl Reached {
    /// The distances for a target's kind, for all outputs; none if the reference cannot evaluate the model. All levels
    /// of an engine are of one kind.
    pub fn by(&self, target: &Target, model: &Model, inputs: &[Tensor]) -> Rc<[Limits]> {
        let all: Vec<usize> = (0..model.graph.outputs.len()).collect();
        self.of(&all, target, model, inputs)
    }

    /// The distances for a target's kind, only for the outputs whose numbers are given. The other entries mean nothing.
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
