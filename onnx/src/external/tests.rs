use std::fs;

use ir::{DType, Tensor};

use super::*;
use crate::proto::tensor_proto::DataLocation;
use crate::proto::{AttributeProto, GraphProto, ModelProto, NodeProto, TensorProto, decode};
use crate::tensor::{code_of, from_proto};

/// A folder `model` with `w.bin` (bytes 0 to 15) in it and `secret.bin` outside it.
fn folder() -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let model = dir.path().join("model");
    fs::create_dir_all(model.join("sub")).unwrap();
    let bytes: Vec<u8> = (0..16).collect();
    fs::write(model.join("w.bin"), &bytes).unwrap();
    fs::write(model.join("sub/v.bin"), &bytes[..4]).unwrap();
    fs::write(dir.path().join("secret.bin"), &bytes[..4]).unwrap();
    (dir, model)
}

/// A message for four `u8` elements kept where the entries say.
fn proto(entries: &[(&str, &str)]) -> TensorProto {
    let entry = |&(key, value): &(&str, &str)| StringStringEntryProto {
        key: Some(key.to_owned()),
        value: Some(value.to_owned()),
    };
    TensorProto {
        dims: vec![4],
        data_type: Some(code_of(DType::U8)),
        data_location: Some(DataLocation::External as i32),
        external_data: entries.iter().map(entry).collect(),
        ..Default::default()
    }
}

fn read_from(model: &Path, entries: &[(&str, &str)]) -> Result<Vec<u8>, Error> {
    from_proto(&proto(entries), External::Within(model)).map(|t: Tensor| t.to_bytes())
}

#[test]
fn slices_of_files_inside_the_folder_are_read() {
    let (_dir, model) = folder();
    let read = |entries: &[(&str, &str)]| read_from(&model, entries).unwrap();
    assert_eq!(read(&[("location", "w.bin"), ("offset", "3"), ("length", "4")]), [3, 4, 5, 6]);
    assert_eq!(read(&[("location", "w.bin"), ("offset", "12")]), [12, 13, 14, 15]);
    assert_eq!(read(&[("location", "./sub/v.bin"), ("checksum", "any")]), [0, 1, 2, 3]);
}

#[test]
fn without_a_folder_external_data_is_refused() {
    let error = from_proto(&proto(&[("location", "w.bin")]), External::Refuse).unwrap_err();
    assert!(matches!(error, Error::Unsupported { .. }), "{error}");
}

#[test]
fn bad_slices_are_invalid() {
    let (_dir, model) = folder();
    let max = u64::MAX.to_string();
    let bad: [&[(&str, &str)]; 9] = [
        &[],
        &[("location", "")],
        &[("location", "w.bin"), ("length", "3")],
        &[("location", "w.bin"), ("offset", "13")],
        &[("location", "w.bin"), ("offset", "17")],
        &[("location", "w.bin"), ("offset", "14"), ("length", "4")],
        &[("location", "w.bin"), ("offset", &max), ("length", "4")],
        &[("location", "w.bin"), ("offset", "-1")],
        &[("location", "w.bin"), ("location", "w.bin")],
    ];
    for entries in bad {
        let error = read_from(&model, entries).unwrap_err();
        assert!(matches!(error, Error::Invalid { .. }), "{entries:?}: {error}");
    }
    let says = |entries| read_from(&model, entries).expect_err("it is too short").to_string();
    let long = says(&[("location", "w.bin"), ("offset", "14"), ("length", "4")]);
    assert!(long.contains("length 4 at offset 14 leaves `w.bin`"), "{long}");
    let behind = says(&[("location", "w.bin"), ("offset", "17")]);
    assert!(behind.contains("offset 17 leaves `w.bin`"), "{behind}");
    let unknown = read_from(&model, &[("location", "w.bin"), ("prepacked_0", "x")]);
    assert!(matches!(unknown, Err(Error::Unsupported { .. })));
}

