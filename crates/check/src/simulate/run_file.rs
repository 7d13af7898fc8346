//! Checks the description of a simulation in `run.json`.

use gleaner_domain::results::run::RUN_FILE;
use serde_json::{Map, Value, json};

use super::Given;
use super::policy::Policy;
use crate::Findings;

/// The content of `run.json`, and the data from which its expected content is derived.
pub struct RunFile<'a> {
    /// The content of `run.json`.
    pub written: &'a Value,
    /// The expected description of the estimates; null if no policy uses estimates.
    pub estimates: &'a Value,
    /// The names of all simulation settings. The check reads the inputs with the recorded values of
    /// most settings, so tables that match the inputs also confirm these settings.
    pub settings: Vec<&'static str>,
    /// The names of the policies requested by the arguments, in order.
    pub policies: Vec<String>,
    /// Whether the run reached its end.
    pub is_complete: bool,
}

/// Arguments that do not affect any table.
const WITHOUT_EFFECT: &[&str] = &[
    "check",
    "jobs",
    "out",
    "log_dir",
    "json",
    "quiet",
    "idle_events",
    "with_drain",
    "epoch",
];

/// Arguments that control the learning of estimates and models.
const LEARNT: &[&str] = &[
    "models",
    "series",
    "no_profile",
    "first_estimate",
    "model_seed",
];

/// Reason why learnt estimates are not verified.
const LEARNT_ALONE: &str = "only --again repeats the learning";

/// The argument that makes the reader skip invalid jobs.
const SKIP_INVALID: &str = "skip_invalid";

impl RunFile<'_> {
    /// Verifies the fields that are specific to simulations.
    pub(super) fn check(&self, given: &Given<'_>, checked: &[Policy<'_>], findings: &mut Findings) {
        self.arguments(checked, findings);
        self.same("start", &json!(given.start), findings);
        self.same("profiler", &profiler(given), findings);
        if checked.iter().all(|policy| policy.swept.is_some()) {
            self.same("corrections", &corrections(given, checked), findings);
        }
        let without_weeks = |value: &Value| match value {
            Value::Object(map) => {
                let mut map: Map<String, Value> = map.clone();
                map.remove("weeks");
                Value::Object(map)
            }
            other => other.clone(),
        };
        let written = self.written.get("estimates").map(without_weeks);
        findings.holds(
            written.as_ref() == Some(&without_weeks(self.estimates)),
            || format!("{RUN_FILE}: estimates differ from those named in the arguments"),
        );
        if self.written.pointer("/estimates/weeks").is_some() {
            findings.not_verified(RUN_FILE, "estimates/weeks", LEARNT_ALONE);
            for column in ["policy", "job_id", "priority"] {
                findings.not_verified("estimates", column, LEARNT_ALONE);
            }
        }
        match self.estimates {
            Value::Object(fields) => {
                findings.covers(
                    RUN_FILE,
                    fields.keys().map(|name| format!("estimates/{name}")),
                );
            }
            _ => findings.covers(RUN_FILE, ["estimates"]),
        }
    }

    fn arguments(&self, checked: &[Policy<'_>], findings: &mut Findings) {
        let names: Vec<&str> = checked.iter().map(|policy| policy.name).collect();
        let expected = &self.policies;
        let is_so = if self.is_complete {
            names == *expected
        } else {
            // In an interrupted run, the policies that did not finish are missing.
            let asked = |name: &&str| expected.iter().any(|asked| asked == name);
            names.len() < expected.len() && names.iter().all(asked)
        };
        findings.holds(is_so, || {
            format!(
                "{RUN_FILE}: the arguments request the policies {}, but summary.json has {}",
                expected.join(", "),
                names.join(", ")
            )
        });
        findings.covers(RUN_FILE, ["complete"]);
        let others = [WITHOUT_EFFECT, LEARNT, &[SKIP_INVALID]].concat();
        let followed = self.settings.iter().filter(|name| !others.contains(name));
        let followed = followed.map(|name| format!("arguments/{name}"));
        findings.covers(RUN_FILE, followed);
        for name in WITHOUT_EFFECT {
            let name = format!("arguments/{name}");
            findings.not_verified(RUN_FILE, name, "it does not affect any table");
        }
        for name in LEARNT {
            let name = format!("arguments/{name}");
            findings.not_verified(RUN_FILE, name, LEARNT_ALONE);
        }
        let reason = "it has no effect if all jobs are valid";
        let name = format!("arguments/{SKIP_INVALID}");
        findings.not_verified(RUN_FILE, name, reason);
    }

    fn same(&self, field: &str, expected: &Value, findings: &mut Findings) {
        let written = self.written.get(field).unwrap_or(&Value::Null);
        findings.holds(written == expected, || {
            format!("{RUN_FILE}: {field} is {written}, but the inputs and runs give {expected}")
        });
        findings.covers(RUN_FILE, [field]);
    }
}

fn profiler(given: &Given<'_>) -> Value {
    let Some(profiler) = given.profiler else {
        return Value::Null;
    };
    let name = |vc: usize| given.cluster.vcs[vc].name.clone();
    let mut lent: std::collections::BTreeMap<String, u64> = Default::default();
    for &(vc, nodes) in &profiler.lent {
        *lent.entry(name(vc)).or_default() += u64::from(nodes);
    }
    json!({
        "limit": profiler.limit,
        "nodes": profiler.nodes,
        "factor": profiler.factor,
        "lent": lent,
        "elastic": profiler.elastic.map(name),
    })
}

fn corrections(given: &Given<'_>, checked: &[Policy<'_>]) -> Value {
    let id = |job: usize| &given.trace.jobs[job].id;
    let mut all = Vec::new();
    for policy in checked {
        let vcs = given.cluster.vcs.iter().zip(policy.swept.iter().flatten());
        for (vc, swept) in vcs {
            all.extend(swept.corrections.iter().map(|&(time, ended, survivor)| {
                json!({
                    "policy": policy.name,
                    "vc": vc.name,
                    "time": time,
                    "ended": id(ended),
                    "survivor": id(survivor),
                })
            }));
        }
    }
    Value::Array(all)
}
