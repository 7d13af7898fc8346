//! Settings that choose policies and a placer.

use std::ffi::OsStr;

use serde::{Deserialize, Serialize};

use super::Use;
use super::inputs::FileArgs;
use crate::settings;
use crate::settings::Spec;
use crate::settings::value::named_values;
use gleaner_domain::error::{Error, Result};
use gleaner_simulate::Request;
use gleaner_simulate::placer::Placer;
use gleaner_simulate::placers;
use gleaner_simulate::policies::{self, PolicyEntry, Without};

settings! {
    /// The policies and the placer to simulate.
    #[derive(Debug, Clone, Serialize, Deserialize)]
    pub struct Choice {
        /// Policies, separated by commas, or `all`. They are listed below.
        pub policy: Vec<String> = vec!["all".to_owned()] => Spec::of("NAMES")
            .short('s')
            .alias("scheduler")
            .separated_by(',');
        /// Placement of jobs: consolidate, consolidate-first or random.
        pub placer: String = "consolidate".to_owned() => Spec::of("NAME").short('p').read_by(placer_name);
        /// Parts of Lucid to leave out, separated by commas.
        pub without: Vec<Part> = Vec::new() => Spec::of("PARTS")
            .separated_by(',')
            .used_for(Use::Sharing);
        /// Correct two faults of Lucid in the original simulator. When one job of a pair ends, the other returns to
        /// full speed. A profiled job joins its virtual cluster when its profiling ends, not at its submission. Without
        /// a value, the option means `only`. `=no` simulates the original Lucid, which is the default with --preset, -e
        /// and --sweep. `=both` simulates Lucid twice, once as in the original and once corrected.
        pub corrected: Option<Corrected> = None => Spec::of("WHICH")
            .alone("only")
            .used_for(Use::Sharing);
    }
}

/// A part of Lucid that can be disabled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Part {
    /// The choice of a job's partner, based on sharing scores and priorities.
    Packing,
    /// The forecast of submissions. If it is disabled, GPUs are never shared.
    Throughput,
    /// The estimates of durations.
    Estimate,
}

/// The simulations of Lucid to run: the original simulation, the corrected simulation, or both.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Corrected {
    /// Only the original simulation.
    No,
    /// Only the corrected simulation.
    Only,
    /// Both the original and the corrected simulation.
    Both,
}

/// The policies that the original simulates with `--sweep`.
const SWEEP: [&str; 5] = ["fifo", "sjf", "srtf", "qssf", "tiresias"];

named_values!(Part:
    Part::Packing => "Sharing scores and priorities are ignored when a partner is chosen",
    Part::Throughput => "There is no forecast, and GPUs are never shared",
    Part::Estimate => "There are no estimated durations",
);

named_values!(Corrected:
    Corrected::No => "Only the original simulation",
    Corrected::Only => "Only the corrected simulation",
    Corrected::Both => "Both the original and the corrected simulation",
);

impl Choice {
    /// The requested policies, in the order of the request and without duplicates.
    ///
    /// # Errors
    /// Returns [`Error::Usage`] if the name of a policy or of the placer is unknown.
    pub fn requests(&self, files: &FileArgs) -> Result<Vec<Request<'static>>> {
        self.requests_with(files, &[])
    }

    /// Selects the simulations of Lucid to run. By default, published experiments and runs with the original's flags
    /// are not corrected.
    fn corrected(&self, files: &FileArgs) -> Corrected {
        let default = if files.is_published() {
            Corrected::No
        } else {
            Corrected::Only
        };
        self.corrected.unwrap_or(default)
    }

    /// Like [`Choice::requests`], but also accepts the names of the caller's `own` policies.
    ///
    /// # Errors
    /// Same as [`Choice::requests`].
    pub fn requests_with<'p>(
        &self,
        files: &FileArgs,
        own: &[PolicyEntry<'p>],
    ) -> Result<Vec<Request<'p>>> {
        placer_name(OsStr::new(&self.placer)).map_err(|expected| {
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

    /// The name of the policy, if exactly one was requested.
    pub(super) fn single(&self) -> Option<&str> {
        match self.policy.as_slice() {
            [name] => Some(name),
            _ => None,
        }
    }

    /// The placer, or the default placer if the name is unknown. [`Choice::requests`] reports unknown names.
    pub fn placer(&self) -> &'static dyn Placer {
        let named = placers::ALL
            .iter()
            .copied()
            .find(|p| p.name() == self.placer || p.original_name() == self.placer);
        named.unwrap_or(placers::ALL[0])
    }

    /// The parts of Lucid that are disabled.
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
            "--policy: unknown policy {name:?}, expected `all`, or one or more of{}",
            titles.collect::<String>()
        ))
    })
}

/// Converts the name of a placer, which may be a name that the original uses.
fn placer_name(text: &OsStr) -> Result<String, String> {
    let named = |placer: &&&dyn Placer| placer.name() == text || placer.original_name() == text;
    match placers::ALL.iter().find(named) {
        Some(placer) => Ok(placer.name().to_owned()),
        None => {
            let names: Vec<&str> = placers::ALL.iter().map(|placer| placer.name()).collect();
            Err(format!("expected one of {}", names.join(", ")))
        }
    }
}
