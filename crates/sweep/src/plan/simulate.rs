//! Plans of simulations.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde::Serialize;
use toml::Value;

use super::axes::Axes;
use super::table::{Grammar, Mismatch, PlanFault, Table, Words};
use gleaner_domain::results::sweep::Mode;
use gleaner_setup::SimulationSettings;
use gleaner_setup::experiment::{Choice, Corrected, Part};
use gleaner_setup::settings::{Change, Settings, Value as _};
use gleaner_simulate::policies;

/// Settings that a plan must not contain.
const EXCLUDED: &[&str] = &[
    // These settings always have their defaults, so the key of a run need not contain them.
    "series",
    "epoch",
    "no_profile",
    "first_estimate",
    "model_seed",
    // These settings imitate options of the original simulator, or apply only to single simulations.
    "experiment",
    "trace_dir",
    "sweep",
    "jobs",
];

/// Settings that a run's key already contains, directly or as digests of files, if the run depends on them.
const KEYED: &[&str] = &[
    "policy",
    "placer",
    "without",
    "corrected",
    "data",
    "trace",
    "cluster",
    "gpus_per_node",
    "estimates",
    "profiles",
    "colocate",
    "forecast",
    "from",
    "to",
    "preset",
    "models",
    "profiler",
    "lend",
    "elastic",
    "skip_invalid",
    "check",
];

/// Settings that only Lucid uses.
const LUCIDS: [&str; 2] = ["without", "corrected"];

/// The value of `without` that disables nothing.
const NOTHING: &str = "nothing";

/// Simulations of one trace.
#[derive(Debug)]
pub struct SimulatePlan {
    /// The settings that all runs share.
    pub base: SimulationSettings,
    axes: Axes<SimulationSettings>,
    names: BTreeSet<String>,
}

/// The settings of a run as its results list them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Listed {
    /// Name of the policy.
    pub policy: String,
    /// Name of the placer.
    pub placer: String,
    /// Parts of Lucid that are disabled, separated by commas; empty if no part is disabled.
    pub without: String,
    /// Whether faults of the original simulator are corrected, as with `gleaner simulate --corrected`.
    pub corrected: bool,
}

impl Listed {
    /// The settings of one run.
    pub fn of(choice: &Choice) -> Self {
        let without: Vec<String> = choice.without.iter().map(|part| part.show()).collect();
        Listed {
            policy: choice.policy.concat(),
            placer: choice.placer.clone(),
            without: without.join(","),
            corrected: choice.corrected == Some(Corrected::Only),
        }
    }
}

impl SimulatePlan {
    /// Reads the table of a plan in `folder`. Returns the plan and all its faults.
    pub(super) fn read(table: &Table, folder: &Path) -> (Self, Vec<PlanFault>) {
        let grammar = Grammar {
            columns: Mode::Simulate.settings(),
            groups: &[],
            excluded: EXCLUDED,
            special,
        };
        let (given, mut faults) = grammar.read(table, folder);
        let plan = SimulatePlan {
            base: given.base,
            axes: given.axes,
            names: given.names,
        };
        plan.check_files(table.span().start, &mut faults);
        (plan, faults)
    }

    fn check_files(&self, at: usize, faults: &mut Vec<PlanFault>) {
        if !self.gives("policy") {
            let (found, expected) = ("missing field `policy`", "the policies to simulate");
            faults.push(PlanFault::new(Some(at), "", found, expected));
        }
        let has_files = self.gives("data") || self.gives("trace") && self.gives("cluster");
        if !has_files {
            let expected = "data (a directory), or the files trace and cluster";
            let found = "no jobs or no virtual clusters";
            faults.push(PlanFault::new(None, "simulate", found, expected));
        }
        if self.gives("preset") && (self.gives("trace") || self.gives("cluster")) {
            let expected = "data (the directory of the preset's files), without trace or cluster";
            let found = "trace or cluster together with a preset";
            faults.push(PlanFault::new(None, "preset", found, expected));
        }
    }

    /// Whether the plan contains a setting.
    pub fn gives(&self, name: &str) -> bool {
        self.names.contains(name)
    }

    /// The values, as text, of the plan's settings that are not in `KEYED`. These values are part of every key.
    pub fn others(&self) -> BTreeMap<&'static str, Vec<String>> {
        let all = SimulationSettings::list();
        let others = all.iter().filter(|setting| {
            let name = setting.about.name;
            self.gives(name) && !KEYED.contains(&name)
        });
        let shown = others.map(|setting| (setting.about.name, setting.show(&self.base)));
        shown.collect()
    }

    /// The choices of all runs, one for each combination. The last setting varies fastest. Lucid's settings vary only
    /// in runs of Lucid. By default, runs of Lucid correct the faults of the original simulator, unless the plan
    /// contains a preset.
    pub fn expand(&self) -> Vec<Choice> {
        let of_policy = |policy| {
            let (first, axes) = self.of_policy(policy);
            let all = 0..axes.count();
            all.map(move |index| axes.settings(&first, &axes.places(index)).choice)
        };
        self.policies().flat_map(of_policy).collect()
    }

    /// Number of runs; `None` if it overflows.
    pub(super) fn runs(&self) -> Option<usize> {
        let mut counts = self
            .policies()
            .map(|policy| self.of_policy(policy).1.checked_count());
        counts.try_fold(0_usize, |sum, count| sum.checked_add(count?))
    }

    fn policies(&self) -> impl Iterator<Item = &Change<SimulationSettings>> {
        let axis = self.axes.named("policy").into_iter();
        axis.flat_map(|axis| &axis.values)
    }

    /// The settings that all runs of one policy share, and the axes along which these runs differ.
    fn of_policy(
        &self,
        policy: &Change<SimulationSettings>,
    ) -> (SimulationSettings, Axes<SimulationSettings>) {
        let mut first = self.base.clone();
        policy.apply(&mut first);
        let is_lucid = is_profiled(&first.choice);
        first.choice.corrected = Some(if is_lucid && !self.gives("preset") {
            Corrected::Only
        } else {
            Corrected::No
        });
        let mut axes = self.axes.clone();
        axes.0.retain(|axis| {
            axis.name != "policy" && (is_lucid || !LUCIDS.contains(&axis.name.as_str()))
        });
        (first, axes)
    }
}

