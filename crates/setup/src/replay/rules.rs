//! How a log is replayed.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::t_fwd::TFwd;
#[cfg(feature = "cli")]
use gleaner_core::domain::objective::NAMED;
use gleaner_core::domain::{EventLog, NodeRule, Objective, TrialSearch};
use gleaner_core::error::{Error, Result};
use gleaner_inputs::tasks::TaskSet;
use gleaner_replay::{Initial, Options};
use gleaner_search::Algorithm;

#[cfg(feature = "cli")]
use crate::choices::{ListedOrText, one_of};

/// How a log is replayed, for single replays and for sweeps.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
pub struct Rules {
    /// Forward window in seconds over which a reallocation must pay (-Tfwd). `auto` uses the window
    /// that `gleaner inspect` suggests for the log and the tasks.
    #[cfg_attr(feature = "cli", arg(long, value_name = "SECONDS|auto", default_value_t = Rules::default().t_fwd, allow_negative_numbers = true))]
    pub t_fwd: TFwd,
    /// Maximum number of tasks active at once (-maxJ).
    #[cfg_attr(feature = "cli", arg(long, value_name = "COUNT", default_value_t = Rules::default().max_tasks))]
    pub max_tasks: usize,
    /// What the solver maximises: a name, or an expression for each task such as "rate / left"
    /// (docs/OBJECTIVES.md).
    #[cfg_attr(feature = "cli", arg(long, value_name = "NAME|EXPRESSION", default_value_t = Rules::default().objective, value_parser = ListedOrText::<Objective>::new(&OBJECTIVES)))]
    pub objective: Objective,
    /// How the first idle nodes are dealt.
    #[cfg_attr(feature = "cli", arg(long, value_name = "DEAL", default_value = "random", value_parser = one_of(&DEALS)))]
    pub initial: Initial,
    /// Which free nodes a growing task gets.
    #[cfg_attr(feature = "cli", arg(long, value_name = "RULE", default_value_t = Rules::default().node_choice, value_parser = one_of(&NODE_RULES)))]
    #[serde(default)]
    pub node_choice: NodeRule,
    /// Seed of the random initial deal.
    #[cfg_attr(feature = "cli", arg(long, value_name = "NUMBER", default_value_t = 0))]
    pub seed: u64,
    /// Let a finished task keep its nodes until the next event of the log, as the original does. Implied
    /// by the original's flags and by --scripted.
    #[cfg_attr(feature = "cli", arg(id = "no_completion_events", long = "no-completion-events", action = clap::ArgAction::SetFalse, overrides_with = "completion_events"))]
    pub completion_events: bool,
    /// Reallocate the nodes of a finished task as soon as it finishes (default). Needed only with
    /// the original's flags.
    #[cfg_attr(
        feature = "cli",
        arg(
            id = "completion_events",
            long = "completion-events",
            overrides_with = "no_completion_events"
        )
    )]
    #[serde(skip)]
    pub asks_for_completion_events: bool,
    /// Submit the set of tasks repeatedly until the log ends. A round begins when all tasks of the
    /// previous round were admitted and fewer are active than both --max-tasks and the size of the
    /// set. In the second round, task `a` is called `a#2`.
    #[cfg_attr(feature = "cli", arg(long))]
    pub repeat_tasks: bool,
    /// Algorithm that starts and stops the trials of a search, instead of the one that the file of
    /// tasks names (docs/SEARCHES.md).
    #[cfg_attr(feature = "cli", arg(long, value_name = "ALGORITHM", value_parser = one_of(&ALGORITHMS)))]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub search: Option<Algorithm>,
    /// Compute an upper bound on the work of any allocator, even one that knew the whole log, with
    /// the same tasks and rescaling costs (docs/BOUND.md).
    #[cfg_attr(feature = "cli", arg(long))]
    #[serde(default)]
    pub bound: bool,
}

impl Default for Rules {
    fn default() -> Self {
        Rules {
            t_fwd: TFwd::Auto,
            max_tasks: 10,
            objective: Objective::default(),
            initial: Initial::Random,
            node_choice: NodeRule::default(),
            seed: 0,
            completion_events: true,
            asks_for_completion_events: false,
            repeat_tasks: false,
            search: None,
            bound: false,
        }
    }
}

