//! How far good implementations are from a model's outputs.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use interp::{Limits, Tier};
use ir::Tensor;
use ops::Model;

use crate::target::Target;

/// How far good implementations are, for one model with inputs, once that was needed. To find out takes as long as the bounds do.
#[derive(Default)]
pub struct Reached(RefCell<Option<ByTier>>);

/// A kind of engines, and what those reach.
type ByTier = (Arc<Tier>, Rc<[Limits]>);

impl Reached {
    /// For a target's kind; none where the reference cannot evaluate the model. Levels of one engine are of one kind.
    pub fn by(&self, target: &Target, model: &Model, inputs: &[Tensor]) -> Rc<[Limits]> {
        let mut known = self.0.borrow_mut();
        if let Some((tier, limits)) = &*known
            && Arc::ptr_eq(tier, &target.tier)
        {
            return Rc::clone(limits);
        }
        let limits = interp::limits(model, inputs, &target.tier).unwrap_or_default();
        let (_, limits) = known.insert((Arc::clone(&target.tier), limits.into()));
        Rc::clone(limits)
    }
}
