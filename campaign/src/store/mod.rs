//! A campaign on disk, such that nothing that was stored is ever lost.
//!
//! ```text
//! out/campaign.db                    SQLite: identity, counts, clusters, findings (the tables are in `schema.rs`)
//! out/campaign.lock                  locked while a process writes
//! out/findings/SIGNATURE/case-7      a case as a folder that any ONNX tool reads; SIGNATURE is a hash of its text
//! out/findings/SIGNATURE/case-7-alone    what it was reduced to: the operator at fault, where that fails alone
//! out/findings/SIGNATURE/case-7-reduced  what it was reduced to, where several operators are at fault together
//! out/.cases/HASH                    the same files by content: the folders above are hard links to them
//! ```
//!
//! | module | holds |
//! |---|---|
//! | [`identity`] | what a campaign is, and how two differ |
//! | `schema` | the tables |
//! | `block` | what is stored at once |
//! | `place` | where saved cases are, and what their contents are called |
//! | `saved_case` | cases as folders, each content once |
//! | `merge` | parts of a campaign made one |
//! | `error` | what can be wrong with a folder |
//!
//! **Cases are stored in their order.** However many run at the same time, results are counted, saved and stored as if they
//! had run one after the other, so nothing depends on which was ready first: what is stored is always the campaign's
//! beginning, up to some case. To go on after any death means to go on with the next case.
//!
//! **A block is stored in one transaction:** consecutive cases, their sum and their findings. Where one block ends and the
//! next begins depends on time, and nothing but the times themselves depends on that: the report is a sum
//! (see [`crate::report`]). Case folders are written before the block that mentions them; a death in between leaves
//! a folder that the same case overwrites with the same content.
//!
//! SQLite's rollback journal is used, not its write-ahead log: that needs shared memory, which network file systems
//! lack, and cannot be read in a folder that is read-only.

mod block;
mod error;
pub mod identity;
mod merge;
mod place;
mod saved_case;
mod schema;

use std::collections::BTreeMap;
use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};
use std::time::Duration;

use oracles::Finding;
use rusqlite::{Connection, OpenFlags, OptionalExtension};

pub(crate) use block::{Block, FindingRow, Selected};
pub use error::StoreError;
pub use identity::Identity;
pub use merge::merge;
pub(crate) use place::{ContentName, Place};
pub(crate) use saved_case::{Added, Shelf};

use triage::reduce::SUFFIX;

use crate::report::{Cluster, Report};
use harness::folder_lock;
use harness::invalid::schedule::Schedule;
use harness::validity::Validity;

/// The name of the database in a campaign's folder.
pub const FILE: &str = "campaign.db";

/// What a saved case was reduced to. The smaller case lies beside the saved one, in a folder of this name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Beside {
    /// The operator at fault alone.
    Alone,
    /// What is left of the graph.
    Reduced,
}

impl Beside {
    /// All of them, what tends to be smaller first.
    pub const ALL: [Self; 2] = [Self::Alone, Self::Reduced];

    /// What is beside a case that was saved for a finding.
    pub(crate) fn of_finding(finding: &Finding) -> Self {
        let is_alone = finding.culprit.as_ref().is_some_and(|culprit| culprit.alone);
        if is_alone { Self::Alone } else { Self::Reduced }
    }

    /// What the name of its folder has behind the name of the case's.
    pub const fn suffix(self) -> &'static str {
        match self {
            Self::Alone => "-alone",
            Self::Reduced => SUFFIX,
        }
    }
}

const LOCK: &str = "campaign.lock";

/// How long to wait for a process that reads.
const PATIENCE: Duration = Duration::from_secs(30);

/// A campaign's folder.
#[derive(Debug)]
pub struct Store {
    folder: PathBuf,
    file: PathBuf,
    db: Connection,
    identity: Identity,
    /// Held while this process may write, or nobody may.
    _lock: Option<File>,
}

/// Cases that were stored together.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Stored {
    /// The shard they belong to.
    pub shard: u64,
    /// The first, numbered within its shard.
    pub first: u64,
    /// The number after the last.
    pub past: u64,
    /// The verdicts on them.
    pub verdicts: oracles::Tally,
    /// When they were stored, in milliseconds since 1970.
    pub finished: u64,
    /// The campaign's time so far, in seconds, less the time between its sessions.
    pub seconds: f64,
}

impl Store {
    /// Whether a folder holds a campaign.
    pub fn exists(folder: &Path) -> bool {
        folder.join(FILE).symlink_metadata().is_ok()
    }

    /// Begins a campaign in a folder, which is made where there is none.
    pub fn create(folder: &Path, identity: &Identity) -> Result<Self, StoreError> {
        std::fs::create_dir_all(folder).map_err(StoreError::io("create", folder))?;
        let lock = lock(folder)?;
        if Self::exists(folder) {
            return Err(StoreError::Exists { folder: folder.to_owned() });
        }
        let file = folder.join(FILE);
        schema::create(&file, |db| set(db, &file, "identity", identity))?;
        Self::open(folder, Some(lock))
    }