impl Rules {
    /// Refuses values that no file could make right.
    ///
    /// # Errors
    /// [`Error::Usage`]: no task may be active.
    pub fn check(&self) -> Result<()> {
        match self.max_tasks {
            0 => Err(Error::Usage("--max-tasks is 0, expected at least 1".into())),
            _ => Ok(()),
        }
    }

    /// The search that is run; `None` if the tasks are not trained by one.
    ///
    /// # Errors
    /// [`Error::Usage`]: another algorithm is asked for, and does not suit the search, or there is none.
    pub fn search(&self, search: Option<&TrialSearch>) -> Result<Option<Arc<TrialSearch>>> {
        let chosen = match (self.search, search) {
            (None, search) => search.cloned(),
            (Some(algorithm), Some(search)) => {
                let search = search.clone().by(algorithm);
                Some(search.map_err(|why| Error::Usage(format!("--search {algorithm}: {why}")))?)
            }
            (Some(algorithm), None) => {
                let why = "the tasks have no [search] (docs/SEARCHES.md)";
                return Err(Error::Usage(format!("--search {algorithm}: {why}")));
            }
        };
        Ok(chosen.map(Arc::new))
    }

    /// The forward window in seconds, and, if it was chosen automatically, remarks about the choice.
    pub(super) fn window(&self, log: &EventLog, set: &TaskSet) -> (f64, Vec<String>) {
        let at_once = set.at_once(self.max_tasks);
        let chosen = self.t_fwd.choose(log, &set.tasks, at_once);
        let found = chosen.suggestion.is_some();
        (
            chosen.seconds,
            found.then(|| chosen.to_string()).into_iter().collect(),
        )
    }

    /// What the engine takes, with a forward window of `t_fwd` seconds.
    pub fn options(&self, t_fwd: f64) -> Options {
        Options {
            t_fwd,
            max_tasks: self.max_tasks,
            objective: self.objective.clone(),
            groups: Arc::default(),
            search: None,
            initial: self.initial,
            node_choice: self.node_choice,
            node_order: None,
            seed: self.seed,
            completion_events: self.completion_events,
            repeat_tasks: self.repeat_tasks,
            bound: self.bound,
        }
    }
}

/// The objectives with names, and what the help says of each.
#[cfg(feature = "cli")]
const OBJECTIVES: [(&str, &str); NAMED.len()] = {
    let mut listed = [("", ""); NAMED.len()];
    let mut index = 0;
    while index < NAMED.len() {
        listed[index] = (NAMED[index].name, NAMED[index].meaning);
        index += 1;
    }
    listed
};

/// The algorithms of searches, and what the help says of each.
pub const ALGORITHMS: [(Algorithm, &str); 4] = [
    (Algorithm::Random, "Every trial is trained to the end"),
    (
        Algorithm::SuccessiveHalving,
        "The best of each rung go on once all have reached it",
    ),
    (
        Algorithm::Asha,
        "The same without waiting: a trial goes on as soon as it is among the best so far",
    ),
    (
        Algorithm::Hyperband,
        "Several successive halvings that begin with fewer trials and more resource",
    ),
];

/// The deals at event 0, and what the help says of each.
#[cfg(feature = "cli")]
const DEALS: [(Initial, &str); 3] = [
    (
        Initial::Random,
        "Each node goes to a task drawn at random, as in the original",
    ),
    (Initial::Solve, "The solver decides"),
    (Initial::Empty, "No task gets a node"),
];

/// The rules of which nodes a task gets, and what the help says of each.
#[cfg(feature = "cli")]
const NODE_RULES: [(NodeRule, &str); 3] = [
    (
        NodeRule::Arrival,
        "Those that have been idle longest, as in the original",
    ),
    (
        NodeRule::Blocks,
        "Neighbours by name or --topology: they mostly leave together, which costs a task only once",
    ),
    (
        NodeRule::Learned,
        "Neighbours in an order learnt from the log, for names that say nothing of where a node is",
    ),
];
