//! Parts of a campaign made one, equal to the campaign that was not split.
//!
//! Counts are added; of the saved cases those are taken that the whole campaign would have saved. That these are among
//! those of the parts follows from the rule: a case is saved if it is one of the first few of its signature, or smaller
//! than all before it. Whatever is first or smallest in the whole is so in its part.
//!
//! Two things differ. p of an adaptive campaign moves in each part by itself, so the parts have other cases than the whole
//! would have. And with a disk budget each part has one of its own.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use rusqlite::Connection;
use rusqlite::types::{ToSqlOutput, ValueRef};

use super::block::put_cluster;
use super::{Beside, ContentName, FILE, Identity, Place, Shelf, Store, StoreError, lock, schema, set};
use crate::report::{Report, SavedSuspect, Suspects};
use crate::shard::Shard;

/// Merges the parts of a campaign into a folder that has none. None of the parts may be running: its counts, findings and cases
/// are read one after the other.
pub fn merge(parts: &[PathBuf], out: &Path) -> Result<Store, StoreError> {
    let parts: Vec<Store> = parts.iter().map(|part| Store::read_whole(part)).collect::<Result<_, _>>()?;
    let identity = whole(&parts)?;
    if let Some(part) = parts.iter().find(|part| is_same_folder(&part.folder, out)) {
        return Err(StoreError::IntoPart { folder: part.folder.clone() });
    }
    std::fs::create_dir_all(out).map_err(StoreError::io("create", out))?;
    let lock = lock(out)?;
    if Store::exists(out) {
        return Err(StoreError::Occupied { folder: out.to_owned() });
    }
    let file = out.join(FILE);
    let mut shelf = Shelf::new(out);
    schema::create(&file, |db| {
        let mut total = Report::default();
        for part in &parts {
            total.merge(part.total()?);
        }
        copy_suspects(&total.suspects, &parts, &mut shelf)?;
        write_total(db, &file, &identity, total)?;
        for part in &parts {
            copy_rows(db, part).map_err(StoreError::sql(&part.file))?;
        }
        select(db, identity.saved_per_signature).map_err(StoreError::sql(&file))?;
        copy_cases(db, &file, &parts, &mut shelf)
    })?;
    Store::open(out, Some(lock))
}

/// Whether two paths lead to one folder.
fn is_same_folder(one: &Path, other: &Path) -> bool {
    let [one, other] = [one, other].map(|path| path.canonicalize().ok());
    one.is_some() && one == other
}

/// The identity of the campaign that these are all the parts of.
fn whole(parts: &[Store]) -> Result<Identity, StoreError> {
    let Some(first) = parts.first() else {
        let why = "a campaign has one part at least".to_owned();
        return Err(StoreError::Parts { folder: PathBuf::new(), why });
    };
    let split = first.identity.shard;
    let mut seen = BTreeSet::new();
    for part in parts {
        let shard = part.identity.shard;
        part.expect(&Identity { shard, ..first.identity.clone() })?;
        let fails = |why| Err(StoreError::Parts { folder: part.folder.clone(), why });
        if shard.count() != split.count() {
            return fails(format!(
                "it is part {shard}, and {} is one of {}",
                first.folder.display(),
                split.count()
            ));
        }
        if part.is_merged()? {
            return fails("it was merged itself".to_owned());
        }
        if !seen.insert(shard) {
            return fails(format!("part {shard} is there twice"));
        }
    }
    if let Some(missing) = split.siblings().find(|part| !seen.contains(part)) {
        let why = format!("part {missing} is missing");
        return Err(StoreError::Parts { folder: first.folder.clone(), why });
    }
    Ok(Identity { shard: Shard::WHOLE, ..first.identity.clone() })
}

fn write_total(
    db: &mut Connection,
    file: &Path,
    identity: &Identity,
    mut total: Report,
) -> Result<(), StoreError> {
    let transaction = db.transaction().map_err(StoreError::sql(file))?;
    for cluster in std::mem::take(&mut total.clusters) {
        let body = serde_json::to_string(&cluster).map_err(StoreError::json(file))?;
        put_cluster(&transaction, &cluster.signature, &body).map_err(StoreError::sql(file))?;
    }
    set(&transaction, file, "identity", identity)?;
    set(&transaction, file, "report", &total)?;
    set(&transaction, file, "merged", &true)?;
    transaction.commit().map_err(StoreError::sql(file))
}