    /// Opens a campaign to go on with it.
    pub fn resume(folder: &Path) -> Result<Self, StoreError> {
        if !Self::exists(folder) {
            return Err(StoreError::Missing { folder: folder.to_owned() });
        }
        let lock = lock(folder)?;
        let store = Self::open(folder, Some(lock))?;
        if store.is_merged()? {
            return Err(StoreError::Merged { folder: folder.to_owned() });
        }
        Ok(store)
    }

    /// Opens a campaign to read it, also while it is running.
    pub fn read(folder: &Path) -> Result<Self, StoreError> {
        if !Self::exists(folder) {
            return Err(StoreError::Missing { folder: folder.to_owned() });
        }
        Self::open(folder, None)
    }

    /// Opens a campaign to read all of it. Nobody writes to it as long as this is open; an error where a process does now.
    pub(crate) fn read_whole(folder: &Path) -> Result<Self, StoreError> {
        if !Self::exists(folder) {
            return Err(StoreError::Missing { folder: folder.to_owned() });
        }
        // A folder that was copied may have no lock, and then nobody writes to it.
        let lock = File::open(folder.join(LOCK)).ok();
        if lock.as_ref().is_some_and(is_held) {
            return Err(StoreError::Busy { folder: folder.to_owned() });
        }
        Self::open(folder, lock)
    }

    fn open(folder: &Path, lock: Option<File>) -> Result<Self, StoreError> {
        let file = folder.join(FILE);
        // For writing even where nothing is written: SQLite undoes what a process left half-done that was killed. Where
        // the file may only be read, SQLite opens it for that.
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE;
        let db = Connection::open_with_flags(&file, flags).map_err(StoreError::sql(&file))?;
        db.busy_timeout(PATIENCE).map_err(StoreError::sql(&file))?;
        schema::check(&db, &file)?;
        let identity = get(&db, &file, "identity")?.ok_or_else(|| StoreError::Damaged {
            file: file.clone(),
            why: "it does not say what campaign it is".to_owned(),
        })?;
        Ok(Self { folder: folder.to_owned(), file, db, identity, _lock: lock })
    }

    /// Whether a process is writing to it, as far as the file system can tell.
    pub fn is_running(&self) -> bool {
        File::open(self.folder.join(LOCK)).is_ok_and(|file| is_held(&file))
    }

    /// Where it is.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// What campaign it is.
    pub fn identity(&self) -> &Identity {
        &self.identity
    }

    /// Makes sure that it is a certain campaign.
    pub fn expect(&self, identity: &Identity) -> Result<(), StoreError> {
        let differences = self.identity.differences(identity);
        if differences.is_empty() {
            return Ok(());
        }
        Err(StoreError::Differs { folder: self.folder.clone(), differences })
    }

    /// What the campaign has found so far.
    pub fn report(&self) -> Result<Report, StoreError> {
        // All from one moment, though the campaign may be running.
        let _moment = self.db.unchecked_transaction().map_err(StoreError::sql(&self.file))?;
        let mut report = self.total()?;
        // One that never answered has no counts.
        for target in &self.identity.targets {
            report.by_target.entry(target.name.clone()).or_default();
        }
        if !self.is_merged()? {
            let (from, _) = self.progress()?;
            report.levels.p = Schedule::resume(self.identity.level, from, self.firsts()?).path();
        }
        for cluster in &mut report.clusters {
            let smallest = self.smallest(&cluster.signature)?;
            let beside = smallest.iter().flat_map(|place| Beside::ALL.map(|beside| place.reduced(beside)));
            cluster.reduced = beside.map(|place| self.folder.join(place)).find(|folder| folder.is_dir());
            cluster.smallest = smallest.map(|place| self.folder.join(place));
        }
        for saved in report.suspects.kinds.values_mut().filter_map(|kind| kind.saved.as_mut()) {
            let place = Place::parse(&saved.folder).map_err(StoreError::place(&self.file))?;
            saved.folder = self.folder.join(place).display().to_string();
        }
        let sql = "SELECT what FROM trouble ORDER BY case_number, rowid LIMIT ?1";
        let limit = crate::report::MAX_TROUBLE as i64;
        report.trouble = self.rows(sql, [limit], |row| row.get(0))?;
        report.complete();
        Ok(report)
    }

    /// The blocks, in order.
    pub fn blocks(&self) -> Result<Vec<Stored>, StoreError> {
        let sql = "SELECT shard, first, past, pass, bug, incomparable, finished, seconds FROM block \
                   ORDER BY shard, first";
        self.rows(sql, [], |row| {
            let (pass, bug, incomparable) = (row.get(3)?, row.get(4)?, row.get(5)?);
            Ok(Stored {
                shard: row.get(0)?,
                first: row.get(1)?,
                past: row.get(2)?,
                verdicts: oracles::Tally { pass, bug, incomparable },
                finished: row.get(6)?,
                seconds: row.get(7)?,
            })
        })
    }

