//! What frames hold on the wire, and what of it is refused.

use ir::Held;

use super::*;

fn tensor() -> Tensor {
    Tensor::from_f64_fn(&Type::new(DType::F16, [2, 3]), |i| i as f64)
}

fn empty() -> Tensor {
    Tensor::zeros(&Type::new(DType::I64, [0, 4]))
}

/// The headers and the bytes of some values.
fn announced(values: &[(String, Datum)]) -> (Vec<Blob>, Vec<u8>) {
    let (blobs, bytes) = blobs(values.iter().map(|(name, value)| (name.as_str(), value.as_ref())));
    (blobs, bytes.concat())
}

#[test]
fn values_round_trip() {
    let held = [Held::Tensor(tensor()), Held::Sequence(vec![empty(), tensor()]), Held::Sequence(Vec::new())];
    let mut sent: Vec<(String, Datum)> = vec![("nothing".into(), Datum::Optional(None))];
    for (i, held) in held.into_iter().enumerate() {
        sent.push((format!("x{i}"), held.clone().into()));
        sent.push((format!("o{i}"), Datum::Optional(Some(held))));
    }
    let (headers, bytes) = announced(&sent);
    let reply = Reply::Ok { id: 7, seconds: 0.5, outputs: headers.clone() };
    let wire = frame(&reply, &[&bytes]).unwrap();
    let mut wire = wire.as_slice();
    assert_eq!(read_header::<Reply>(&mut wire).unwrap(), reply);
    assert_eq!(read_values(&mut wire, headers, 48).unwrap(), sent);
    assert!(matches!(read_header::<Reply>(&mut wire), Err(FrameError::Closed)));
}

#[test]
fn each_kind_is_written_as_documented() {
    let written = |value: Datum| {
        let (blobs, _) = announced(&[("x".into(), value)]);
        serde_json::to_string(&blobs[0]).unwrap()
    };
    let part = r#""dtype":"f16","shape":[2,3],"bytes":12"#;
    let sequence = format!(r#""sequence":[{{{part}}}]"#);
    for (value, header) in [
        (Datum::Tensor(tensor()), part.to_owned()),
        (Datum::Sequence(vec![tensor()]), sequence.clone()),
        (Datum::Sequence(Vec::new()), r#""sequence":[]"#.to_owned()),
        (Datum::Optional(None), r#""optional":[]"#.to_owned()),
        (Datum::Optional(Some(Held::Tensor(tensor()))), format!(r#""optional":[{{{part}}}]"#)),
        (Datum::Optional(Some(Held::Sequence(vec![tensor()]))), format!(r#""optional":[{{{sequence}}}]"#)),
    ] {
        assert_eq!(written(value), format!(r#"{{"name":"x",{header}}}"#));
    }
    let wanted = |kind| serde_json::to_string(&Wanted { name: "y".into(), dtype: DType::F32, kind }).unwrap();
    assert_eq!(wanted(DatumKind::Tensor), r#"{"name":"y","dtype":"f32"}"#);
    assert_eq!(
        wanted(DatumKind::OptionalSequence),
        r#"{"name":"y","dtype":"f32","kind":"optional sequence"}"#
    );
}

#[test]
fn a_header_that_is_no_value_or_two_is_refused() {
    for fields in [
        "",
        r#","dtype":"f16","shape":[2]"#,
        r#","dtype":"f16","shape":[2],"bytes":4,"sequence":[]"#,
        r#","sequence":[],"optional":[]"#,
        r#","optional":[{"sequence":[]},{"sequence":[]}]"#,
        r#","optional":[{}]"#,
        r#","optional":[{"optional":[]}]"#,
    ] {
        let header = format!(r#"{{"name":"x"{fields}}}"#);
        assert!(serde_json::from_str::<Blob>(&header).is_err(), "{header}");
    }
    assert!(serde_json::from_str::<Blob>(r#"{"sequence":[]}"#).is_err(), "it has no name");
}

#[test]
fn the_written_form_is_the_documented_one() {
    let hello = frame(&Request::Hello { protocol: VERSION, program: None }, &[]).unwrap();
    assert_eq!(hello, b"{\"type\":\"hello\",\"protocol\":1}\n");
    let later = br#"{"type":"panicked","id":3,"message":"boom","colour":"a field of a later version"}"#;
    let Reply::Panicked { id: 3, location, .. } = serde_json::from_slice(later).unwrap() else { panic!() };
    assert_eq!(location, "");
}

#[test]
fn no_reply_need_say_how_long_it_took() {
    let ok = br#"{"type":"ok","id":3,"outputs":[]}"#;
    assert!(matches!(serde_json::from_slice(ok).unwrap(), Reply::Ok { id: 3, seconds: 0.0, .. }));
}

#[test]
fn bad_frames_are_errors() {
    let header = |mut bytes: &[u8]| read_header::<Reply>(&mut bytes);
    assert!(matches!(header(b"warning: no GPU\n"), Err(FrameError::Header { .. })));
    assert!(matches!(header(b"{\"type\":\"ok\"}\n"), Err(FrameError::Header { .. })));
    assert!(matches!(header(b"{\"type\":\"ok\""), Err(FrameError::Truncated)));
    let read = |bytes, limit| {
        let part = Part { dtype: DType::F16, shape: vec![2, 3], bytes };
        let blob = Blob { name: "x".to_owned(), value: Datum::Sequence(vec![part]) };
        read_values(&mut &[0u8; 11][..], vec![blob], limit)
    };
    assert!(matches!(read(12, 12), Err(FrameError::Truncated)));
    assert!(matches!(read(12, 11), Err(FrameError::Malformed(_))));
    assert!(matches!(read(10, 12), Err(FrameError::Malformed(_))));
    assert!(matches!(read(u64::MAX, u64::MAX), Err(FrameError::Truncated)));
}
