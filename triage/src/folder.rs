//! A case as a folder, with what is known about it.

use std::collections::BTreeMap;
use std::path::Path;

use interp::{Bounded, Profile};
use ir::{DType, Datum, Interface, Tensor, Type, Wanted};
use onnx::CaseFolder;
use onnx::case::{DataSet, Leeway, NamedDatum};
use ops::Footprint;
use oracles::{Check, Finding, Tolerance};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};

use crate::oracle::Rewritten;
use crate::reduce::Problem;
use harness::case::Case;
use harness::evaluated::Evaluated;
use harness::footprint::Takes;
use harness::validity::Relaxed;

/// What `case.json` says. `docs/case.schema.json` describes it for others.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct About {
    /// The version of onnxsmith that made the case.
    pub onnxsmith: Option<String>,
    /// The seed of the campaign.
    pub seed: Option<u64>,
    /// The number of the case in the campaign.
    pub index: Option<u64>,
    /// `derived`: the outputs are to be judged by derived bounds, not by a fixed tolerance.
    #[serde(deserialize_with = "tolerance")]
    pub tolerance: Option<String>,
    /// The accuracy that the bounds allow for: the name of a [`Profile`].
    #[serde(deserialize_with = "profile", skip_serializing_if = "Option::is_none")]
    pub profile: Option<String>,
    /// Whether +0 and −0 differ where the bound is 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub zero_sign: Option<ZeroSign>,
    /// A relative tolerance for the stored outputs. Where bounds are derived, it is for tools that cannot use them.
    pub rtol: Option<f64>,
    /// An absolute tolerance for the stored outputs, in the same way.
    pub atol: Option<f64>,
    /// What the model takes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub footprint: Option<Takes>,
    /// A summary of each output's bounds.
    pub bounds: Vec<Bounds>,
    /// Why the model is not, or may not be, valid.
    pub relaxed: Option<Relaxed>,
    /// The question that was asked, if it was not comparison with the reference. If a rewritten model belongs to it,
    /// that is in the folder `rewritten`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub check: Option<Check>,
    /// What was found with the case.
    pub findings: Vec<Finding>,
}

/// What the sign of a zero means to a judge.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ZeroSign {
    /// +0 and −0 differ.
    Counts,
    /// Zeros of both signs are the same.
    Ignored,
}

/// A summary of one output's bounds.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Bounds {
    /// The output.
    pub name: String,
    /// How many elements it has.
    pub elements: usize,
    /// The largest finite bound.
    pub largest: f64,
    /// How many elements are undecidable.
    pub undecidable: usize,
    /// How many elements are undefined.
    pub undefined: usize,
    /// The relative part of a tolerance that covers the judged elements.
    pub rtol: f64,
    /// The absolute part.
    pub atol: f64,
}

/// The numbers in a mask.
const JUDGED: u8 = 0;
const UNDECIDABLE: u8 = 1;
const UNDEFINED: u8 = 2;

/// The value of [`About::tolerance`] that asks for derived bounds.
pub const DERIVED: &str = "derived";

/// A tolerance that there is. A word that nobody knows may ask for bounds, and the case would be judged without.
fn tolerance<'de, D: Deserializer<'de>>(from: D) -> Result<Option<String>, D::Error> {
    let said = Option::<String>::deserialize(from)?;
    match said.as_deref() {
        None | Some(DERIVED) => Ok(said),
        Some(other) => {
            let why = format!("there is no tolerance `{other}`; it is `{DERIVED}` or null");
            Err(D::Error::custom(why))
        }
    }
}

/// The name of a profile that there is.
fn profile<'de, D: Deserializer<'de>>(from: D) -> Result<Option<String>, D::Error> {
    let said = Option::<String>::deserialize(from)?;
    match said.as_deref().filter(|name| Profile::named(name).is_none()) {
        None => Ok(said),
        Some(other) => {
            let known = Profile::ALL.map(|profile| profile.name).join(", ");
            Err(D::Error::custom(format!("there is no profile `{other}`; there are {known}")))
        }
    }
}

