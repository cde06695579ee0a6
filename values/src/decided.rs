//! How much a profile leaves open of a model's outputs.
//!
//! What conforming implementations may disagree about is not judged, so values on which much is open test little. Where the profile
//! that promises least still says something, all others do.

use interp::Profile;
use interp::evaluate::undecided;
use ops::Model;

use crate::found::Tensors;

/// Of the profiles that engines keep to, the one that promises least.
pub(crate) const LEAST: &Profile = &Profile::WGSL;

/// The share of open elements that is no reason to look for other values.
pub(crate) const FEW: f64 = 0.02;

/// The share of the outputs' elements that are undecidable or undefined under a profile.
pub(crate) fn open(model: &Model, tensors: &Tensors, profile: &Profile) -> f64 {
    let (open, all) = undecided(model, &|id| tensors.get(&id), profile);
    open as f64 / all.max(1) as f64
}
