//! Damaged models never make import panic.

mod sizes;

use std::collections::BTreeMap;
use std::sync::LazyLock;

use graphgen::{Forms, Settings, Weights, generate};
use ir::{Datum, Stream, Tensor};
use onnx::import::Options;
use onnx::proto::attribute_proto::AttributeType;
use onnx::proto::{AttributeProto, ModelProto, decode};
use onnx::{encode, export, import};
use onnxsmith_forms::{Placed, composite, former, usual, write};
use ops::Model;
use proptest::prelude::*;

/// How many models are written as they are drawn.
const PLAIN: u64 = 64;

/// How many are written in forms, and of how many a former opset is tried.
const FORMED: u64 = 150;

/// A model before it is damaged, and the values of its inputs.
struct Sound {
    bytes: Vec<u8>,
    inputs: BTreeMap<String, Datum>,
}

impl Sound {
    fn of(proto: &ModelProto) -> Self {
        Self { bytes: encode(proto), inputs: BTreeMap::new() }
    }
}

/// Settings for a small model; some have functions.
fn settings(seed: u64) -> Settings {
    let opset = 13 + (seed % 16) as u32;
    Settings { opset, nodes: 4, function: 0.5, max_elements: 64, ..Settings::default() }
}

fn plain(seed: u64) -> ModelProto {
    export(&generate(&settings(seed), &Weights, Stream::new(seed)).model).unwrap()
}

/// Such a model with attributes of all kinds at its first node, which no operator takes.
fn attributed(seed: u64) -> ModelProto {
    let mut proto = plain(seed);
    let of = |kind: AttributeType, name: &str| AttributeProto {
        name: Some(name.to_owned()),
        r#type: Some(kind as i32),
        ..Default::default()
    };
    let tensor: Tensor = "u2[3] {1, 2, 3}".parse().unwrap();
    if let Some(node) = proto.graph.as_mut().and_then(|graph| graph.node.first_mut()) {
        node.attribute.extend([
            AttributeProto { floats: vec![1.0, f32::NAN], ..of(AttributeType::Floats, "alpha") },
            AttributeProto { strings: vec![b"x".to_vec(), vec![0xff]], ..of(AttributeType::Strings, "mode") },
            AttributeProto {
                t: Some(onnx::tensor::to_proto("t", &tensor)),
                ..of(AttributeType::Tensor, "axes")
            },
        ]);
    }
    proto
}

/// A model as a program, in forms, with small numbers for its inputs.
fn written(model: &Model, placed: &[Placed], forms: &Forms, stream: Stream) -> Option<Sound> {
    let inputs = model.graph.variables();
    let inputs: Vec<(String, Tensor)> = inputs
        .map(|(_, name, ty)| (name.to_owned(), Tensor::from_i128_fn(ty, |i| (i % 3) as i128)))
        .collect();
    let written = write(model, &inputs, placed, forms, stream)?;
    let inputs = written.inputs.into_iter().map(|(name, tensor)| (name, tensor.into())).collect();
    Some(Sound { bytes: encode(&written.program.write()), inputs })
}

/// A model in forms, some of them of an opset before 13.
fn formed(seed: u64) -> Option<Sound> {
    let stream = Stream::new(seed).child("forms");
    let forms = Forms { share: 1.0, each: usual() };
    let settings = Settings { forms: forms.clone(), ..settings(seed) };
    let settings = former::draw(&settings, stream.child("former"), stream).unwrap_or(settings);
    written(&generate(&settings, &Weights, stream).model, &[], &forms, stream)
}

/// Each operator that is written out, alone, in the newest opset and in the first that has it.
fn composites() -> Vec<Sound> {
    let drawn = composite::all().flat_map(|composite| {
        [*ir::graph::OPSETS.end(), composite.since].map(|opset| {
            let dtype = composite.dtypes.iter().next()?;
            let stream = Stream::new(opset.into()).child(composite.name);
            let (model, _, placed) = composite.alone(opset, dtype, stream)?;
            written(&model, &[placed], &Forms::default(), stream)
        })
    });
    drawn.flatten().collect()
}

static MODELS: LazyLock<Vec<Sound>> = LazyLock::new(|| {
    let plain = (0..PLAIN).map(plain).chain((0..8).map(attributed));
    let mut all: Vec<Sound> = plain.map(|proto| Sound::of(&proto)).collect();
    all.extend((0..FORMED).filter_map(formed));
    all.extend(composites());
    all
});

/// Reads a model with the values that its inputs had, or with none. What is accepted is valid.
fn read(proto: &ModelProto, known: &BTreeMap<String, Datum>) {
    for known_inputs in [known, &BTreeMap::new()] {
        if let Ok(imported) = import(proto, &Options { known_inputs, ..Options::default() }) {
            imported.model.validate().expect("what is accepted is valid");
        }
    }
}

/// The models hold what import has to read: bodies, operators that are written out, strings, former opsets and the newest.
#[test]
fn all_that_import_reads_is_damaged() {
    let protos: Vec<ModelProto> = MODELS.iter().map(|model| decode("model", &model.bytes).unwrap()).collect();
    let graphs = || protos.iter().filter_map(|proto| proto.graph.as_ref());
    let nodes = || graphs().flat_map(|graph| &graph.node);
    for name in ["If", "Loop", "Scan", "LSTM", "Resize", "StringSplit", "RandomUniformLike"] {
        assert!(nodes().any(|node| node.op_type() == name), "there is no {name}");
    }
    assert!(nodes().any(|node| node.domain() == "ai.onnx.ml"));
    let opsets =
        || protos.iter().flat_map(|proto| &proto.opset_import).filter(|entry| entry.domain().is_empty());
    assert!(opsets().any(|entry| entry.version() < 13) && opsets().any(|entry| entry.version() == 28));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]

    #[test]
    fn changed_bytes(
        model in any::<prop::sample::Index>(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
        cut in prop::option::weighted(0.05, any::<prop::sample::Index>()),
    ) {
        let Sound { bytes, inputs } = &MODELS[model.index(MODELS.len())];
        let mut bytes = bytes.clone();
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        if let Some(cut) = cut {
            bytes.truncate(cut.index(bytes.len()));
        }
        if let Ok(proto) = decode::<ModelProto>("model", &bytes) {
            read(&proto, inputs);
        }
    }

    #[test]
    fn changed_sizes(model in any::<prop::sample::Index>(), seed in any::<u64>()) {
        let models = &MODELS[PLAIN as usize..];
        let Sound { bytes, inputs } = &models[model.index(models.len())];
        let mut proto = decode::<ModelProto>("model", bytes).unwrap();
        sizes::change(&mut proto, &mut Stream::new(seed).rng());
        read(&proto, inputs);
    }
}
