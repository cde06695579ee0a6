//! A worker that misbehaves as told: in its handshake by its argument, in a case by the bytes of the "model".
//!
//! | argument | serves |
//! |---|---|
//! | `echo` | inputs as outputs; the "model" names a misbehaviour, or a clean answer |
//! | `chaos` and rates | inputs as outputs, with misbehaviour at these rates |
//! | anything else | the protocol, broken by hand |

use std::io::{BufRead, Read, Write};
use std::thread::sleep;
use std::time::Duration;

use ir::{Datum, DatumKind, Tensor};
use onnxsmith_worker::chaos::{self, Misbehaviour, Rates};
use onnxsmith_worker::{Case, Description, Engine, EngineError};

const FOR_EVER: Duration = Duration::from_hours(1);

/// Answers as the model says.
struct Echo;

impl Engine for Echo {
    fn describe(&self) -> Description {
        Description {
            engine: "echo".into(),
            version: "1".into(),
            values: DatumKind::ALL.map(|kind| kind.name().into()).into(),
            dtypes: ir::DType::ALL.into_iter().map(|d| (d.name().into(), d.name().into())).collect(),
            opset: None,
            levels: vec!["none".into()],
            files: true,
            ..Description::default()
        }
    }

    fn run(&mut self, case: &Case) -> Result<Vec<(String, Datum)>, EngineError> {
        if let Some(file) = once(case.model.message()?)
            && std::fs::File::create_new(file).is_ok()
        {
            std::process::exit(3);
        }
        if let Some(file) = after("once or hang ", case.model.message()?) {
            if std::fs::File::create_new(file).is_ok() {
                std::process::exit(3);
            }
            sleep(FOR_EVER);
        }
        match case.model.message()? {
            b"read" => assert_eq!(std::io::stdin().read(&mut [0; 16]).unwrap(), 0),
            b"load" => return Err(EngineError::Load("no such attribute".into())),
            b"run" => return Err(EngineError::Run("index 7 is out of bounds".into())),
            b"unsupported" => return Err(EngineError::Unsupported("Einsum".into())),
            _ => {}
        }
        Ok(case
            .inputs
            .iter()
            .map(|(name, value)| ((*name).to_owned(), value.clone().map(Tensor::clone)))
            .collect())
    }
}

/// The file that a model `once FILE` names: such a model ends the process where the file is not there yet.
fn once(model: &[u8]) -> Option<&str> {
    after("once ", model).filter(|file| !file.starts_with("or hang "))
}

/// What stands in a model after some words.
fn after<'m>(words: &str, model: &'m [u8]) -> Option<&'m str> {
    std::str::from_utf8(model).ok()?.strip_prefix(words)
}

/// The misbehaviour that a model is named after.
fn named(case: &Case<'_>) -> Option<Misbehaviour> {
    Misbehaviour::named(std::str::from_utf8(case.model.message().ok()?).ok()?)
}

/// Speaks the protocol by hand, and breaks it after the handshake.
fn break_protocol(how: &str) {
    let mut lines = std::io::stdin().lock();
    let mut out = std::io::stdout().lock();
    let mut line = String::new();
    let hello = br#"{"type":"hello","protocol":1,"engine":"raw","version":"1","dtypes":{"f32":"f32"},"levels":["none"]}"#;
    lines.read_line(&mut line).expect("hello comes");
    if how == "dumb" {
        sleep(FOR_EVER);
    }
    match how {
        // The hello is said as it is told.
        "say" => writeln!(out, "{}", std::env::args().nth(2).unwrap_or_default()),
        "level-less" => out.write_all(b"{\"type\":\"hello\",\"protocol\":1,\"engine\":\"\",\"version\":\"\",\"dtypes\":{\"f32\":\"f32\"},\"levels\":[]}\n"),
        "dtype-less" => out.write_all(b"{\"type\":\"hello\",\"protocol\":1,\"engine\":\"\",\"version\":\"\",\"dtypes\":{\"float32\":\"float32\"},\"levels\":[\"all\"]}\n"),
        "future" => out.write_all(b"{\"type\":\"hello\",\"protocol\":99,\"engine\":\"\",\"version\":\"\",\"dtypes\":{},\"levels\":[]}\n"),
        "chatty" => out.write_all(b"Loading plugins...\n"),
        _ => out.write_all(hello).and_then(|()| out.write_all(b"\n")),
    }
    .and_then(|()| out.flush())
    .expect("the parent reads");
    if how == "deaf" {
        sleep(FOR_EVER);
    }
    lines.read_line(&mut line).expect("run comes");
    let reply: &[u8] = match how {
        "half header" => b"{\"type\":\"ok\",\"id\":1",
        "half blob" => b"{\"type\":\"ok\",\"id\":1,\"seconds\":0,\"outputs\":[{\"name\":\"x\",\"dtype\":\"f32\",\"shape\":[3],\"bytes\":12}]}\n1234",
        _ => b"",
    };
    out.write_all(reply).and_then(|()| out.flush()).expect("the parent reads");
}

fn main() {
    let mut words = std::env::args().skip(1);
    let how = words.next().unwrap_or_default();
    let served = match how.as_str() {
        "echo" => chaos::serve_with(&mut Echo, &named, Duration::from_secs(3)),
        "chaos" => chaos::serve(&mut Echo, &Rates::parse(words).expect("rates")),
        _ => {
            break_protocol(&how);
            Ok(())
        }
    };
    served.expect("the parent speaks the protocol");
}
