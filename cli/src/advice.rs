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
        let errors: [(&dyn Error, &str); 5] = [
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
        ];
        for (error, said) in errors {
            assert_eq!(with_advice(error), said);
        }
        assert_eq!(
            with_advice(&StoreError::Busy { folder: folder() }),
            StoreError::Busy { folder: folder() }.to_string()
        );
    }
}
