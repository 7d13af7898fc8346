//! Decisions in a form that the journal can keep.
//!
//! A solver with a time limit can give another answer the next time it solves the same problem. The journal therefore
//! keeps each decision, and a restarted daemon repeats the decisions in the journal instead of solving the problems
//! again.

use gleaner_classes::{self as classes, Held};
use gleaner_domain::error::{Error, Result};
use gleaner_domain::results::replay::StepStatus;
use gleaner_replay::{Decider, Decision, Plan};
use gleaner_solvers::Problem;
use serde::{Deserialize, Serialize};

/// A decision as the journal stores it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct KeptDecision {
    plan: KeptPlan,
    #[serde(with = "named")]
    status: StepStatus,
    gap: Option<f64>,
    micros: u64,
    is_short: bool,
    prices: Vec<f64>,
}

/// Serialises a value as the name that tables use for it.
mod named {
    use gleaner_domain::results::Named;
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serializer};

    pub fn serialize<N: Named, S: Serializer>(value: &N, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(value.name())
    }

    pub fn deserialize<'de, N: Named, D: Deserializer<'de>>(from: D) -> Result<N, D::Error> {
        let name = String::deserialize(from)?;
        let found = N::ALL.iter().find(|value| value.name() == name);
        found
            .copied()
            .ok_or_else(|| D::Error::custom(format!("unknown value {name:?}")))
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum KeptPlan {
    Keep,
    Counts(Vec<u32>),
    /// For each task, the class index and the number of its nodes; `None` for a task without nodes.
    InClasses(Vec<Option<(usize, u32)>>),
    Nodes(Vec<Vec<u32>>),
}

impl KeptDecision {
    /// Whether `other` has the same plan and status. Times and gaps are ignored.
    pub fn is_same_plan(&self, other: &KeptDecision) -> bool {
        self.plan == other.plan && self.status == other.status
    }
}

impl From<&Decision> for KeptDecision {
    fn from(decision: &Decision) -> Self {
        KeptDecision {
            plan: match &decision.plan {
                Plan::Keep => KeptPlan::Keep,
                Plan::Counts(counts) => KeptPlan::Counts(counts.clone()),
                Plan::InClasses(plan) => {
                    let pair = |held: &Held| (held.class, held.count);
                    KeptPlan::InClasses(plan.iter().map(|held| held.as_ref().map(pair)).collect())
                }
                Plan::Nodes(nodes) => KeptPlan::Nodes(nodes.clone()),
            },
            status: decision.status,
            gap: decision.gap,
            micros: decision.micros,
            is_short: decision.is_short,
            prices: decision.prices.clone(),
        }
    }
}

impl From<&KeptDecision> for Decision {
    fn from(kept: &KeptDecision) -> Self {
        Decision {
            plan: match &kept.plan {
                KeptPlan::Keep => Plan::Keep,
                KeptPlan::Counts(counts) => Plan::Counts(counts.clone()),
                KeptPlan::InClasses(plan) => {
                    let held = |&(class, count): &(usize, u32)| Held { class, count };
                    Plan::InClasses(plan.iter().map(|pair| pair.as_ref().map(held)).collect())
                }
                KeptPlan::Nodes(nodes) => Plan::Nodes(nodes.clone()),
            },
            status: kept.status,
            gap: kept.gap,
            micros: kept.micros,
            is_short: kept.is_short,
            prices: kept.prices.clone(),
        }
    }
}

/// A decider that forwards problems to another decider, and keeps that decider's decision for the journal.
pub struct Capture<'d> {
    decider: &'d mut dyn Decider,
    /// The captured decision; `None` if the decider was not asked or failed.
    pub kept: Option<KeptDecision>,
}

impl<'d> Capture<'d> {
    /// Captures the decision of `decider`.
    pub fn of(decider: &'d mut dyn Decider) -> Self {
        Capture {
            decider,
            kept: None,
        }
    }

    fn keep(&mut self, decision: Result<Decision>) -> Result<Decision> {
        let decision = decision?;
        self.kept = Some((&decision).into());
        Ok(decision)
    }
}

impl Decider for Capture<'_> {
    fn name(&self) -> &str {
        self.decider.name()
    }

    fn decide(&mut self, event: usize, problem: &Problem) -> Result<Decision> {
        let decision = self.decider.decide(event, problem);
        self.keep(decision)
    }

    fn decide_in_classes(&mut self, event: usize, problem: &classes::Problem) -> Result<Decision> {
        let decision = self.decider.decide_in_classes(event, problem);
        self.keep(decision)
    }
}

/// A decider that returns a decision from the journal.
pub struct Repeat<'k>(pub Option<&'k KeptDecision>);

impl Repeat<'_> {
    fn repeat(&self, event: usize) -> Result<Decision> {
        let missing = || Error::Run(format!("the journal has no decision for event {event}"));
        self.0.map(Decision::from).ok_or_else(missing)
    }
}

impl Decider for Repeat<'_> {
    fn name(&self) -> &str {
        "journal"
    }

    fn decide(&mut self, event: usize, _problem: &Problem) -> Result<Decision> {
        self.repeat(event)
    }

    fn decide_in_classes(&mut self, event: usize, _problem: &classes::Problem) -> Result<Decision> {
        self.repeat(event)
    }
}
