//! Reading whole files of bounded size.

use std::fs::{self, File};
use std::io::Read;
use std::path::Path;

use crate::Error;

/// The largest file read: protobuf's own limit on one message.
pub(crate) const MAX_BYTES: u64 = i32::MAX as u64;

/// The content of a regular file of at most [`MAX_BYTES`].
pub(crate) fn read(path: &Path) -> Result<Vec<u8>, Error> {
    read_up_to(path, MAX_BYTES)
}

fn read_up_to(path: &Path, limit: u64) -> Result<Vec<u8>, Error> {
    let length = regular(path)?;
    let too_large =
        || Error::unsupported(format!("file {}", path.display()), format!("it exceeds {limit} bytes"));
    if length > limit {
        return Err(too_large());
    }
    let mut bytes = Vec::with_capacity(length as usize);
    let file = File::open(path).map_err(Error::io("open", path))?;
    // The file may grow while it is read.
    file.take(limit + 1).read_to_end(&mut bytes).map_err(Error::io("read", path))?;
    if bytes.len() as u64 > limit { Err(too_large()) } else { Ok(bytes) }
}

/// The length of a regular file. Anything else (a pipe, a device) could block or never end.
pub(crate) fn regular(path: &Path) -> Result<u64, Error> {
    let meta = fs::metadata(path).map_err(Error::io("read", path))?;
    if meta.is_file() {
        Ok(meta.len())
    } else {
        Err(Error::invalid(format!("file {}", path.display()), "it is not a regular file"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_regular_files_within_the_limit_are_read() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a");
        fs::write(&path, [1, 2, 3]).unwrap();
        assert_eq!(read_up_to(&path, 3).unwrap(), [1, 2, 3]);
        assert!(matches!(read_up_to(&path, 2), Err(Error::Unsupported { .. })));
        assert!(matches!(read(dir.path()), Err(Error::Invalid { .. })));
        assert!(matches!(read(&dir.path().join("b")), Err(Error::Io { .. })));
    }
}
