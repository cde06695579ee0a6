//! Draws sizes for inputs, and numbers that decide whether a model can be read, until it can.

use std::collections::{BTreeMap, BTreeSet};

use harness::{case, reference};
use ir::{DType, Datum, Stream, Type};
use onnx::external::External;
use onnx::import::{Imported, InputType};
use onnx::program::{Initializer, Program};
use onnx::tensor;
use rand::RngExt;

use super::given::UserInputs;
use super::{NoInputs, Room, plain};

/// In each attempt, half of the sizes are the next one of these; the others are 2, 3 or 4. Small sizes are cheap, and
/// tell axes apart. But windows, strides and reshapes may need larger ones, or 1, and some networks take pictures of
/// only one height.
const OTHERS: [i64; 18] = [4, 1, 2, 8, 16, 32, 48, 64, 128, 256, 576, 24, 80, 96, 112, 160, 224, 320];

/// How often sizes are drawn with each of these.
const DRAWS: u64 = 4;

/// How often sizes are drawn from those of the weights, if none of the others works.
const LIKE_WEIGHTS: usize = 64;

/// From how many sizes of weights one is drawn.
const WEIGHTS: usize = 16;

/// No further sizes are tried once this program lacked something with so many of them: to find out that a loop has too
/// many iterations takes a second.
const LACKS: usize = 8;

/// A model, the values that are known of its inputs, and the sizes that were drawn.
type Drawn = (Imported, BTreeMap<String, Datum>, BTreeMap<String, i64>);

/// The model with the first drawn sizes and values with which it can be read.
pub(super) fn draw(
    program: &Program,
    inputs: &[InputType],
    open: &BTreeSet<String>,
    given: &UserInputs,
    stream: Stream,
) -> Result<Drawn, NoInputs> {
    // Whether a model can be read depends on sizes, and on numbers that are sizes, indices and switches; seldom on
    // others.
    let is_whole = |input: &&InputType| input.dtype.is_some_and(|dtype| !dtype.is_float());
    let mut undrawn = inputs.iter().filter(|input| !given.inputs.contains_key(&input.name));
    let varies = open.len() > given.sizes.len() || undrawn.any(|input| is_whole(&input));
    let mut tried = SizeTrials::default();
    let small = OTHERS.into_iter().flat_map(|other| (0..DRAWS).map(move |_| vec![other]));
    let of_weights = of_weights(program);
    let like_weights = if open.is_empty() || of_weights.is_empty() { 0 } else { LIKE_WEIGHTS };
    let attempts = small.chain(std::iter::repeat_n(of_weights, like_weights));
    for (attempt, others) in attempts.enumerate() {
        let stream = stream.child("sizes").at(attempt as u64);
        let mut sizes = sizes(open, given, &others, stream);
        let Made { known, no_room } = make_up(inputs, given, &sizes, stream);
        match case::trace(program, &known) {
            Ok(imported) => {
                sizes.retain(|name, _| !given.sizes.contains_key(name));
                return Ok((imported, known, sizes));
            }
            Err(source) => tried.add(source, sizes, no_room),
        }
        if (!varies && attempt >= 3) || tried.lacks == LACKS {
            break;
        }
    }
    Err(tried.verdict(varies))
}

/// Sizes for the open axes: given ones, and drawn ones, half of which are from `others`.
fn sizes(
    open: &BTreeSet<String>,
    given: &UserInputs,
    others: &[i64],
    stream: Stream,
) -> BTreeMap<String, i64> {
    let mut sizes = given.sizes.clone();
    for name in open.iter().filter(|name| !given.sizes.contains_key(*name)) {
        let mut rng = stream.child(name).rng();
        let size = match others {
            [other] if rng.random_bool(0.5) => *other,
            [_, _, ..] if rng.random_bool(0.5) => others[rng.random_range(0..others.len())],
            _ => rng.random_range(2..=4),
        };
        sizes.insert(name.clone(), size);
    }
    sizes
}

/// The sizes of the model's weights, and the numbers in its small integer weights. An axis of an input that meets them
/// may need one of these sizes.
fn of_weights(program: &Program) -> Vec<i64> {
    let mut all = Vec::new();
    for Initializer { tensor, .. } in &program.main.body.initializers {
        all.extend(&tensor.dims);
        let is_shape =
            |ty: &Type| ty.dtype == DType::I64 && ty.is_countable() && ty.count() <= WEIGHTS as i64;
        if tensor::type_of(tensor).is_ok_and(|ty| is_shape(&ty)) {
            let numbers = tensor::from_proto(tensor, External::Refuse).map(|numbers| numbers.to_i128s());
            let numbers: Vec<i64> = numbers.iter().flatten().map(|&number| number as i64).collect();
            // A tensor that is reshaped to a shape has as many elements.
            all.extend(numbers.iter().try_fold(1, |count: i64, &size| count.checked_mul(size)));
            all.extend(numbers);
        }
    }
    let mut met = BTreeSet::new();
    all.retain(|&size| size > 4 && size < MOST_LIKE_WEIGHTS && met.insert(size));
    all.truncate(WEIGHTS);
    all
}

