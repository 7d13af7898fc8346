//! The plans that come with Gleaner. Each plan is in the folder of its workloads.

use std::fmt;
use std::path::{Path, PathBuf};

use clap::ValueEnum;
use gleaner_domain::error::{Error, Result};
use serde::Serialize;

/// The folder of the workloads, in the repository and after `make install`.
const FOLDER: &str = "workloads";
/// The installed folder, relative to the folder of the program.
const INSTALLED: &str = "../share/gleaner/workloads";

/// A plan that comes with Gleaner.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Shipped {
    /// Repeats the measurements of Lucid's authors: 66 workloads alone, and 1,388 pairs of these workloads.
    Lucid,
}

impl fmt::Display for Shipped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Shipped::Lucid => "lucid",
        })
    }
}

impl Shipped {
    /// Finds the plan in the folder `given`, if it is set. Otherwise searches `workloads/` below the current directory,
    /// and then the folder that was installed with `program`.
    ///
    /// # Errors
    /// [`Error::Usage`] if the plan is not found.
    pub fn find(self, given: Option<&Path>, program: Option<&Path>) -> Result<PathBuf> {
        let folders = match given {
            Some(folder) => vec![folder.to_owned()],
            None => {
                let beside = program.and_then(Path::parent);
                let installed = beside.map(|bin| bin.join(INSTALLED));
                [Some(PathBuf::from(FOLDER)), installed]
                    .into_iter()
                    .flatten()
                    .collect()
            }
        };
        let mut plans = folders
            .iter()
            .map(|folder| folder.join(format!("{self}.toml")));
        plans.find(|plan| plan.is_file()).ok_or_else(|| {
            let looked: Vec<String> = folders
                .iter()
                .map(|folder| folder.display().to_string())
                .collect();
            Error::Usage(format!(
                "no {self}.toml in {}; use --workloads DIR to name the folder that contains it: workloads/ in \
                 Gleaner's repository, or share/gleaner/workloads/ after make install",
                looked.join(" or ")
            ))
        })
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_plan_is_found_where_it_is_installed_or_named() {
        let root = tempfile::tempdir().unwrap();
        let program = root.path().join("bin/gleaner");
        let installed = root.path().join("share/gleaner/workloads");
        let told = Shipped::Lucid.find(None, Some(&program)).unwrap_err();
        assert_eq!(told.exit_code(), 2);
        assert!(told.to_string().contains("--workloads DIR"), "{told}");
        fs::create_dir_all(&installed).unwrap();
        fs::create_dir(root.path().join("bin")).unwrap();
        fs::write(installed.join("lucid.toml"), "").unwrap();
        let found = Shipped::Lucid.find(None, Some(&program)).unwrap();
        assert!(found.ends_with("bin/../share/gleaner/workloads/lucid.toml"));
        let named = Shipped::Lucid.find(Some(&installed), None).unwrap();
        assert_eq!(named, installed.join("lucid.toml"));
        let other = Shipped::Lucid.find(Some(root.path()), Some(&program));
        assert!(other.is_err(), "only the named folder is searched");
    }
}