/// Combines the choices of several runs into one. The combined choice has the policies and the disabled parts of Lucid
/// of all runs, without duplicates, and the placer of the first run. In the result, `corrected` is `Only` if all runs
/// of Lucid are corrected, and `None` if there are no runs of Lucid.
pub(crate) fn together(choices: &[Choice]) -> Choice {
    let mut all = Choice {
        policy: Vec::new(),
        placer: choices
            .first()
            .map(|one| one.placer.clone())
            .unwrap_or_default(),
        without: Vec::new(),
        corrected: corrected(choices),
    };
    for one in choices {
        one.policy
            .iter()
            .for_each(|policy| add(&mut all.policy, policy));
        one.without
            .iter()
            .for_each(|part| add(&mut all.without, part));
    }
    all
}

/// Reads the values that are written differently in plans than on the command line.
fn special(
    words: &Words<'_, SimulationSettings>,
    name: &str,
    value: &Value,
) -> Option<Result<Change<SimulationSettings>, Mismatch>> {
    match (name, value) {
        ("policy", Value::String(policy)) => {
            let named: Vec<&str> = policies::ALL.iter().map(|policy| policy.name).collect();
            let is_known = named.contains(&policy.as_str());
            let expected = format!("one of {}", named.join(", "));
            (!is_known).then(|| Err((value.to_string(), expected)))
        }
        ("without", Value::String(text)) => {
            let parts: Vec<Value> = if text == NOTHING {
                Vec::new()
            } else {
                let parts = text.split(',').filter(|part| !part.is_empty());
                parts.map(|part| Value::String(part.to_owned())).collect()
            };
            let names: Vec<String> = Part::named().into_iter().map(|(name, _)| name).collect();
            let names = names.join(", ");
            let expected = format!("{NOTHING}, or some of {names}, separated by commas");
            let change = words.change(name, &Value::Array(parts));
            Some(change.map_err(|_| (value.to_string(), expected)))
        }
        ("corrected", Value::Boolean(is_corrected)) => {
            let which = if *is_corrected {
                Corrected::Only
            } else {
                Corrected::No
            };
            Some(words.change(name, &Value::String(which.show())))
        }
        ("corrected", _) => Some(Err((value.to_string(), "true or false".to_owned()))),
        _ => None,
    }
}

/// Whether a policy of the choice uses the profiler, as Lucid does.
fn is_profiled(choice: &Choice) -> bool {
    let mut profiled = policies::ALL.iter().filter(|policy| policy.profiled);
    profiled.any(|policy| choice.policy.iter().any(|name| name == policy.name))
}

/// `Only` if all runs of Lucid are corrected, otherwise `No`; `None` if there are no runs of Lucid.
fn corrected(choices: &[Choice]) -> Option<Corrected> {
    let each = choices.iter().filter(|one| is_profiled(one));
    let all = each
        .map(|one| one.corrected == Some(Corrected::Only))
        .reduce(|all, one| all && one)?;
    Some(if all { Corrected::Only } else { Corrected::No })
}

fn add<T: PartialEq + Clone>(all: &mut Vec<T>, one: &T) {
    if !all.contains(one) {
        all.push(one.clone());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::axes::Axis;
    use crate::plan::read::checked;

    fn axis(name: &str, values: Vec<Change<SimulationSettings>>) -> Axis<SimulationSettings> {
        Axis {
            name: name.to_owned(),
            at: 0,
            values,
        }
    }

    /// A change that sets the policy.
    fn policy(name: &'static str) -> Change<SimulationSettings> {
        Change::new(move |settings: &mut SimulationSettings| {
            settings.choice.policy = vec![name.to_owned()];
        })
    }

    // Derived by formula: the values of Lucid's settings multiply only the number of Lucid's runs.
    #[test]
    fn simulations_are_counted_without_listing_them() {
        let same = Change::new(|_: &mut SimulationSettings| {});
        let plan = |parts: usize| SimulatePlan {
            base: SimulationSettings::default(),
            axes: Axes(vec![
                axis("policy", vec![policy("fifo"), policy("lucid")]),
                axis("placer", vec![same.clone(); 3]),
                axis("without", vec![same.clone(); parts]),
            ]),
            names: BTreeSet::new(),
        };
        assert_eq!(plan(5).runs(), Some(3 + 3 * 5));
        assert_eq!(plan(5).expand().len(), 3 + 3 * 5);
        let faults = checked((plan(4_000_000), Vec::new())).1;
        assert!(
            matches!(&faults[..], [fault] if fault.found == "12000003 runs"),
            "{faults:?}"
        );
    }
}
