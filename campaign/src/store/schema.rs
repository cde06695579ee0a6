//! The tables of a campaign's database.

use std::path::Path;

use rusqlite::{Connection, OpenFlags};

use super::StoreError;

/// The version of the schema, in SQLite's `user_version`. It goes up with every change that another version of this
/// program would misread.
pub(super) const VERSION: i64 = 1;

/// What marks the database as ours, in SQLite's `application_id`: "ONXS".
const APPLICATION: i64 = 0x4f4e_5853;

/// The name of a database that is not whole yet.
const FRESH: &str = ".campaign.db";

const TABLES: &str = "
-- `identity`: what the campaign is. `report`: the sum over all blocks, less the clusters. Both in JSON.
CREATE TABLE campaign (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;

-- Consecutive cases of a shard that were stored together, numbered within the shard: from `first` to before `past`.
-- `finished` is in milliseconds since 1970, `seconds` since the campaign began, less the time between its sessions.
CREATE TABLE block (
    shard INTEGER NOT NULL, first INTEGER NOT NULL, past INTEGER NOT NULL,
    pass INTEGER NOT NULL, bug INTEGER NOT NULL, incomparable INTEGER NOT NULL,
    finished INTEGER NOT NULL, seconds REAL NOT NULL,
    PRIMARY KEY (shard, first)
) STRICT, WITHOUT ROWID;

-- The findings of one signature; `body` is the report's cluster in JSON.
CREATE TABLE cluster (id INTEGER PRIMARY KEY, signature TEXT NOT NULL UNIQUE, body TEXT NOT NULL) STRICT;

-- Each finding: the number of its case in the campaign, its number among the findings of that case, its target (the
-- position in the identity), its cluster.
CREATE TABLE finding (
    case_number INTEGER NOT NULL, ordinal INTEGER NOT NULL, target INTEGER NOT NULL,
    cluster INTEGER NOT NULL REFERENCES cluster (id),
    PRIMARY KEY (case_number, ordinal)
) STRICT, WITHOUT ROWID;

-- The cases that were saved: where, relative to the campaign's folder, the hash of its content, that of the
-- case that it was reduced to (in the folder whose name ends in `-alone` or `-reduced`), and the bytes that were not there before.
CREATE TABLE saved (
    cluster INTEGER NOT NULL REFERENCES cluster (id), case_number INTEGER NOT NULL, nodes INTEGER NOT NULL,
    folder TEXT NOT NULL, hash TEXT NOT NULL, alone_hash TEXT, bytes INTEGER NOT NULL,
    PRIMARY KEY (cluster, case_number)
) STRICT, WITHOUT ROWID;

-- What went wrong on our side, the first hundred times.
CREATE TABLE trouble (case_number INTEGER NOT NULL, what TEXT NOT NULL) STRICT;
";

/// Makes a new database, with what `fill` writes. It has another name until it is whole: a death in between must not
/// leave a campaign that lacks something.
pub(super) fn create(
    file: &Path,
    fill: impl FnOnce(&mut Connection) -> Result<(), StoreError>,
) -> Result<(), StoreError> {
    let fresh = file.with_file_name(FRESH);
    // Whoever left it was killed: the folder is locked.
    let _ = std::fs::remove_file(&fresh);
    // An empty file is an empty database. SQLite may make none itself: it would make those that are not found where
    // `fill` attaches them.
    std::fs::write(&fresh, []).map_err(StoreError::io("write", file))?;
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE;
    let made =
        Connection::open_with_flags(&fresh, flags).map_err(StoreError::sql(file)).and_then(|mut db| {
            let all =
                format!("PRAGMA application_id = {APPLICATION}; {TABLES} PRAGMA user_version = {VERSION};");
            db.execute_batch(&all).map_err(StoreError::sql(file))?;
            fill(&mut db)
        });
    let placed = made.and_then(|()| std::fs::rename(&fresh, file).map_err(StoreError::io("write", file)));
    if placed.is_err() {
        // What is not whole is of no use, and there may be no room to even say so.
        let _ = std::fs::remove_file(&fresh);
    }
    placed
}

/// Makes sure that a database is whole, ours, and of this version.
pub(super) fn check(db: &Connection, file: &Path) -> Result<(), StoreError> {
    let number = |pragma: &str| -> Result<i64, StoreError> {
        db.pragma_query_value(None, pragma, |row| row.get(0)).map_err(StoreError::sql(file))
    };
    if number("application_id")? != APPLICATION {
        let why = "it is no database of this program".to_owned();
        return Err(StoreError::Damaged { file: file.to_owned(), why });
    }
    let found = number("user_version")?;
    if found != VERSION {
        return Err(StoreError::Version { file: file.to_owned(), found });
    }
    let said: String =
        db.pragma_query_value(None, "quick_check", |row| row.get(0)).map_err(StoreError::sql(file))?;
    if said != "ok" {
        return Err(StoreError::Damaged { file: file.to_owned(), why: said });
    }
    Ok(())
}
