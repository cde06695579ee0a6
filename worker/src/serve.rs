//! The child's side: an engine behind the worker protocol.

use std::io::{self, BufRead, BufReader, BufWriter, Read, Write};
use std::panic::{self, AssertUnwindSafe, PanicHookInfo};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use ir::{Datum, Wanted};

use super::backtrace::Trace;
use super::pipe::AT_ONCE;
use super::protocol::{
    self, Description, FrameError, Greeting, Hello, Reply, Request, RunHeader, Stage, VERSION,
};
use super::{Case, Source, backtrace, sys};

/// The largest request a worker accepts. The parent is trusted; a limit keeps a bug in it from looking like one
/// in the engine.
const MAX_REQUEST: u64 = 4 << 30;

/// How long outputs wait at most for the answer to the next request: the parent takes its time from the answer before.
const LONGEST_WAIT: Duration = Duration::from_millis(20);

/// A runtime under test. It may panic, abort and hang; that is what the process around it is for.
pub trait Engine {
    /// What the engine is and can do.
    fn describe(&self) -> Description;

    /// Loads and runs a model. The outputs come in the order and with the dtypes of [`Case::outputs`].
    fn run(&mut self, case: &Case) -> Result<Vec<(String, Datum)>, EngineError>;
}

/// Why an engine gives no outputs, in its own words.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum EngineError {
    /// The engine does not take the model.
    #[error("cannot load the model: {0}")]
    Load(String),
    /// The engine took the model but cannot run it on these inputs.
    #[error("cannot run the model: {0}")]
    Run(String),
    /// The engine lacks something.
    #[error("unsupported: {0}")]
    Unsupported(String),
    /// Something went wrong inside of the engine that no model should cause, and that may have left it of no use: a fault, as a
    /// panic is.
    #[error("internal error: {0}")]
    Internal(String),
}

/// Serves an engine, which took this long to load, over standard input and output until the parent closes them. This
/// process's standard input is empty afterwards, and its standard output goes to standard error, so an engine that prints
/// does no harm.
pub fn serve(engine: &mut dyn Engine, loading: Duration) -> Result<(), FrameError> {
    let (input, output) = sys::claim_stdio()?;
    catch_panics();
    match serve_on(engine, loading, input, BufWriter::with_capacity(AT_ONCE, output)) {
        // A parent that has gone waits for no answer.
        Err(FrameError::Io(e)) if e.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        served => served,
    }
}

/// From now on panics are kept for the next reply, not printed.
pub(super) fn catch_panics() {
    panic::set_hook(Box::new(record_panic));
}

/// Serves an engine over any two streams.
///
/// Requests may come in advance. While the next one is here, outputs may wait for a moment: the parent is woken once, for all of
/// them. Should the engine kill this process meanwhile, the parent asks again for what it did not get. Anything else
/// than outputs is told at once.
pub(super) fn serve_on(
    engine: &mut dyn Engine,
    loading: Duration,
    input: impl Read,
    mut output: impl Write,
) -> Result<(), FrameError> {
    let mut input = BufReader::with_capacity(AT_ONCE, input);
    let mut told = Instant::now();
    loop {
        let is_idle = input.buffer().is_empty();
        if is_idle {
            // It may take any time until there is something to do.
            sys::self_destruct(None);
        }
        let request = match protocol::read_header(&mut input) {
            Ok(request) => request,
            Err(FrameError::Closed) => return Ok(()),
            Err(e) => return Err(e),
        };
        if is_idle {
            told = Instant::now();
        }
        let header = match request {
            Request::Hello { program, .. } => {
                backtrace::meet_parent(program.as_deref());
                let (seconds, description) = (loading.as_secs_f64(), engine.describe());
                let hello = Greeting::Hello(Hello { protocol: VERSION, seconds, description });
                output.write_all(&protocol::frame(&hello, &[])?)?;
                output.flush()?;
                continue;
            }
            Request::Run(header) => header,
        };
        let (reply, tensors) = answer(engine, header, &mut input)?;
        // An answer is written in one go, but for large tensors, which are not copied for that.
        let is_small = tensors.iter().map(Vec::len).sum::<usize>() <= AT_ONCE;
        let (together, apart) = if is_small { (&tensors[..], &[][..]) } else { (&[][..], &tensors[..]) };
        let together: Vec<&[u8]> = together.iter().map(Vec::as_slice).collect();
        output.write_all(&protocol::frame(&reply, &together)?)?;
        for bytes in apart {
            output.write_all(bytes)?;
        }
        let may_wait = matches!(reply, Reply::Ok { .. }) && told.elapsed() < LONGEST_WAIT;
        if input.buffer().is_empty() || !may_wait {
            output.flush()?;
            told = Instant::now();
        }
    }
}

