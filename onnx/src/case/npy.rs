//! NumPy's arrays as tensors: files as `numpy.save` writes them.
//!
//! The format (numpy.lib.format, versions 1 to 3): `\x93NUMPY`, two bytes of version, the header's length as two bytes (four
//! from version 2 on), then the header, a Python dictionary such as
//! `{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }`, and the elements. The crates for it bring a parser of Python's
//! literals; the header needs no more than to find three keys.

use ir::{DType, Tensor, Type};

use crate::Error;

const MAGIC: &[u8] = b"\x93NUMPY";

/// The tensor of a file.
pub(super) fn read(bytes: &[u8]) -> Result<Tensor, Error> {
    let (header, data) = parts(bytes)?;
    let not_text = |_| Error::invalid("array", "its header is no text");
    let header = Header::read(std::str::from_utf8(header).map_err(not_text)?)?;
    let ty = Type::new(header.dtype, header.shape);
    let size = header.dtype.whole_bytes();
    let mut data = data.to_vec();
    if header.is_big_endian {
        data.chunks_exact_mut(size).for_each(<[u8]>::reverse);
    }
    // What has another number of elements is refused below, and its strides are beyond all bytes.
    if header.is_column_major && ty.bytes() == data.len() as u64 {
        data = in_row_major(&ty.shape, size, &data);
    }
    Tensor::from_bytes(&ty, &data).map_err(|e| Error::invalid("array", e.to_string()))
}

/// The header of a file, and its elements.
fn parts(bytes: &[u8]) -> Result<(&[u8], &[u8]), Error> {
    let cut = || Error::invalid("array", "it ends within its header");
    let Some(rest) = bytes.strip_prefix(MAGIC) else {
        let is_cut = !bytes.is_empty() && MAGIC.starts_with(bytes);
        let other = || Error::invalid("array", "it does not begin as a .npy file does");
        return Err(if is_cut { cut() } else { other() });
    };
    let (version, rest) = rest.split_first_chunk::<2>().ok_or_else(cut)?;
    let (length, rest) = if version[0] == 1 {
        let (length, rest) = rest.split_first_chunk::<2>().ok_or_else(cut)?;
        (usize::from(u16::from_le_bytes(*length)), rest)
    } else {
        let (length, rest) = rest.split_first_chunk::<4>().ok_or_else(cut)?;
        (u32::from_le_bytes(*length) as usize, rest)
    };
    rest.split_at_checked(length).ok_or_else(cut)
}

/// What a header says.
struct Header {
    dtype: DType,
    is_big_endian: bool,
    is_column_major: bool,
    shape: Vec<i64>,
}

impl Header {
    fn read(text: &str) -> Result<Self, Error> {
        let value = |key: &str| {
            let at = text.find(&format!("'{key}'"));
            let after = at.and_then(|at| text[at..].split_once(':'));
            after.map(|(_, value)| value.trim_start()).ok_or_else(|| {
                Error::invalid("array", format!("its header says no `{key}`: {}", text.trim_end()))
            })
        };
        let descr = value("descr")?;
        let descr = descr.strip_prefix('\'').and_then(|of| of.split_once('\'')).map(|(descr, _)| descr);
        let (is_big_endian, dtype) = descr.and_then(dtype).ok_or_else(|| {
            Error::unsupported("array", format!("its elements are no numbers of ONNX: {}", text.trim_end()))
        })?;
        let wrong = || Error::invalid("array", format!("its header has no shape: {}", text.trim_end()));
        let shape = value("shape")?;
        let (shape, _) = shape.strip_prefix('(').and_then(|of| of.split_once(')')).ok_or_else(wrong)?;
        let sizes = shape.split(',').map(str::trim).filter(|size| !size.is_empty());
        let shape: Vec<i64> =
            sizes.map(|size| size.parse().map_err(|_| wrong())).collect::<Result<_, _>>()?;
        let is_column_major = value("fortran_order")?.starts_with("True");
        Ok(Self { dtype, is_big_endian, is_column_major, shape })
    }
}