    /// Each finding: the number of its case in the campaign, the name of its target, and its signature.
    pub fn findings(&self) -> Result<Vec<(u64, String, String)>, StoreError> {
        let sql = "SELECT case_number, target, signature FROM finding JOIN cluster ON cluster = id \
                   ORDER BY case_number, ordinal";
        self.rows(sql, [], |row| {
            let target = self.identity.targets.get(row.get::<_, usize>(1)?);
            Ok((row.get(0)?, target.map(|t| t.name.clone()).unwrap_or_default(), row.get(2)?))
        })
    }

    /// How many cases of its shard are stored, and how many seconds they took.
    pub(crate) fn progress(&self) -> Result<(u64, f64), StoreError> {
        let sql = "SELECT COALESCE(MAX(past), 0), COALESCE(MAX(seconds), 0.0) FROM block";
        let all = self.rows(sql, [], |row| Ok((row.get(0)?, row.get(1)?)))?;
        Ok(all.first().copied().unwrap_or_default())
    }

    /// The first case of each signature, numbered within the shard, with its level.
    pub(crate) fn firsts(&self) -> Result<BTreeMap<u64, (Validity, Vec<String>)>, StoreError> {
        let mut firsts: BTreeMap<u64, (Validity, Vec<String>)> = BTreeMap::new();
        for cluster in self.clusters()? {
            let number = self.identity.shard.position(cluster.first);
            firsts.entry(number).or_insert((cluster.level, Vec::new())).1.push(cluster.signature);
        }
        Ok(firsts)
    }

    /// The sum over all blocks, as it is merged: not settled.
    pub(crate) fn total(&self) -> Result<Report, StoreError> {
        let mut total: Report = get(&self.db, &self.file, "report")?.unwrap_or_default();
        total.clusters = self.clusters()?;
        Ok(total)
    }

    fn clusters(&self) -> Result<Vec<Cluster>, StoreError> {
        let bodies: Vec<String> =
            self.rows("SELECT body FROM cluster ORDER BY signature", [], |row| row.get(0))?;
        bodies.iter().map(|body| serde_json::from_str(body).map_err(StoreError::json(&self.file))).collect()
    }

    fn smallest(&self, signature: &str) -> Result<Option<Place>, StoreError> {
        let sql = "SELECT folder FROM saved JOIN cluster ON cluster = id WHERE signature = ?1 \
                   ORDER BY nodes, case_number LIMIT 1";
        let mut statement = self.db.prepare_cached(sql).map_err(StoreError::sql(&self.file))?;
        statement.query_row([signature], |row| row.get(0)).optional().map_err(StoreError::sql(&self.file))
    }

    fn is_merged(&self) -> Result<bool, StoreError> {
        Ok(get::<bool>(&self.db, &self.file, "merged")?.unwrap_or(false))
    }

    fn rows<T>(
        &self,
        sql: &str,
        parameters: impl rusqlite::Params,
        read: impl FnMut(&rusqlite::Row<'_>) -> rusqlite::Result<T>,
    ) -> Result<Vec<T>, StoreError> {
        let mut statement = self.db.prepare(sql).map_err(StoreError::sql(&self.file))?;
        let rows = statement.query_map(parameters, read).map_err(StoreError::sql(&self.file))?;
        rows.collect::<Result<_, _>>().map_err(StoreError::sql(&self.file))
    }
}

/// Reads a value of the table `campaign`.
fn get<T: serde::de::DeserializeOwned>(
    db: &Connection,
    file: &Path,
    key: &str,
) -> Result<Option<T>, StoreError> {
    let sql = "SELECT value FROM campaign WHERE key = ?1";
    let text: Option<String> =
        db.query_row(sql, [key], |row| row.get(0)).optional().map_err(StoreError::sql(file))?;
    text.map(|text| serde_json::from_str(&text).map_err(StoreError::json(file))).transpose()
}

/// Writes a value of the table `campaign`.
fn set(db: &Connection, file: &Path, key: &str, value: &impl serde::Serialize) -> Result<(), StoreError> {
    let text = serde_json::to_string(value).map_err(StoreError::json(file))?;
    let sql = "INSERT OR REPLACE INTO campaign (key, value) VALUES (?1, ?2)";
    db.execute(sql, [key, &text]).map_err(StoreError::sql(file))?;
    Ok(())
}

/// Whether a process that writes holds a lock, as far as the file system can tell. Where none does, none will until the file is
/// closed.
fn is_held(lock: &File) -> bool {
    matches!(lock.try_lock_shared(), Err(TryLockError::WouldBlock))
}

/// Makes this process the only one that writes to a folder, until it ends.
fn lock(folder: &Path) -> Result<File, StoreError> {
    let path = folder.join(LOCK);
    let lock = folder_lock::take(&path).map_err(StoreError::io("write", &path))?;
    lock.ok_or_else(|| StoreError::Busy { folder: folder.to_owned() })
}