/// Copies the blocks, findings, saved cases and trouble of a part.
fn copy_rows(db: &Connection, part: &Store) -> rusqlite::Result<()> {
    // The bytes as they are: a path need not be a text.
    let file = ToSqlOutput::Borrowed(ValueRef::Text(part.file.as_os_str().as_encoded_bytes()));
    db.execute("ATTACH ?1 AS part", [file])?;
    db.execute_batch(
        "BEGIN;
         INSERT INTO block SELECT * FROM part.block;
         INSERT INTO finding SELECT case_number, ordinal, target, here.id
             FROM part.finding JOIN part.cluster AS there ON cluster = there.id
             JOIN main.cluster AS here USING (signature);
         INSERT INTO saved SELECT here.id, case_number, nodes, folder, hash, alone_hash, bytes
             FROM part.saved JOIN part.cluster AS there ON cluster = there.id
             JOIN main.cluster AS here USING (signature);
         INSERT INTO trouble SELECT * FROM part.trouble;
         COMMIT;
         DETACH part;",
    )
}

/// Keeps those of the saved cases that the whole campaign would have saved.
fn select(db: &Connection, per_signature: u64) -> rusqlite::Result<()> {
    // Rank and least size of what comes before, in the order of cases.
    db.execute(
        "DELETE FROM saved WHERE (cluster, case_number) IN (
             SELECT cluster, case_number FROM (
                 SELECT cluster, case_number, nodes, ROW_NUMBER() OVER earlier AS rank,
                     MIN(nodes) OVER (earlier ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS least
                 FROM saved WINDOW earlier AS (PARTITION BY cluster ORDER BY case_number))
             WHERE rank > ?1 AND nodes >= least)",
        [per_signature.min(i64::MAX as u64)],
    )?;
    Ok(())
}

/// The part that has a case.
fn owner(parts: &[Store], case: u64) -> Option<&Store> {
    parts.iter().find(|part| part.identity.shard.has(case))
}

/// Copies the folders of the first suspect cases.
fn copy_suspects(suspects: &Suspects, parts: &[Store], shelf: &mut Shelf) -> Result<(), StoreError> {
    for kind in suspects.kinds.values() {
        if let (Some(SavedSuspect { folder, hash, .. }), Some(part)) = (&kind.saved, owner(parts, kind.first))
        {
            let bad = StoreError::place(&part.file);
            let (place, hash) =
                (Place::parse(folder).map_err(&bad)?, ContentName::parse(hash).map_err(&bad)?);
            shelf.adopt(&part.folder, &place, &hash)?;
        }
    }
    Ok(())
}

/// Copies the folders of the saved cases.
fn copy_cases(db: &Connection, file: &Path, parts: &[Store], shelf: &mut Shelf) -> Result<(), StoreError> {
    let sql = "SELECT case_number, folder, hash, alone_hash FROM saved ORDER BY case_number, cluster";
    let mut statement = db.prepare(sql).map_err(StoreError::sql(file))?;
    let mut rows = statement.query([]).map_err(StoreError::sql(file))?;
    while let Some(row) = rows.next().map_err(StoreError::sql(file))? {
        let read = || -> rusqlite::Result<(u64, Place, ContentName, Option<ContentName>)> {
            Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?))
        };
        let (case, place, hash, alone) = read().map_err(StoreError::sql(file))?;
        let Some(part) = owner(parts, case) else { continue };
        shelf.adopt(&part.folder, &place, &hash)?;
        let beside = Beside::ALL.into_iter().map(|beside| place.reduced(beside));
        for (smaller, hash) in beside.filter(|place| part.folder.join(place).is_dir()).zip(alone) {
            shelf.adopt(&part.folder, &smaller, &hash)?;
        }
    }
    Ok(())
}