/// The dtype of a word such as `<f4`, and whether its bytes are in big-endian order.
fn dtype(descr: &str) -> Option<(bool, DType)> {
    let (order, word) = descr.split_at_checked(1)?;
    let dtype = match word {
        "b1" => DType::Bool,
        "i1" => DType::I8,
        "i2" => DType::I16,
        "i4" => DType::I32,
        "i8" => DType::I64,
        "u1" => DType::U8,
        "u2" => DType::U16,
        "u4" => DType::U32,
        "u8" => DType::U64,
        "f2" => DType::F16,
        "f4" => DType::F32,
        "f8" => DType::F64,
        _ => return None,
    };
    match order {
        "<" | "|" => Some((false, dtype)),
        ">" => Some((true, dtype)),
        _ => None,
    }
}

/// Elements of `size` bytes each, put from column-major order (the first axis runs fastest) into row-major
/// order.
fn in_row_major(shape: &[i64], size: usize, data: &[u8]) -> Vec<u8> {
    let mut strides = Vec::with_capacity(shape.len());
    let mut stride = 1usize;
    for &extent in shape {
        strides.push(stride);
        stride = stride.saturating_mul(usize::try_from(extent).unwrap_or_default());
    }
    let mut out = Vec::with_capacity(data.len());
    for at in 0..data.len() / size {
        let (mut rest, mut from) = (at, 0);
        for (&extent, stride) in shape.iter().zip(&strides).rev() {
            let extent = extent.max(1) as usize;
            from += rest % extent * stride;
            rest /= extent;
        }
        out.extend(data.get(from * size..(from + 1) * size).unwrap_or_default());
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(header: &str, data: &[u8]) -> Vec<u8> {
        let length = (header.len() as u16).to_le_bytes();
        [MAGIC, &[1, 0], &length, header.as_bytes(), data].concat()
    }

    fn floats(numbers: &[f32]) -> Vec<u8> {
        numbers.iter().flat_map(|x| x.to_le_bytes()).collect()
    }

    #[test]
    fn what_numpy_saves_is_read_in_either_order_of_axes_and_bytes() {
        let rows = file(
            "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }\n",
            &floats(&[1., 2., 3., 4., 5., 6.]),
        );
        let columns = file(
            "{'descr': '<f4', 'fortran_order': True, 'shape': (2, 3), }\n",
            &floats(&[1., 4., 2., 5., 3., 6.]),
        );
        let tensor = read(&rows).expect("an array");
        assert_eq!(
            (tensor.ty(), tensor.to_f64s()),
            (Type::new(DType::F32, [2, 3]), vec![1., 2., 3., 4., 5., 6.])
        );
        assert_eq!(read(&columns).expect("an array"), tensor);
        let big = file("{'shape': (), 'descr': '>i4', 'fortran_order': False}", &[0, 0, 1, 2]);
        assert_eq!(read(&big).expect("an array").to_i128s(), [258]);
        let one = file("{'descr': '|b1', 'fortran_order': False, 'shape': (1,), }", &[1]);
        assert_eq!(read(&one).expect("an array").ty(), Type::new(DType::Bool, [1]));
    }

    #[test]
    fn what_is_wrong_is_said_and_nothing_panics() {
        let whole = file("{'descr': '<f4', 'fortran_order': True, 'shape': (2, 3), }\n", &floats(&[0.0; 6]));
        let data = whole.len() - 6 * size_of::<f32>();
        for end in 0..whole.len() {
            let why = read(&whole[..end]).expect_err("it is cut").to_string();
            assert_eq!(why.contains("ends within its header"), (1..data).contains(&end), "{end}: {why}");
        }
        for other in [&b""[..], b"hello", b"\x93NUMPX"] {
            let why = read(other).expect_err("it is none").to_string();
            assert!(why.contains("does not begin as a .npy file does"), "{why}");
        }
        for at in 0..whole.len() {
            for byte in [0, b'9', b'-', b'\'', 255] {
                let mut mutated = whole.clone();
                mutated[at] = byte;
                let _ = read(&mutated);
            }
        }
        for order in ["True", "False"] {
            let shape = format!("(10, {}, {})", i64::MAX, i64::MAX);
            let huge = format!("{{'descr': '<f4', 'fortran_order': {order}, 'shape': {shape}, }}\n");
            assert!(read(&file(&huge, &floats(&[0.0; 100]))).is_err());
        }
        let text = file("{'descr': '<U5', 'fortran_order': False, 'shape': (1,), }", &[0; 20]);
        assert!(read(&text).unwrap_err().to_string().contains("<U5"));
    }
}