impl About {
    /// The contents of a folder's `case.json`; empty if there is none.
    pub fn read(folder: &CaseFolder) -> Result<Self, serde_json::Error> {
        folder.json.as_deref().map_or_else(|| Ok(Self::default()), serde_json::from_slice)
    }
}

/// Writes a case of a campaign with the reference's outputs, and what was found.
pub fn save(
    path: &Path,
    seed: u64,
    case: &Case,
    profile: &Profile,
    outputs: &[Bounded],
    findings: &[Finding],
    rewritten: Option<&Rewritten>,
) -> Result<(), onnx::Error> {
    Saved::of(case, seed, profile, outputs, findings, rewritten).write(path)
}

/// What a case folder holds.
pub struct Saved<'a> {
    /// The seed of the campaign, if the case is from one.
    pub seed: Option<u64>,
    /// The number of the case in the campaign.
    pub index: Option<u64>,
    /// The model.
    pub onnx: &'a [u8],
    /// What the model takes, if it is valid.
    pub footprint: Option<Takes>,
    /// The model's variables, by name.
    pub inputs: &'a [(String, Tensor)],
    /// What the program's inputs and outputs are made of.
    pub interface: Interface,
    /// The names of the model's outputs, in order.
    pub names: Vec<String>,
    /// The accuracy that the outputs' bounds allow for.
    pub profile: &'a Profile,
    /// The outputs by the reference; none where it has none.
    pub outputs: &'a [Bounded],
    /// What was found.
    pub findings: &'a [Finding],
    /// Why the model is not, or may not be, valid.
    pub relaxed: Option<&'a Relaxed>,
    /// The model in another form, whose outputs must be the same.
    pub rewritten: Option<&'a Rewritten>,
}

impl<'a> Saved<'a> {
    /// A case of a campaign, with the reference's outputs (none if the model is invalid) and what was found.
    pub fn of(
        case: &'a Case,
        seed: u64,
        profile: &'a Profile,
        outputs: &'a [Bounded],
        findings: &'a [Finding],
        rewritten: Option<&'a Rewritten>,
    ) -> Self {
        let names = case.model.graph.outputs.iter().map(|o| o.name.clone()).collect();
        let (seed, index, onnx, inputs) = (Some(seed), Some(case.index), case.bytes(), &case.inputs[..]);
        let relaxed = case.relaxed.as_ref();
        let footprint = relaxed.is_none().then(|| case.footprint.into());
        let interface = Interface::of(&case.model);
        Self {
            seed,
            index,
            onnx,
            footprint,
            inputs,
            interface,
            names,
            profile,
            outputs,
            findings,
            relaxed,
            rewritten,
        }
    }

    /// A reduced case, with the outputs by the reference. `onnx` and `inputs` are its own.
    pub fn of_problem(
        problem: &Problem,
        (onnx, inputs): (&'a [u8], &'a [(String, Tensor)]),
        evaluated: &'a Evaluated,
        findings: &'a [Finding],
    ) -> Self {
        Self {
            seed: None,
            index: None,
            onnx,
            footprint: Footprint::of(&problem.model).map(Into::into),
            inputs,
            interface: problem.interface(),
            names: evaluated.names.clone(),
            profile: evaluated.profile,
            outputs: &evaluated.evaluation.outputs,
            findings,
            relaxed: None,
            rewritten: None,
        }
    }

    /// Writes the folder; a case that is there is replaced as a whole.
    pub fn write(&self, path: &Path) -> Result<(), onnx::Error> {
        self.folder().write(path)
    }