/// The answer to a request, and its blobs.
fn answer(
    engine: &mut dyn Engine,
    header: RunHeader,
    input: &mut impl BufRead,
) -> Result<(Reply, Vec<Vec<u8>>), FrameError> {
    let RunHeader { id, level, timeout_ms, model, file, inputs, outputs } = header;
    let model = protocol::read_blob(input, model, MAX_REQUEST)?;
    let inputs = protocol::read_values(input, inputs, MAX_REQUEST)?;
    let inputs: Vec<_> = inputs.iter().map(|(name, value)| (name.as_str(), value.as_ref())).collect();
    let outputs: Vec<Wanted> = outputs.into_iter().map(Wanted::from).collect();
    let model = file.as_deref().map_or(Source::Message(&model), Source::File);
    let case = Case { model, level: &level, inputs: &inputs, outputs: &outputs };

    sys::self_destruct(Some(Duration::from_millis(timeout_ms)));
    take_panic();
    let started = Instant::now();
    let result = panic::catch_unwind(AssertUnwindSafe(|| engine.run(&case)));
    let seconds = started.elapsed().as_secs_f64();

    let reply = match result {
        Ok(Ok(values)) => {
            let values = values.iter().map(|(name, value)| (name.as_str(), value.as_ref()));
            let (outputs, bytes) = protocol::blobs(values);
            return Ok((Reply::Ok { id, seconds, outputs }, bytes));
        }
        Ok(Err(EngineError::Load(message))) => Reply::Rejected { id, stage: Stage::Load, message, seconds },
        Ok(Err(EngineError::Run(message))) => Reply::Rejected { id, stage: Stage::Run, message, seconds },
        Ok(Err(EngineError::Unsupported(why))) => Reply::Unsupported { id, why, seconds },
        Ok(Err(EngineError::Internal(message))) => panicked(id, seconds, PanicRecord::from_message(message)),
        Err(payload) => {
            // Where no hook ran (`resume_unwind`), the payload is all there is.
            let record = take_panic().unwrap_or_else(|| PanicRecord::from_message(message(&*payload)));
            panicked(id, seconds, record)
        }
    };
    Ok((reply, Vec::new()))
}

fn panicked(id: u64, seconds: f64, PanicRecord { message, location, trace }: PanicRecord) -> Reply {
    let Trace { names: frames, places } = trace;
    Reply::Panicked { id, message, location, frames, places, seconds }
}

/// The first panic since the case began, on whatever thread: a later one is most often its consequence.
static PANIC: Mutex<Option<PanicRecord>> = Mutex::new(None);

struct PanicRecord {
    message: String,
    location: String,
    trace: Trace,
}

impl PanicRecord {
    fn from_message(message: String) -> Self {
        Self { message, location: String::new(), trace: Trace::default() }
    }
}

fn take_panic() -> Option<PanicRecord> {
    PANIC.lock().unwrap_or_else(PoisonError::into_inner).take()
}

fn record_panic(info: &PanicHookInfo) {
    let message = message(info.payload());
    let location = info.location().map(ToString::to_string).unwrap_or_default();
    // Also to standard error, for a panic that is followed by an abort.
    eprintln!("panicked at {location}: {message}");
    let mut first = PANIC.lock().unwrap_or_else(PoisonError::into_inner);
    if first.is_none() {
        *first = Some(PanicRecord { message, location, trace: backtrace::of_panic() });
    }
}

