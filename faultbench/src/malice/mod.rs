//! An implementation that does all the harm which its accuracy profile permits.
//!
//! The reference says how far a conforming implementation may be off; this is one, as bad as it may be. It reads the
//! operators' own meanings, as the reference does, in a number system in which each step is off by what the profile
//! grants it, in a direction that hurts; which rounds to the working dtype at once or later; makes sums in any order;
//! and takes the liberties of the profile. How it goes about that is drawn ([`Habits`]). What it computes must be
//! inside the bounds of its profile, and how close it comes to them says how wide they are ([`crate::soundness`]).
//!
//! It shares with the bounds the operators' meanings and the profiles, and no formula. It states no error of its own: an
//! element is a number, not an interval.
//!
//! | module | holds |
//! |---|---|
//! | `habits` | how an implementation goes about what it may choose |
//! | `grant` | the numbers that one step may give |
//! | `steps` | the number system: each step but the long ones |
//! | `functions` | library functions and powers, as far off as they may be |
//! | `sums` | long sums, in any order and fused or not |
//! | `lanes` | means, variances and determinants by other algorithms |

mod functions;
mod grant;
mod habits;
mod lanes;
mod steps;
mod sums;

use std::cell::{Cell, RefCell};

use interp::walk::{self, System};
use interp::{Casts, Profile};
use ir::execute::Keep;
use ir::format::FloatFormat;
use ir::round::round_to_format;
use ir::{Choices, DType, Stream, Tensor, Value};
use ndarray::Zip;
use ops::plain::{self, Plain};
use ops::{Data, Model};
use rand::RngExt;

pub use habits::Habits;
use habits::Often;

/// The format of nodes in which no float occurs; nothing is rounded there.
const NO_FLOAT: FloatFormat = FloatFormat::F64;

/// A real number as the implementation has it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Number {
    /// What it has.
    held: f64,
    /// What it would have without any error. It tells on which side of the true number the held one is.
    truth: f64,
}

/// A conforming implementation.
pub(crate) struct Implementation<'p> {
    profile: &'p Profile,
    habits: Habits,
    choices: RefCell<Choices>,
    /// How many steps were pushed in turn.
    turn: Cell<u64>,
}

/// The implementation's number system, for one node.
#[derive(Clone, Copy)]
pub(crate) struct Malice<'i> {
    by: &'i Implementation<'i>,
    dtype: DType,
    format: FloatFormat,
}

impl<'p> Implementation<'p> {
    /// One that keeps a profile, and draws from a stream what it may choose.
    pub(crate) fn new(profile: &'p Profile, stream: Stream) -> Self {
        let habits = Habits::drawn(&mut stream.child("habits").rng());
        Self { profile, habits, choices: RefCell::new(stream.child("steps").rng()), turn: Cell::new(0) }
    }

    /// How it goes about what it may choose.
    pub(crate) fn habits(&self) -> &Habits {
        &self.habits
    }

    /// The outputs of a valid model.
    pub(crate) fn run(&self, model: &Model, inputs: &[Tensor]) -> Result<Vec<Tensor>, walk::Error> {
        walk::check(model, inputs)?;
        let variables: Vec<_> = model.graph.variables().map(|(id, ..)| id).collect();
        let given = |id| {
            let at = variables.iter().position(|&variable| variable == id)?;
            Some(walk::Held::new(Conforming(self).load(&inputs[at])))
        };
        let values =
            walk::walk(&Conforming(self), model, Keep::Outputs, &given, &mut |_| true).unwrap_or_default();
        let tensor = |value: Value| {
            Some(self.stored(values.get(value)?.as_ref()?.data(&Conforming(self)), model, value))
        };
        Ok(model.graph.outputs.iter().filter_map(|output| tensor(output.value)).collect())
    }

