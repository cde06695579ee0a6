//! The flags that help with an error. The crates that make errors know no command line.

use std::error::Error;

use campaign::store::StoreError;

/// An error with the flag that helps, if one does.
pub(crate) fn with_advice(error: &(dyn Error + 'static)) -> String {
    format!("{error}{}", of(error))
}

fn of(error: &(dyn Error + 'static)) -> &'static str {
    match error.downcast_ref() {
        Some(StoreError::Exists { .. }) => "; go on with it by --resume, or give --out another folder",
        Some(StoreError::Occupied { .. } | StoreError::IntoPart { .. }) => "; give --out another folder",
        Some(StoreError::Damaged { .. }) => ", and a new campaign needs another --out",
        Some(StoreError::Full { .. }) => ", so free some space and go on with --resume",
        _ => match error.downcast_ref() {
            Some(sweep::store::Error::Exists(_)) => "; --resume goes on with it",
            Some(sweep::store::Error::Full(_)) => ", so free some space and go on with --resume",
            Some(sweep::store::Error::Occupied { .. }) => {
                "; --out takes a new or empty folder, or the folder of a sweep"
            }
            Some(sweep::store::Error::Other { .. }) => {
                "\n  give the same flags to go on with it, or --out another folder"
            }
            _ => "",
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_that_cannot_be_used_comes_with_the_flag_that_helps() {
        let folder = || "out".into();
        let errors: [(&dyn Error, &str); 8] = [
            (
                &StoreError::Exists { folder: folder() },
                "out already holds a campaign; go on with it by --resume, or give --out another folder",
            ),
            (
                &StoreError::Occupied { folder: folder() },
                "out already holds a campaign; give --out another folder",
            ),
            (
                &StoreError::Damaged { file: folder(), why: "torn".to_owned() },
                "out is damaged (torn) and was left as it is; the cases beside it can still be run, and a new \
                 campaign needs another --out",
            ),
            (
                &StoreError::Full { path: folder() },
                "the disk is full: cannot write to out; what was stored is safe, so free some space and go on with \
                 --resume",
            ),
            (&sweep::store::Error::Exists(folder()), "out holds a sweep already; --resume goes on with it"),
            (
                &sweep::store::Error::Full(folder()),
                "the disk is full: cannot write to out; the parts that were stored are safe, so free some space and go on \
                 with --resume",
            ),
            (
                &sweep::store::Error::Occupied { folder: folder(), first: "index.html".to_owned() },
                "out holds no sweep, and is not empty (index.html is in it); --out takes a new or empty folder, or the \
                 folder of a sweep",
            ),
            (
                &sweep::store::Error::Other {
                    folder: folder(),
                    differences: vec!["--seed: 0 there, 7 here".to_owned()],
                },
                "out holds another sweep:\n    --seed: 0 there, 7 here\n  give the same flags to go on with it, or --out \
                 another folder",
            ),
        ];
        for (error, said) in errors {
            assert_eq!(with_advice(error), said);
        }
        let ended = sweep::run::Error::from(sweep::store::Error::Full(folder()));
        let cause = ended.source().expect("what the store says");
        assert_eq!(with_advice(cause), with_advice(&sweep::store::Error::Full(folder())));
        assert_eq!(
            with_advice(&StoreError::Busy { folder: folder() }),
            StoreError::Busy { folder: folder() }.to_string()
        );
    }
}