/// Larger sizes of weights are not tried for inputs.
const MOST_LIKE_WEIGHTS: i64 = 1 << 16;

/// Inputs that were made up for some sizes.
struct Made {
    /// All values, those that are given included.
    known: BTreeMap<String, Datum>,
    /// The inputs for which there was no room, and whether their sizes are open.
    no_room: Vec<(String, Type, bool)>,
}

/// Makes up the inputs that are not given.
fn make_up(inputs: &[InputType], given: &UserInputs, sizes: &BTreeMap<String, i64>, stream: Stream) -> Made {
    let mut made = Made { known: given.inputs.clone(), no_room: Vec::new() };
    let mut room = Room::new();
    for input in inputs.iter().filter(|input| !given.inputs.contains_key(&input.name)) {
        // An input that is no tensor, or has no declared rank, is left out; whoever reads the model reports it. An
        // input that, with the others, has more elements than the reference takes is left out too. The model is refused
        // then, if not for its size.
        let Some(ty) = input.with(sizes) else { continue };
        if room.has(&ty) {
            made.known.insert(input.name.clone(), plain(&ty, stream.child(&input.name)).into());
        } else {
            made.no_room.push((input.name.clone(), ty, input.open().next().is_some()));
        }
    }
    made
}

/// What was learnt from sizes with which a model cannot be read.
#[derive(Default)]
struct SizeTrials {
    /// The first input of open sizes for which there was no room.
    too_large: Option<(String, Type)>,
    /// Whether there was room for all inputs at least once, or the model has a fault that is not a missing value.
    is_whole: bool,
    /// What was lacking; `None` where the model is invalid.
    lacking: BTreeSet<Option<String>>,
    /// How often something was lacking although there was room for all.
    lacks: usize,
    /// The sizes.
    sizes: BTreeSet<Vec<i64>>,
    /// The error that is told, with its sizes: the first, or a later one that says more.
    told: Option<(onnx::Error, BTreeMap<String, i64>)>,
}

impl SizeTrials {
    /// Adds why a model cannot be read with these sizes.
    fn add(&mut self, why: onnx::Error, sizes: BTreeMap<String, i64>, no_room: Vec<(String, Type, bool)>) {
        // With other sizes the model may be valid. But what this program lacks, it lacks with any sizes.
        let is_lack = |e: &onnx::Error| matches!(e, onnx::Error::Unsupported { .. });
        let is_whole = no_room.is_empty();
        let says_more = |before| !is_lack(before) && is_lack(&why) && is_whole;
        if let Some((name, ty, _)) = no_room.into_iter().find(|(.., is_open)| *is_open) {
            self.too_large.get_or_insert((name, ty));
        }
        self.lacks += usize::from(is_lack(&why) && is_whole);
        self.is_whole |= is_whole || !is_lack(&why);
        self.lacking.insert(is_lack(&why).then(|| why.to_string()));
        self.sizes.insert(sizes.values().copied().collect());
        if self.told.as_ref().is_none_or(|(before, _)| says_more(before)) {
            self.told = Some((why, sizes));
        }
    }

    /// Why there are no inputs. `varies` says whether attempts differed in anything that the model's validity may
    /// depend on.
    fn verdict(self, varies: bool) -> NoInputs {
        if let Some(why) = self.is_too_large() {
            return NoInputs::TooDear(why);
        }
        let lacks_the_same = self.always_lacks_the_same();
        let (why, sizes) = self.told.expect("there are attempts");
        if lacks_the_same {
            return NoInputs::Model(why);
        }
        if sizes.is_empty() {
            return if varies { NoInputs::Values { why } } else { NoInputs::Model(why) };
        }
        let sizes: Vec<String> = sizes.iter().map(|(name, size)| format!("{name}={size}")).collect();
        NoInputs::Sizes { why, sizes: sizes.join(", ") }
    }

    /// Whether there never was room for all inputs, in words.
    fn is_too_large(&self) -> Option<String> {
        let (name, ty) = self.too_large.as_ref().filter(|_| !self.is_whole)?;
        let count = ty.shape.iter().try_fold(1u64, |count, size| count.checked_mul(size.unsigned_abs()));
        let count = count.map_or_else(|| "countless".to_owned(), |count| count.to_string());
        Some(format!(
            "input `{name}` is too large: as {ty} it has {count} elements, and all inputs that are made up have at most {} together; \
             --dim NAME=N takes a smaller size, and --input NAME=FILE a value",
            reference::MAX_ELEMENTS
        ))
    }

    /// Whether this program always lacked the same thing, with various sizes: then other sizes will not help.
    fn always_lacks_the_same(&self) -> bool {
        self.sizes.len() > 1 && self.lacking.len() == 1 && !self.lacking.contains(&None)
    }
}