    /// The folder.
    pub fn folder(&self) -> CaseFolder {
        let inputs = self.interface.inputs_of(self.inputs).into_iter();
        let inputs = inputs.map(|(name, value)| NamedDatum::new(name, value.map(Tensor::clone)));
        let (outputs, leeways) = self.outputs();
        let set = DataSet { inputs: inputs.collect(), outputs, leeways };
        let json = serde_json::to_vec_pretty(&self.about()).unwrap_or_default();
        let rewritten = self.rewritten.map(|r| Box::new(r.folder()));
        CaseFolder { model: self.onnx.to_vec().into(), sets: vec![set], json: Some(json), rewritten }
    }

    /// The outputs of the program, made from those of the model, and how far each may be off; none if the reference has
    /// none.
    fn outputs(&self) -> (Vec<NamedDatum>, Vec<Leeway>) {
        let by_name: BTreeMap<&str, &Bounded> =
            self.names.iter().map(String::as_str).zip(self.outputs).collect();
        let tensor = |(name, part): (&&str, &&Bounded)| ((*name).to_owned(), part.tensor.clone());
        let mut tensors: BTreeMap<String, Tensor> = by_name.iter().map(tensor).collect();
        let output = |Wanted { name, kind, .. }: &Wanted| {
            let value = kind.gather(name, &mut tensors).ok()?;
            let bounded = value.names(name).try_map(|part| by_name.get(part.as_str()).copied().ok_or(part));
            let bounded: Datum<&Bounded> = bounded.ok()?;
            let leeway = Leeway { bound: bounded.clone().map(bound), mask: bounded.map(mask) };
            Some((NamedDatum::new(name, value), leeway))
        };
        self.interface.outputs.iter().filter_map(output).unzip()
    }

    fn about(&self) -> About {
        let tolerance = (!self.outputs.is_empty()).then(|| Tolerance::covering(self.outputs));
        let judged = tolerance.map(|_| self.profile);
        About {
            onnxsmith: Some(env!("CARGO_PKG_VERSION").to_owned()),
            seed: self.seed,
            index: self.index,
            tolerance: self.relaxed.is_none().then(|| DERIVED.to_owned()),
            footprint: self.footprint,
            profile: judged.map(|profile| profile.name.to_owned()),
            zero_sign: judged.map(ZeroSign::under),
            rtol: tolerance.map(|t| t.relative),
            atol: tolerance.map(|t| t.absolute),
            bounds: self.names.iter().zip(self.outputs).map(|(name, o)| Bounds::of(name, o)).collect(),
            relaxed: self.relaxed.cloned(),
            check: self.findings.iter().find_map(|f| f.check.clone()),
            findings: self.findings.to_vec(),
        }
    }
}

impl ZeroSign {
    fn under(profile: &Profile) -> Self {
        if profile.ignores_zero_sign { Self::Ignored } else { Self::Counts }
    }
}

impl Bounds {
    fn of(name: &str, output: &Bounded) -> Self {
        let Tolerance { relative, absolute } = Tolerance::covering([output]);
        Self {
            name: name.to_owned(),
            elements: output.tensor.len(),
            largest: output.error.iter().copied().filter(|e| e.is_finite()).fold(0.0, f64::max),
            undecidable: output.undecidable(),
            undefined: output.undefined.len(),
            rtol: relative,
            atol: absolute,
        }
    }
}

/// The bounds of an output for other judges.
fn bound(output: &Bounded) -> Tensor {
    let ty = Type { dtype: DType::F64, ..output.tensor.ty() };
    Tensor::from_f64_fn(&ty, |i| output.error_at(i))
}

/// Which elements of an output other judges are to judge.
fn mask(output: &Bounded) -> Tensor {
    let ty = Type { dtype: DType::U8, ..output.tensor.ty() };
    let mask = |i| match (output.error_at(i).is_finite(), output.undefined.binary_search(&i)) {
        (_, Ok(_)) => UNDEFINED,
        (false, Err(_)) => UNDECIDABLE,
        (true, Err(_)) => JUDGED,
    };
    Tensor::from_i128_fn(&ty, |i| mask(i).into())
}