fn message(payload: &(dyn std::any::Any + Send)) -> String {
    let text = payload.downcast_ref::<&str>().map(ToString::to_string);
    text.or_else(|| payload.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "a panic without a text".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gives no outputs, after a while of the model `slow`, refuses the model `no`, or breaks of the model `broken`.
    struct Picky;

    impl Engine for Picky {
        fn describe(&self) -> Description {
            Description::default()
        }
        fn run(&mut self, case: &Case) -> Result<Vec<(String, Datum)>, EngineError> {
            if case.model == Source::Message(b"slow") {
                std::thread::sleep(LONGEST_WAIT);
            }
            match case.model {
                Source::Message(b"no") => Err(EngineError::Load("no".to_owned())),
                Source::Message(b"broken") => Err(EngineError::Internal("device lost".to_owned())),
                _ => Ok(Vec::new()),
            }
        }
    }

    /// Counts how often something is written.
    struct Writes<'n>(&'n mut usize);

    impl Write for Writes<'_> {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            *self.0 += 1;
            Ok(bytes.len())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    fn request((id, model): (u64, &&str)) -> Vec<u8> {
        let header = RunHeader {
            id,
            level: String::new(),
            timeout_ms: 1000,
            model: model.len() as u64,
            file: None,
            inputs: Vec::new(),
            outputs: Vec::new(),
        };
        protocol::frame(&Request::Run(header), &[model.as_bytes()]).unwrap()
    }

    #[test]
    fn an_internal_error_is_told_as_a_panic_is() {
        let mut answer = Vec::new();
        serve_on(&mut Picky, Duration::ZERO, request((1, &"broken")).as_slice(), &mut answer).unwrap();
        let reply = protocol::read_header(&mut answer.as_slice()).unwrap();
        let Reply::Panicked { id: 1, message, location, .. } = reply else { panic!("{reply:?}") };
        assert_eq!((message.as_str(), location.as_str()), ("device lost", ""));
    }

    #[test]
    fn outputs_wait_for_a_moment_while_the_next_request_is_here() {
        for (models, wanted) in [
            (["yes", "yes", "yes"], 1),
            (["yes", "no", "yes"], 2),
            (["no", "no", "no"], 3),
            (["yes", "slow", "yes"], 2),
        ] {
            let requests: Vec<u8> = (1..).zip(&models).flat_map(request).collect();
            let mut writes = 0;
            serve_on(&mut Picky, Duration::ZERO, requests.as_slice(), BufWriter::new(Writes(&mut writes)))
                .unwrap();
            assert_eq!(writes, wanted, "{models:?}");
        }
    }

    #[test]
    fn the_parent_is_told_how_long_loading_took() {
        let request = protocol::frame(&Request::Hello { protocol: VERSION, program: None }, &[]).unwrap();
        let mut answer = Vec::new();
        serve_on(&mut Picky, Duration::from_millis(1500), request.as_slice(), &mut answer).unwrap();
        let greeting = protocol::read_header(&mut answer.as_slice()).unwrap();
        let Greeting::Hello(hello) = greeting else { panic!("{greeting:?}") };
        assert_eq!(hello.seconds, 1.5);
    }

    #[test]
    fn a_request_that_is_no_frame_ends_the_worker() {
        struct Never;
        impl Engine for Never {
            fn describe(&self) -> Description {
                unreachable!("nobody asks")
            }
            fn run(&mut self, _: &Case) -> Result<Vec<(String, Datum)>, EngineError> {
                unreachable!("nobody asks")
            }
        }
        assert!(serve_on(&mut Never, Duration::ZERO, &b""[..], std::io::sink()).is_ok());
        assert!(serve_on(&mut Never, Duration::ZERO, &b"hello\n"[..], std::io::sink()).is_err());
    }
}
