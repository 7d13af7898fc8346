//! Plans of simulations.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use toml::Spanned;

use super::PlanFault;
use super::axis::{Axis, Setting};
use super::check::Checker;
use super::parsed::Parsed;
use super::visit::{Axes, Pick, Visitor};
use gleaner_core::domain::Stamp;
use gleaner_core::domain::cluster::MAX_GPUS_PER_NODE;
use gleaner_setup::experiment::{
    Choice, Corrected, FileArgs, Given, Learned, Lend, ModelArgs, Part, Preset, ProfilerArgs,
    Setting as ProfilerSetting,
};
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
    pub preset: Option<Parsed<Preset>>,
    /// The file of jobs; needed without `data`.
    pub trace: Option<PathBuf>,
    /// The file of virtual clusters; needed without `data`.
    pub cluster: Option<PathBuf>,
    /// GPUs of every node.
    pub gpus_per_node: Option<Spanned<u32>>,
    /// A file of estimated durations, `oracle`, a number of seconds, or an estimator.
    pub estimates: Option<Parsed<Given>>,
    /// The file of workloads measured alone.
    pub profiles: Option<PathBuf>,
    /// The file of workloads measured in pairs.
    pub colocate: Option<PathBuf>,
    /// A file with a forecast of submissions, or a number.
    pub forecast: Option<Parsed<Given>>,
    /// A directory of models, or `train`.
    pub models: Option<Parsed<Learned>>,
    /// Time of the first submission to simulate.
    pub from: Option<Parsed<Stamp>>,
    /// Time of the last submission to simulate.
    pub to: Option<Parsed<Stamp>>,
    /// The setting of the profiler.
    pub profiler: Option<Parsed<ProfilerSetting>>,
    /// Virtual clusters that lend nodes, as `VC=NODES`.
    #[serde(default)]
    pub lend: Vec<Parsed<Lend>>,
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

/// All settings of a simulation except its files.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SimulateSettings {
    /// Name of the policy.
    pub policy: String,
    /// Name of the placer.
    pub placer: String,
    /// Parts of Lucid that are switched off, separated by commas; empty for none.
    pub without: String,
    /// Whether faults of the original are corrected, as with `gleaner simulate --corrected`. By default,
    /// they are corrected for policies with a profiler, unless the plan names a preset.
    pub corrected: bool,
}

/// The value of `without` that switches nothing off.
const NOTHING: &str = "nothing";

/// The parts of Lucid in a list that is separated by commas, or empty.
fn parts(text: &str) -> Result<Vec<Part>, String> {
    let names = text.split(',').filter(|name| !name.is_empty());
    names.map(str::parse).collect()
}

/// The path, if a file is named.
fn file(given: &mut Parsed<Given>) -> Option<&mut PathBuf> {
    match &mut given.0 {
        Given::File(path) => Some(path),
        _ => None,
    }
}

/// The path, if a directory is named.
fn directory(models: &mut Parsed<Learned>) -> Option<&mut PathBuf> {
    match &mut models.0 {
        Learned::Directory(path) => Some(path),
        Learned::Train => None,
    }
}

impl SimulatePlan {
    /// Every file that the plan names, to resolve relative paths.
    pub fn paths_mut(&mut self) -> impl Iterator<Item = &mut PathBuf> {
        let paths = [
            self.data.as_mut(),
            self.trace.as_mut(),
            self.cluster.as_mut(),
            self.profiles.as_mut(),
            self.colocate.as_mut(),
            self.estimates.as_mut().and_then(file),
            self.forecast.as_mut().and_then(file),
            self.models.as_mut().and_then(directory),
        ];
        paths.into_iter().flatten()
    }

    /// All faults of the plan.
    pub fn check(&self) -> Vec<PlanFault> {
        let mut checker = Checker::default();
        if self.data.is_none() && (self.trace.is_none() || self.cluster.is_none()) {
            let expected = "data, a directory, or the files trace and cluster";
            checker.add(None, "simulate", "no jobs or no virtual clusters", expected);
        }
        if self.preset.is_some() && (self.trace.is_some() || self.cluster.is_some()) {
            let expected = "the files of the preset in data, and neither trace nor cluster";
            checker.add(None, "preset", "trace or cluster beside it", expected);
        }
        let expected = format!("1 to {MAX_GPUS_PER_NODE}");
        checker.single("gpus_per_node", &self.gpus_per_node, &expected, |count| {
            (1..=MAX_GPUS_PER_NODE).contains(count)
        });
        let named: Vec<&str> = policies::ALL.iter().map(|policy| policy.name).collect();
        let is_policy = |name: &String| named.contains(&name.as_str());
        let expected = format!("one of {}", named.join(", "));
        let policy = Some(self.policy.clone());
        let set = |s: &mut SimulateSettings, v| s.policy = v;
        checker.checked("policy", &policy, &expected, is_policy, set);
        self.axes(&mut checker, true);
        checker.faults
    }

