//! Folders that one process alone may write to.

use std::fs::{File, TryLockError};
use std::io;
use std::path::Path;

/// Makes this process the only one that writes to the folder of this lock, until the file is closed. `None` if another
/// process writes to it already.
pub fn take(path: &Path) -> io::Result<Option<File>> {
    let file = File::options().create(true).append(true).open(path)?;
    Ok(match file.try_lock() {
        Err(TryLockError::WouldBlock) => None,
        // A file system without locks is no reason not to run.
        Ok(()) | Err(TryLockError::Error(_)) => Some(file),
    })
}
