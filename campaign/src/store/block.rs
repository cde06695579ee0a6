//! What is stored at once: consecutive cases, their sum and their findings.

use std::collections::BTreeSet;
use std::time::{SystemTime, UNIX_EPOCH};

use oracles::Tally;
use rusqlite::{Connection, TransactionBehavior, params};

use super::{ContentName, Place, Store, StoreError, set};
use crate::report::Report;

/// Cases that are stored together.
#[derive(Debug, Default)]
pub(crate) struct Block {
    /// The first, numbered within the shard.
    pub(crate) first: u64,
    /// The number after the last.
    pub(crate) past: u64,
    /// The verdicts on them.
    pub(crate) verdicts: Tally,
    /// The findings.
    pub(crate) findings: Vec<FindingRow>,
    /// The cases that were saved.
    pub(crate) saved: Vec<Selected>,
    /// What went wrong, with the case.
    pub(crate) trouble: Vec<(u64, String)>,
}

/// One finding.
#[derive(Clone, Debug)]
pub(crate) struct FindingRow {
    pub(crate) case: u64,
    /// Its number among the findings of the case.
    pub(crate) ordinal: usize,
    pub(crate) target: usize,
    pub(crate) signature: String,
}

/// A case that was saved for a signature.
#[derive(Clone, Debug)]
pub(crate) struct Selected {
    pub(crate) signature: String,
    pub(crate) case: u64,
    pub(crate) nodes: usize,
    pub(crate) folder: Place,
    /// The name of its content.
    pub(crate) hash: ContentName,
    /// The name of the content of the case that it was reduced to.
    pub(crate) smaller_hash: Option<ContentName>,
    /// The bytes that it added.
    pub(crate) bytes: u64,
}

impl Store {
    /// Stores a block, with the sum over it and all before it. All of it is stored, or nothing.
    pub(crate) fn commit(&mut self, block: &Block, total: &mut Report) -> Result<(), StoreError> {
        let shard = self.identity.shard.index();
        let immediate = TransactionBehavior::Immediate;
        let transaction =
            self.db.transaction_with_behavior(immediate).map_err(StoreError::sql(&self.file))?;
        let touched: BTreeSet<&str> =
            block.findings.iter().map(|finding| finding.signature.as_str()).collect();
        let clusters = std::mem::take(&mut total.clusters);
        let stored = set(&transaction, &self.file, "report", total);
        total.clusters = clusters;
        stored?;
        for cluster in touched.into_iter().filter_map(|signature| total.cluster(signature)) {
            let body = serde_json::to_string(cluster).map_err(StoreError::json(&self.file))?;
            put_cluster(&transaction, &cluster.signature, &body).map_err(StoreError::sql(&self.file))?;
        }
        put_rows(&transaction, block).map_err(StoreError::sql(&self.file))?;
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_millis() as u64;
        let Tally { pass, bug, incomparable } = block.verdicts;
        let row = params![shard, block.first, block.past, pass, bug, incomparable, now, total.wall_seconds];
        let sql = "INSERT INTO block VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)";
        transaction.execute(sql, row).map_err(StoreError::sql(&self.file))?;
        transaction.commit().map_err(StoreError::sql(&self.file))
    }
}

/// Writes the findings of one signature.
pub(super) fn put_cluster(db: &Connection, signature: &str, body: &str) -> rusqlite::Result<()> {
    let sql = "INSERT INTO cluster (signature, body) VALUES (?1, ?2) \
               ON CONFLICT (signature) DO UPDATE SET body = excluded.body";
    db.prepare_cached(sql)?.execute([signature, body])?;
    Ok(())
}

/// Writes findings, saved cases and trouble. The clusters are there.
pub(super) fn put_rows(db: &Connection, block: &Block) -> rusqlite::Result<()> {
    let mut finding =
        db.prepare_cached("INSERT INTO finding SELECT ?1, ?2, ?3, id FROM cluster WHERE signature = ?4")?;
    for f in &block.findings {
        finding.execute(params![f.case, f.ordinal, f.target, f.signature])?;
    }
    let sql = "INSERT INTO saved SELECT id, ?2, ?3, ?4, ?5, ?6, ?7 FROM cluster WHERE signature = ?1";
    let mut saved = db.prepare_cached(sql)?;
    for s in &block.saved {
        saved.execute(params![s.signature, s.case, s.nodes, s.folder, s.hash, s.smaller_hash, s.bytes])?;
    }
    let mut trouble = db.prepare_cached("INSERT INTO trouble VALUES (?1, ?2)")?;
    for (case, what) in &block.trouble {
        trouble.execute(params![case, what])?;
    }
    Ok(())
}
