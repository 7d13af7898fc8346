//! Summaries of data sets: their jobs, their groups, and the jobs left out.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use gleaner_driple::dataset::file::{LeftOut, Manifest};
use gleaner_driple::dataset::{Batches, Dataset};
use gleaner_driple::group::Report;
use serde::Serialize;

/// The contents of a data set, and the number of unknown values in its graphs.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Summary<'a> {
    /// Path of the data set's file.
    pub file: String,
    /// Number of training jobs.
    pub train: usize,
    /// Number of validation jobs, which determine the epoch that is kept.
    pub val: usize,
    /// Number of test jobs, which training does not use.
    pub test: usize,
    /// Number of batches of training jobs.
    pub train_batches: usize,
    /// Number of operations in the graph files.
    pub operations: usize,
    /// Number of operations in the graph files that run on GPUs.
    pub on_gpus: usize,
    /// Number of operations in the graph files that are in groups.
    pub grouped: usize,
    /// Number of jobs with fewer groups than requested.
    pub jobs_with_fewer_groups: usize,
    /// Number of jobs whose groups changed even in the last pass of the clustering.
    pub jobs_not_converged: usize,
    /// Number of grouped operations whose outputs have an unknown number of dimensions.
    pub unknown_shapes: usize,
    /// Number of grouped operations whose outputs have dimensions of unknown size.
    pub unknown_dimensions: usize,
    /// For each operation type that is missing from the table of frequencies, the number of grouped operations of this
    /// type.
    pub without_frequency: BTreeMap<&'a str, usize>,
    /// Number of operation types in the table of frequencies.
    pub types: usize,
    /// Jobs left out of the data set, with the reasons.
    pub left_out: &'a [LeftOut],
}

/// Maximum number of left-out jobs listed in the text.
const LISTED: usize = 20;

impl<'a> Summary<'a> {
    /// The summary of a data set that is written to `path`.
    pub fn of(data: &Dataset, manifest: &'a Manifest, path: &Path) -> Self {
        let jobs = |batches: &Batches| batches.iter().map(Vec::len).sum();
        let mut this = Summary {
            file: path.display().to_string(),
            train: jobs(&data.train),
            val: jobs(&data.val),
            test: jobs(&data.test),
            train_batches: data.train.len(),
            types: manifest.frequencies.as_ref().map_or(0, |table| table.len()),
            left_out: &manifest.left_out,
            ..Summary::default()
        };
        let groups = manifest
            .grouping
            .as_ref()
            .map_or(0, |grouping| grouping.groups);
        for source in &manifest.sources {
            this.add(&source.report, groups);
        }
        this
    }

    fn add(&mut self, report: &'a Report, groups: usize) {
        self.operations += report.nodes;
        self.on_gpus += report.on_gpus;
        self.grouped += report.grouped;
        self.jobs_with_fewer_groups += usize::from(report.grouped < groups);
        self.jobs_not_converged += usize::from(!report.converged);
        self.unknown_shapes += report.unknown_shapes;
        self.unknown_dimensions += report.unknown_dimensions;
        for (kind, count) in &report.without_frequency {
            *self.without_frequency.entry(kind).or_default() += count;
        }
    }

    /// The summary as text.
    pub fn text(&self) -> String {
        let mut text = format!(
            "{}: {} training jobs in {} batches, {} validation jobs, {} test jobs\n",
            self.file, self.train, self.train_batches, self.val, self.test
        );
        let _ = writeln!(
            text,
            "  {} operations: {} on GPUs, {} in groups; {} operation types",
            self.operations, self.on_gpus, self.grouped, self.types
        );
        let counts = [
            (
                self.jobs_with_fewer_groups,
                "jobs have fewer groups than requested",
            ),
            (
                self.jobs_not_converged,
                "jobs have groups that still changed in the last pass",
            ),
            (
                self.unknown_shapes,
                "operations of unknown shape count as having no elements",
            ),
            (
                self.unknown_dimensions,
                "operations with unknown dimensions: only the dimensions after the last unknown one count",
            ),
        ];
        for (count, words) in counts.into_iter().filter(|(count, _)| *count > 0) {
            let _ = writeln!(text, "  {count} {words}");
        }
        if !self.without_frequency.is_empty() {
            let listed = self.without_frequency.iter();
            let listed: Vec<String> = listed
                .map(|(kind, count)| format!("{kind} {count}"))
                .collect();
            let _ = writeln!(
                text,
                "  operations without a frequency: {}",
                listed.join(", ")
            );
        }
        text + &self.left_out()
    }

    fn left_out(&self) -> String {
        let mut text = String::new();
        if self.left_out.is_empty() {
            return text;
        }
        let _ = writeln!(text, "  {} jobs left out:", self.left_out.len());
        for LeftOut { job, reason } in self.left_out.iter().take(LISTED) {
            let _ = writeln!(text, "    {job}: {reason}");
        }
        if self.left_out.len() > LISTED {
            let _ = writeln!(
                text,
                "    and {} more (--json lists all)",
                self.left_out.len() - LISTED
            );
        }
        text
    }
}