#[test]
fn nothing_outside_the_folder_is_read() {
    let (dir, model) = folder();
    let absolute = dir.path().join("secret.bin");
    for location in ["../secret.bin", "sub/../../secret.bin", "sub/../w.bin", absolute.to_str().unwrap()] {
        let error = read_from(&model, &[("location", location)]).unwrap_err();
        assert!(matches!(error, Error::Invalid { .. }), "{location}: {error}");
    }
    assert!(matches!(read_from(&model, &[("location", "gone.bin")]), Err(Error::Io { .. })));
    assert!(matches!(read_from(&model, &[("location", "sub")]), Err(Error::Invalid { .. })));
}

#[cfg(unix)]
#[test]
fn links_may_not_leave_the_folder() {
    let (dir, model) = folder();
    std::os::unix::fs::symlink("sub/v.bin", model.join("inside")).unwrap();
    std::os::unix::fs::symlink("../secret.bin", model.join("outside")).unwrap();
    std::os::unix::fs::symlink(dir.path(), model.join("up")).unwrap();
    assert_eq!(read_from(&model, &[("location", "inside")]).unwrap(), [0, 1, 2, 3]);
    for location in ["outside", "up/secret.bin"] {
        let error = read_from(&model, &[("location", location)]).unwrap_err();
        assert!(matches!(error, Error::Invalid { .. }), "{location}: {error}");
    }
}

/// An initializer, an attribute inside a branch, and bytes that are as they were where nothing is elsewhere.
#[test]
fn a_model_is_made_whole() {
    let (_dir, folder) = folder();
    let outside = proto(&[("location", "w.bin"), ("offset", "3"), ("length", "4")]);
    let constant = NodeProto {
        op_type: Some("Constant".to_owned()),
        attribute: vec![AttributeProto { t: Some(outside.clone()), ..AttributeProto::default() }],
        ..NodeProto::default()
    };
    let branch = GraphProto { node: vec![constant], ..GraphProto::default() };
    let held = AttributeProto { g: Some(branch), ..AttributeProto::default() };
    let node = NodeProto { attribute: vec![held], ..NodeProto::default() };
    let graph = GraphProto { initializer: vec![outside], node: vec![node], ..GraphProto::default() };
    let model = ModelProto { graph: Some(graph), ..ModelProto::default() };
    let bytes = whole(crate::encode(&model), &folder, MESSAGE).unwrap();
    let graph = decode::<ModelProto>("model", &bytes).unwrap().graph.unwrap();
    let inner = graph.node[0].attribute[0].g.as_ref().unwrap().node[0].attribute[0].t.as_ref().unwrap();
    for tensor in [&graph.initializer[0], inner] {
        let tensor = from_proto(tensor, External::Refuse).unwrap();
        assert_eq!(tensor.to_bytes(), [3, 4, 5, 6]);
    }
    assert_eq!(whole(bytes.to_vec(), &folder, MESSAGE).unwrap(), bytes);
    let error = whole(crate::encode(&model), &folder.join("sub"), MESSAGE).unwrap_err().to_string();
    assert!(error.contains("w.bin"), "{error}");
    let garbage = b"location".to_vec();
    assert_eq!(whole(garbage.clone(), &folder, MESSAGE).unwrap(), garbage);
}

#[test]
fn what_is_spilled_is_read_again() {
    let tensor = |name: &str, elements: i64| {
        let ty = Type::new(DType::I32, [elements]);
        crate::tensor::to_proto(name, &Tensor::from_i128_fn(&ty, |i| i as i128))
    };
    let graph = GraphProto {
        initializer: vec![tensor("short", 3), tensor("a", 300), tensor("b", 2000)],
        ..GraphProto::default()
    };
    let model = ModelProto { graph: Some(graph), ..ModelProto::default() };
    let bytes = crate::encode(&model);
    let dir = tempfile::tempdir().unwrap();
    let path = spill(&bytes, dir.path()).unwrap();
    let written = std::fs::read(&path).unwrap();
    assert!(written.len() < 500, "{}", written.len());
    assert_eq!(elsewhere(&written.clone().into()), 9200);
    assert_eq!(crate::case::size(&path), written.len() as u64 + 9200);
    assert_eq!(whole(written.clone(), dir.path(), MESSAGE).unwrap(), bytes);
    let why = whole(written, dir.path(), 2000).unwrap_err().to_string();
    assert!(why.contains("tensor `b`") && why.contains("2000 bytes"), "{why}");
}