    /// The tensor of a model's output.
    fn stored(&self, data: &Data<Malice<'_>>, model: &Model, value: Value) -> Tensor {
        let ty = model.graph.ty(value);
        let plain: Data<Plain<'_>> = match data {
            Data::Real(a) => Data::Real(a.mapv(|x| Malice::new(self, ty.dtype).rounded(x).held)),
            Data::Int(a) => Data::Int(a.clone()),
        };
        plain::store(&plain, ty)
    }

    /// Whether something is done that is done so often.
    fn does(&self, often: Often) -> bool {
        match often {
            Often::Never => false,
            Often::Sometimes => self.choices.borrow_mut().random(),
            Often::Always => true,
        }
    }

    /// One of two, as the coin falls.
    fn coin(&self) -> bool {
        self.does(Often::Sometimes)
    }

    /// One of some things.
    fn one_of<T: Copy>(&self, all: &[T]) -> T {
        all[self.choices.borrow_mut().random_range(0..all.len())]
    }
}

impl<'i> Malice<'i> {
    fn new(by: &'i Implementation<'i>, dtype: DType) -> Self {
        Self { by, dtype, format: dtype.float().unwrap_or(NO_FLOAT) }
    }

    fn profile(&self) -> &'i Profile {
        self.by.profile
    }
}

/// How the implementation takes part in running a model.
struct Conforming<'i>(&'i Implementation<'i>);

impl Conforming<'_> {
    /// Whether a cast of this number rounds once, to nearest.
    fn rounds_once(&self, x: Number) -> bool {
        match self.0.profile.casts {
            Casts::Once => true,
            Casts::ByF32 => x.held.is_nan() || f64::from(x.held as f32) == x.held,
            Casts::Either => false,
        }
    }
}

impl<'i> System for Conforming<'i> {
    type A = Malice<'i>;

    fn arith(&self, dtype: DType) -> Malice<'i> {
        Malice::new(self.0, dtype)
    }

    fn load(&self, tensor: &Tensor) -> Data<Malice<'i>> {
        match plain::load(tensor) {
            Data::Real(a) => {
                let arith = Malice::new(self.0, tensor.dtype());
                Data::Real(a.mapv(|v| Number { held: arith.nonfinite_or(v), truth: v }))
            }
            Data::Int(a) => Data::Int(a),
        }
    }

    /// It may compute in a format that has all digits of the operand, too, and flush the denormals of f32 when it reads them.
    fn narrow(&self, arith: &Malice<'i>, data: &Data<Malice<'i>>, from: DType) -> Option<Data<Malice<'i>>> {
        let Data::Real(a) = data else { return None };
        let source = arith.within_dtype(from);
        let read = |x: Number| {
            let is_flushed = source.format.min_normal() == FloatFormat::F32.min_normal();
            if is_flushed { Number { held: source.loose(x.held), ..x } } else { x }
        };
        let is_rounded = self.0.coin();
        Some(Data::Real(a.mapv(|x| if is_rounded { arith.rounded(read(x)) } else { read(x) })))
    }

    fn cast(&self, arith: &Malice<'i>, data: &Data<Malice<'i>>, from: DType) -> Option<Data<Malice<'i>>> {
        let narrowed = self.narrow(arith, data, from)?;
        let (Data::Real(a), Data::Real(loose)) = (data, narrowed) else { return None };
        let once = |x: Number| Number { held: round_to_format(arith.format, x.held), ..x };
        Some(Data::Real(
            Zip::from(a).and(&loose).map_collect(
                |&x, &loose| {
                    if self.rounds_once(x) { once(x) } else { loose }
                },
            ),
        ))
    }

    fn store(&self, arith: &Malice<'i>, data: &mut Data<Malice<'i>>, dtype: DType, is_inner: bool) {
        match data {
            Data::Real(a) => {
                let is_half = matches!(dtype, DType::F16 | DType::BF16);
                let profile = self.0.profile;
                let may_be_wide = is_inner && profile.widens_steps || is_half && profile.widens_halves;
                if !(may_be_wide && self.0.coin()) {
                    a.mapv_inplace(|x| arith.within_dtype(dtype).rounded(x));
                }
            }
            Data::Int(a) => a.mapv_inplace(|z| arith.stored_integer(z, dtype)),
        }
    }
}
