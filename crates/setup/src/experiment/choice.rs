//! Arguments that choose policies and a placer.

use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::inputs::FileArgs;
use crate::named::{by_name, names};
use gleaner_core::error::{Error, Result};
use gleaner_simulate::Request;
use gleaner_simulate::placer::Placer;
use gleaner_simulate::placers;
use gleaner_simulate::policies::{self, PolicyEntry, Without};

/// What is simulated.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
pub struct Choice {
    /// Policies, separated by commas, or `all`. They are listed below.
    #[cfg_attr(
        feature = "cli",
        arg(
            short = 's',
            long,
            visible_alias = "scheduler",
            value_name = "NAMES",
            value_delimiter = ',',
            default_value = "all"
        )
    )]
    pub policy: Vec<String>,
    /// How jobs are placed: consolidate, consolidate-first or random.
    #[cfg_attr(feature = "cli", arg(short = 'p', long, value_name = "NAME", default_value = "consolidate", value_parser = placer_name))]
    pub placer: String,
    /// Parts of Lucid to leave out, separated by commas.
    #[cfg_attr(
        feature = "cli",
        arg(long, value_enum, value_name = "PARTS", value_delimiter = ',')
    )]
    pub without: Vec<Part>,
    /// Correct two faults of the original in Lucid, `only` by default. When one job of a pair ends, the
    /// other returns to full speed. A profiled job joins its virtual cluster when its profiling ends,
    /// not at its submission. `=no` simulates the original, the default with --preset, -e and --sweep.
    /// `=both` simulates Lucid twice: as the original and corrected.
    #[cfg_attr(feature = "cli", arg(long, value_enum, value_name = "WHICH", num_args = 0..=1, require_equals = true, default_missing_value = "only"))]
    pub corrected: Option<Corrected>,
}

impl Default for Choice {
    fn default() -> Self {
        Choice {
            policy: vec!["all".to_owned()],
            placer: "consolidate".to_owned(),
            without: Vec::new(),
            corrected: None,
        }
    }
}

/// A part that Lucid can do without.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
#[serde(rename_all = "kebab-case")]
pub enum Part {
    /// Sharing scores and priorities are ignored when a partner is chosen.
    Packing,
    /// There is no forecast, and GPUs are never shared.
    Throughput,
    /// There are no estimated durations.
    Estimate,
}

/// What is corrected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
#[serde(rename_all = "kebab-case")]
pub enum Corrected {
    /// The original simulation alone.
    No,
    /// The corrected simulation alone.
    Only,
    /// The original simulation and the corrected one.
    Both,
}

/// The policies of the original's --sweep.
const SWEEP: [&str; 5] = ["fifo", "sjf", "srtf", "qssf", "tiresias"];

impl Part {
    /// The names of all parts, for messages.
    pub fn names() -> String {
        names(&[Part::Packing, Part::Throughput, Part::Estimate])
    }
}

impl FromStr for Part {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        by_name(text).ok_or_else(|| format!("expected one of {}", Part::names()))
    }
}

impl Choice {
    /// The requested policies, in the order of the request and without duplicates.
    ///
    /// # Errors
    /// The name of a policy or of the placer is unknown: [`Error::Usage`].
    pub fn requests(&self, files: &FileArgs) -> Result<Vec<Request<'static>>> {
        self.requests_with(files, &[])
    }

    /// Which simulations to run. By default, published experiments and runs with the original's flags
    /// are not corrected.
    fn corrected(&self, files: &FileArgs) -> Corrected {
        let default = if files.is_published() {
            Corrected::No
        } else {
            Corrected::Only
        };
        self.corrected.unwrap_or(default)
    }

    /// As [`Choice::requests`], where policies of the caller's `own` have names too.
    ///
    /// # Errors
    /// As [`Choice::requests`].
    pub fn requests_with<'p>(
        &self,
        files: &FileArgs,
        own: &[PolicyEntry<'p>],
    ) -> Result<Vec<Request<'p>>> {
        placer_name(&self.placer).map_err(|expected| {
            Error::Usage(format!("--placer is {:?}, {expected}", self.placer))
        })?;
        let corrected = self.corrected(files);
        let mut requests: Vec<Request<'p>> = Vec::new();
        for entry in self.entries(files.sweep, own)? {
            let only = corrected == Corrected::Only && entry.profiled;
            let mut wanted = vec![request(entry.name, entry, only)];
            if corrected == Corrected::Both && entry.profiled {
                wanted.push(request("lucid_corrected", entry, true));
            }
            for request in wanted {
                if requests.iter().all(|other| other.name != request.name) {
                    requests.push(request);
                }
            }
        }
        Ok(requests)
    }

    fn entries<'p>(&self, sweep: bool, own: &[PolicyEntry<'p>]) -> Result<Vec<PolicyEntry<'p>>> {
        if sweep {
            return SWEEP.iter().map(|name| entry(name, own)).collect();
        }
        let mut entries = Vec::new();
        for name in &self.policy {
            match name.as_str() {
                "all" => entries.extend(policies::ALL.iter().filter(|p| p.published)),
                name => entries.push(entry(name, own)?),
            }
        }
        Ok(entries)
    }

    /// The only policy asked for, if there is only one.
    pub(super) fn single(&self) -> Option<&str> {
        match self.policy.as_slice() {
            [name] => Some(name),
            _ => None,
        }
    }

    /// The placer. If its name is unknown, which [`Choice::requests`] reports, the default placer.
    pub fn placer(&self) -> &'static dyn Placer {
        let named = placers::ALL
            .iter()
            .copied()
            .find(|p| p.name() == self.placer || p.original_name() == self.placer);
        named.unwrap_or(placers::ALL[0])
    }

    /// What Lucid does without.
    pub fn without(&self) -> Without {
        Without {
            packing: self.without.contains(&Part::Packing),
            throughput: self.without.contains(&Part::Throughput),
            estimate: self.without.contains(&Part::Estimate),
        }
    }
}

fn request<'p>(name: &'static str, policy: PolicyEntry<'p>, corrected: bool) -> Request<'p> {
    Request {
        name,
        policy,
        corrected,
    }
}

fn entry<'p>(name: &str, own: &[PolicyEntry<'p>]) -> Result<PolicyEntry<'p>> {
    let mut all = own.iter().chain(policies::ALL).copied();
    let found = all.find(|entry| entry.name == name);
    found.ok_or_else(|| {
        let titles = policies::ALL
            .iter()
            .map(|p| format!("\n  {:8}  {}", p.name, p.title));
        Error::Usage(format!(
            "--policy: there is no policy {name:?}, expected `all` or some of{}",
            titles.collect::<String>()
        ))
    })
}

/// A placer's name, be it the original's.
fn placer_name(text: &str) -> Result<String, String> {
    let named = |placer: &&&dyn Placer| placer.name() == text || placer.original_name() == text;
    match placers::ALL.iter().find(named) {
        Some(placer) => Ok(placer.name().to_owned()),
        None => {
            let names: Vec<&str> = placers::ALL.iter().map(|placer| placer.name()).collect();
            Err(format!("expected one of {}", names.join(", ")))
        }
    }
}