    /// The settings besides the policy that may be lists, in the order in which they are varied.
    /// Only profiled policies, which Lucid is, have `without` and `corrected`.
    fn axes(&self, visitor: &mut impl Visitor<SimulateSettings>, profiled: bool) {
        let named: Vec<&str> = placers::ALL.iter().map(|placer| placer.name()).collect();
        let is_placer = |name: &String| named.contains(&name.as_str());
        let expected = format!("one of {}", named.join(", "));
        visitor.checked("placer", &self.placer, &expected, is_placer, |s, v| {
            s.placer = v
        });
        if !profiled {
            return;
        }
        let expected = format!(
            "{NOTHING}, or some of {}, separated by commas",
            Part::names()
        );
        let is_valid = |text: &String| text == NOTHING || parts(text).is_ok();
        visitor.checked("without", &self.without, &expected, is_valid, |s, v| {
            s.without = v.replace(NOTHING, "")
        });
        visitor.axis("corrected", &self.corrected, |s, v| s.corrected = v);
    }

    /// The settings of every run: all combinations, the later settings varying fastest.
    pub fn expand(&self) -> Vec<SimulateSettings> {
        let of_policy = |policy: &String| {
            let profiled = is_profiled(policy);
            let first = SimulateSettings {
                policy: policy.clone(),
                placer: Choice::default().placer,
                without: String::new(),
                corrected: profiled && self.preset.is_none(),
            };
            let mut axes = Axes::default();
            self.axes(&mut axes, profiled);
            let pick = |index| {
                let mut pick = Pick {
                    settings: first.clone(),
                    places: &axes.places(index),
                };
                self.axes(&mut pick, profiled);
                pick.settings
            };
            (0..axes.count()).map(pick).collect::<Vec<_>>()
        };
        self.policy.get_ref().0.iter().flat_map(of_policy).collect()
    }

    /// Policies and placer of these settings together. Duplicates are dropped.
    pub fn choice(&self, settings: &[SimulateSettings]) -> Choice {
        let mut choice = Choice {
            policy: Vec::new(),
            placer: settings
                .first()
                .map(|s| s.placer.clone())
                .unwrap_or_default(),
            without: Vec::new(),
            corrected: corrected(settings),
        };
        for one in settings {
            add(&mut choice.policy, one.policy.clone());
            for part in parts(&one.without).unwrap_or_default() {
                add(&mut choice.without, part);
            }
        }
        choice
    }

    /// The files of all simulations.
    pub fn files(&self) -> FileArgs {
        let all = FileArgs::default();
        FileArgs {
            data: self.data.clone(),
            trace: self.trace.clone(),
            cluster: self.cluster.clone(),
            gpus_per_node: self
                .gpus_per_node
                .as_ref()
                .map_or(all.gpus_per_node, |n| *n.get_ref()),
            estimates: value(&self.estimates),
            profiles: self.profiles.clone(),
            colocate: self.colocate.clone(),
            forecast: value(&self.forecast),
            from: value(&self.from),
            to: value(&self.to),
            skip_invalid: self.skip_invalid,
            preset: value(&self.preset),
            ..all
        }
    }

    /// The models of all simulations.
    pub fn models(&self) -> ModelArgs {
        ModelArgs {
            models: value(&self.models),
            ..ModelArgs::default()
        }
    }

    /// The profiler of all simulations.
    pub fn profiler(&self) -> ProfilerArgs {
        ProfilerArgs {
            profiler: value(&self.profiler).unwrap_or_default(),
            lend: self.lend.iter().map(|lend| lend.0.clone()).collect(),
            elastic: self.elastic.clone(),
        }
    }
}

/// Whether the policy with this name has a profiler.
fn is_profiled(policy: &str) -> bool {
    policies::ALL.iter().any(|p| p.name == policy && p.profiled)
}

/// The correction that these settings share; `None` if their policies have nothing to correct.
fn corrected(settings: &[SimulateSettings]) -> Option<Corrected> {
    let each = settings.iter().filter(|s| is_profiled(&s.policy));
    let all = each.map(|s| s.corrected).reduce(|all, one| all && one)?;
    Some(if all { Corrected::Only } else { Corrected::No })
}

fn value<T: Clone>(given: &Option<Parsed<T>>) -> Option<T> {
    given.as_ref().map(|given| given.0.clone())
}

fn add<T: PartialEq>(all: &mut Vec<T>, one: T) {
    if !all.contains(&one) {
        all.push(one);
    }
}
