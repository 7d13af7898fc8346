//! Plans of simulations.

use std::path::PathBuf;

use gleaner_learn::lucid::workload::EstimatorChoice;
use serde::{Deserialize, Serialize};
use toml::Spanned;

use super::check::{Checker, Setting, values};
use super::{Axis, PlanFault, cross};
use gleaner_simulate::placers;
use gleaner_simulate::policies;

/// Simulations of one trace, with the options of `gleaner simulate`. The settings policy, placer,
/// without and corrected take a value or a list.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SimulatePlan {
    /// A directory with all input files under their usual names.
    pub data: Option<PathBuf>,
    /// The published experiment whose files are in `data`.
    pub preset: Option<String>,
    /// The file of jobs; needed without `data`.
    pub trace: Option<PathBuf>,
    /// The file of virtual clusters; needed without `data`.
    pub cluster: Option<PathBuf>,
    /// GPUs of every node.
    pub gpus_per_node: Option<u32>,
    /// A file of estimated durations, `oracle`, a number of seconds, or an estimator.
    pub estimates: Option<Text>,
    /// The file of workloads measured alone.
    pub profiles: Option<PathBuf>,
    /// The file of workloads measured in pairs.
    pub colocate: Option<PathBuf>,
    /// A file with a forecast of submissions, or a number.
    pub forecast: Option<Text>,
    /// A directory of models, or `train`.
    pub models: Option<Text>,
    /// Time of the first submission to simulate.
    pub from: Option<Text>,
    /// Time of the last submission to simulate.
    pub to: Option<Text>,
    /// The setting of the profiler.
    pub profiler: Option<String>,
    /// Virtual clusters that lend nodes, as `VC=NODES`.
    #[serde(default)]
    pub lend: Vec<String>,
    /// Virtual cluster that lends one more node when the profiler needs it.
    pub elastic: Option<String>,
    /// Whether faulty jobs are left out.
    #[serde(default)]
    pub skip_invalid: bool,
    /// Whether every schedule is checked.
    #[serde(default)]
    pub check: bool,
    policy: Spanned<Axis<String>>,
    placer: Setting<String>,
    without: Setting<String>,
    corrected: Setting<bool>,
}

/// A text; a number or time is converted to its text.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(from = "toml::Value")]
pub struct Text(pub String);

impl From<toml::Value> for Text {
    fn from(value: toml::Value) -> Self {
        match value {
            toml::Value::String(text) => Text(text),
            other => Text(other.to_string()),
        }
    }
}

/// Whether a value for estimates or a forecast does not name a file: a number, `oracle`, or an
/// estimator that is learnt.
pub fn is_no_file(text: &str) -> bool {
    let is_estimator = || text.parse::<EstimatorChoice>().is_ok();
    text.parse::<f64>().is_ok() || text == "oracle" || is_estimator()
}

/// All settings of a simulation except its files.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SimulateSettings {
    /// Name of the policy.
    pub policy: String,
    /// Name of the placer.
    pub placer: String,
    /// Parts of Lucid that are switched off, separated by commas; empty for none.
    pub without: String,
    /// Whether a job that shares its GPUs gets its full speed back when its partner ends.
    pub corrected: bool,
}

/// Parts of Lucid that can be switched off.
const PARTS: [&str; 3] = ["packing", "throughput", "estimate"];

/// The value of `models` for models that are learnt from the data itself.
pub const TRAIN: &str = "train";

/// The value of `without` that switches nothing off.
const NOTHING: &str = "nothing";

impl SimulatePlan {
    /// Every file that the plan names, to resolve relative paths.
    pub fn paths_mut(&mut self) -> impl Iterator<Item = &mut PathBuf> {
        let paths = [
            self.data.as_mut(),
            self.trace.as_mut(),
            self.cluster.as_mut(),
            self.profiles.as_mut(),
            self.colocate.as_mut(),
        ];
        paths.into_iter().flatten()
    }

    /// Values that may be something else, but name a file here.
    pub fn named_mut(&mut self) -> impl Iterator<Item = &mut String> {
        let named = [self.estimates.as_mut(), self.forecast.as_mut()];
        let named = named.into_iter().flatten().map(|text| &mut text.0);
        let named = named.filter(|text| !is_no_file(text));
        let models = self.models.as_mut().map(|text| &mut text.0);
        named.chain(models.filter(|models| *models != TRAIN))
    }

    /// All faults of the plan.
    pub fn check(&self) -> Vec<PlanFault> {
        let mut checker = Checker::default();
        if self.data.is_none() && (self.trace.is_none() || self.cluster.is_none()) {
            let expected = "data, a directory, or the files trace and cluster";
            checker.add(None, "simulate", "no jobs or no virtual clusters", expected);
        }
        let named: Vec<&str> = policies::ALL.iter().map(|policy| policy.name).collect();
        let policy = Some(self.policy.clone());
        let expected = format!("one of {}", named.join(", "));
        checker.axis("policy", &policy, &expected, |name| {
            named.contains(&name.as_str())
        });
        let named: Vec<&str> = placers::ALL.iter().map(|placer| placer.name()).collect();
        let expected = format!("one of {}", named.join(", "));
        checker.axis("placer", &self.placer, &expected, |name| {
            named.contains(&name.as_str())
        });
        let expected = format!(
            "{NOTHING}, or some of {}, separated by commas",
            PARTS.join(", ")
        );
        checker.axis("without", &self.without, &expected, |parts| {
            parts == NOTHING || parts.split(',').all(|part| PARTS.contains(&part))
        });
        checker.axis("corrected", &self.corrected, "", |_| true);
        checker.faults
    }

    /// The settings of every run: all combinations, the later settings varying fastest. Only
    /// profiled policies, which Lucid is, are combined with `without` and `corrected`.
    pub fn expand(&self) -> Vec<SimulateSettings> {
        let mut all = Vec::new();
        for policy in &self.policy.get_ref().0 {
            let profiled = policies::ALL.iter().any(|p| p.name == policy && p.profiled);
            let (without, corrected) = match profiled {
                true => (
                    values(&self.without, NOTHING.into()),
                    values(&self.corrected, false),
                ),
                false => (vec![NOTHING.to_owned()], vec![false]),
            };
            let own = vec![SimulateSettings {
                policy: policy.clone(),
                placer: String::new(),
                without: String::new(),
                corrected: false,
            }];
            let placers = values(&self.placer, "consolidate".into());
            let own = cross(own, &placers, |s, v| s.placer = v);
            let own = cross(own, &without, |s, v| s.without = v.replace(NOTHING, ""));
            all.extend(cross(own, &corrected, |s, v| s.corrected = v));
        }
        all
    }
}
