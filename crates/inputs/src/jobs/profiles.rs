//! Reads profiles: the GPU usage of workloads that run alone, and their sharing scores, in the format of the original's
//! `single_data.csv`.
//!
//! ```csv
//! model,dataset,batchsize,amp,speed,gpu_util,gmem_util,gmem,label
//! BERT,SQuAD,32,0,84.872,99.689,62.484,20162.0,2
//! ```
//!
//! The columns `speed`, `label` and `source` are optional.

use std::collections::BTreeMap;
use std::path::Path;

use super::words::name;
use crate::rows::{Maybe, OneOf, Or, Rows, Whole, input};
use gleaner_domain::error::Result;
use gleaner_domain::inputs::{Profile, ProfileSource};
use gleaner_domain::{Usage, Workload};
use gleaner_io::Loaded;
use gleaner_io::source::Source;

const SOURCE: OneOf<ProfileSource> = OneOf(&[
    ("measured", ProfileSource::Measured),
    ("predicted", ProfileSource::Predicted),
]);

input! {
    /// The profile of a workload.
    pub(super) struct ProfileRow {
        /// the sharing score: how well a workload shares a GPU (0: well, 1: less well, 2: badly)
        score: Option<u8> as Maybe(Whole(0..=2)) = "label" [""],
        /// the source of the profile; default: measured
        source: ProfileSource as Or(SOURCE, ProfileSource::Measured) = "source" [""],
        ..workload: Workload,
        ..usage: Usage,
    }
}

/// Reads profiles.
///
/// # Errors
/// The file cannot be read or has faults, which are reported together. Faults are repeated workloads, scores other than
/// 0, 1 and 2, invalid numbers, and sources other than `measured` and `predicted`.
pub fn read(path: &Path) -> Result<Loaded<BTreeMap<Workload, Profile>>> {
    let source = Source::open(path)?;
    let rows = Rows::<ProfileRow>::open(&source)?;
    let mut profiles = BTreeMap::new();
    rows.each("profile", |line| {
        let row = line.read()?;
        let found = format!("{} a second time", name(&row.workload));
        let profile = Profile {
            usage: row.usage,
            score: row.score,
            source: row.source,
        };
        match profiles.insert(row.workload, profile) {
            None => Ok(()),
            Some(_) => Err(line.fault("", found, "one row per workload")),
        }
    })?;
    Ok(source.loaded(profiles))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jobs::testing::{Input, assert_has, fault, workload};
    use gleaner_domain::Usage;

    const HEADER: &str = "model,dataset,batchsize,amp,speed,gpu_util,gmem_util,gmem,label\n";

    fn read_rows(rows: &str) -> Result<BTreeMap<Workload, Profile>> {
        let input = Input::csv(&format!("{HEADER}{rows}"));
        read(input.path()).map(|loaded| loaded.value)
    }

    #[test]
    fn profiles_are_keyed_by_workload() {
        let profiles = read_rows("VGG,CIFAR-10,64,0,84.5,99,62.25,20162.0,2\n").unwrap();
        let usage = Usage {
            speed: 84.5,
            gpu_util: 99.0,
            gmem_util: 62.25,
            gmem: 20162.0,
        };
        let profile = Profile {
            usage,
            score: Some(2),
            source: ProfileSource::Measured,
        };
        assert_eq!(profiles, BTreeMap::from([(workload("VGG"), profile)]));
    }

    #[test]
    fn predicted_and_measured_profiles_are_distinguished() {
        let header = "model,dataset,batchsize,amp,gpu_util,gmem_util,gmem,label,source\n";
        let rows = "A,d,1,0,50,20,900,,predicted\nB,d,1,0,50,20,900,1,\nC,d,1,0,1,2,3,0,measured\n";
        let input = Input::csv(&format!("{header}{rows}"));
        let profiles = read(input.path()).unwrap().value;
        let found: Vec<_> = profiles
            .values()
            .map(|profile| (profile.usage.speed, profile.score, profile.source))
            .collect();
        let measured = ProfileSource::Measured;
        assert_eq!(
            found,
            [
                (0.0, None, ProfileSource::Predicted),
                (0.0, Some(1), measured),
                (0.0, Some(0), measured)
            ]
        );
        let input = Input::csv(&format!("{header}A,d,1,0,50,20,900,1,guessed\n"));
        assert_has(
            &fault(read(input.path())),
            &["line 2, source: found \"guessed\", expected measured or predicted"],
        );
    }

    #[test]
    fn faults_are_gathered() {
        let message = fault(read_rows(
            "VGG,CIFAR-10,64,0,1,1,1,1,2\nVGG,CIFAR-10,64,0,1,1,1,1,2\nVGG,x,64,0,1,1,1,1,3\n\
             VGG,x,0,0,1,1,1,1,1\nVGG,x,1,2,1,1,1,1,1\nVGG,x,1,1,1,1,1,-1,1\nVGG,x,1,1,inf,1,1,1,1\n\
             VGG,,1,1,1,1,1,1,1\n",
        ));
        assert_has(
            &message,
            &[
                "7 faults",
                "line 3: found VGG on CIFAR-10, batch size 64 a second time",
                "line 4, label: found \"3\", expected a whole number from 0 to 2",
                "line 5, batchsize: found \"0\"",
                "line 6, amp: found \"2\", expected 0 or 1",
                "line 7, gmem: found \"-1\", expected a number from 0 to 1e12",
                "line 8, speed: found \"inf\"",
                "line 9, dataset: found nothing",
            ],
        );
        assert_has(&fault(read_rows("")), &["no profile"]);
        let input = Input::csv("model,label\nVGG,1\n");
        assert_has(
            &fault(read(input.path())),
            &["header, gmem:", "header, batchsize:"],
        );
    }
}
