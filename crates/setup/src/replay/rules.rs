//! The rules of a replay.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::t_fwd::{self, TFwd};
use gleaner_domain::error::{Error, Result};
use gleaner_domain::{EventLog, NodeRule, Objective, Observer, TrialSearch};
use gleaner_inputs::tasks::TaskSet;
use gleaner_replay::{Initial, NodeRates, Options};
use gleaner_search::Algorithm;

use crate::settings;
use crate::settings::Spec;
use crate::settings::value::named_values;

settings! {
    /// The rules by which a log is replayed, in single replays and in sweeps.
    #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
    pub struct Rules {
        /// Forward window in seconds, within which a reallocation must pay off (-Tfwd). `auto` uses the window that
        /// `gleaner inspect` suggests for the log and the tasks.
        pub t_fwd: TFwd = TFwd::Auto => Spec::of("SECONDS|auto")
            .within(t_fwd::in_words(), |t_fwd: &TFwd| t_fwd.is_sound())
            .signed();
        /// Maximum number of concurrently active tasks (-maxJ).
        pub max_tasks: usize = 10 => Spec::of("COUNT").within("at least 1", |count| *count >= 1);
        /// Objective to maximise: a name, or an expression such as "rate / left", which is evaluated for each task
        /// (docs/OBJECTIVES.md).
        pub objective: Objective = Objective::default() => Spec::of("NAME|EXPRESSION");
        /// Initial assignment of the idle nodes.
        pub initial: Initial = Initial::Random => Spec::of("DEAL");
        /// Rule that chooses the free nodes for a growing task.
        #[serde(default)]
        pub node_choice: NodeRule = NodeRule::default() => Spec::of("RULE");
        /// Seed of the random initial assignment.
        pub seed: u64 = 0 => Spec::of("NUMBER");
        /// Reallocate the nodes of a finished task as soon as it finishes (default, except with the original's
        /// flags).
        pub completion_events: bool = true => Spec::flag().off(
            "Let a finished task keep its nodes until the next event of the log, as the original does. Implied \
             by the original's flags and by --scripted",
        );
        /// Submit the set of tasks repeatedly until the log ends. A round begins when all tasks of the
        /// previous round have been admitted and the number of active tasks is below both --max-tasks and the
        /// size of the set. In the second round, task `a` is called `a#2`.
        pub repeat_tasks: bool = false => Spec::flag();
        /// Algorithm that starts and stops the trials of a search, instead of the algorithm in the task file
        /// (docs/SEARCHES.md).
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub search: Option<Algorithm> = None => Spec::of("ALGORITHM");
        /// Ignore idle fragments shorter than this many seconds. No scheduler knows how long a node will stay idle, so
        /// the result relies on hindsight [default: use all fragments].
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub min_fragment: Option<f64> = None => Spec::of("SECONDS")
            .within("at least 0", |seconds| *seconds >= 0.0 && seconds.is_finite());
        /// Count the batch jobs that would start late if a task took this many seconds to hand back a node.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub hand_back: Option<f64> = None => Spec::of("SECONDS")
            .within("at least 0", |seconds| *seconds >= 0.0 && seconds.is_finite());
        /// Number of GPUs per node, from which the GPU-hours of tasks are computed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub gpus_per_node: Option<u32> = None => Spec::of("COUNT")
            .within("at least 1", |count| *count >= 1);
        /// Power of a used node in watts, from which the energy use of tasks is computed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub node_power: Option<f64> = None => Spec::of("WATTS")
            .within("at least 0", |watts| *watts >= 0.0 && watts.is_finite());
        /// Price of a kilowatt-hour, from which the energy costs of tasks are computed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub price: Option<f64> = None => Spec::of("PRICE")
            .within("at least 0", |price: &f64| *price >= 0.0 && price.is_finite())
            .requires("node_power");
        /// Currency of the price, such as EUR.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub currency: Option<String> = None => Spec::of("NAME").requires("price");
        /// Compute an upper bound on the work of any allocator, even one that knew the whole log, with
        /// the same tasks and rescaling costs (docs/BOUND.md).
        #[serde(default)]
        pub bound: bool = false => Spec::flag();
    }
}

impl Rules {
    /// The search to run; `None` if the tasks do not belong to a search.
    ///
    /// # Errors
    /// Returns [`Error::Usage`] if the requested algorithm does not suit the search, or if an algorithm is requested
    /// but there is no search.
    pub fn search(&self, search: Option<&TrialSearch>) -> Result<Option<Arc<TrialSearch>>> {
        let chosen = match (self.search, search) {
            (None, search) => search.cloned(),
            (Some(algorithm), Some(search)) => {
                let search = search.clone().by(algorithm);
                Some(search.map_err(|why| Error::Usage(format!("--search {algorithm}: {why}")))?)
            }
            (Some(algorithm), None) => {
                let why = "the task file has no [search] (docs/SEARCHES.md)";
                return Err(Error::Usage(format!("--search {algorithm}: {why}")));
            }
        };
        Ok(chosen.map(Arc::new))
    }

    /// The forward window in seconds, and a note that explains it if it was chosen automatically.
    ///
    /// # Errors
    /// Returns [`Error::Stopped`] if the observer stops the choice.
    pub(super) fn window(
        &self,
        log: &EventLog,
        set: &TaskSet,
        observer: &dyn Observer,
    ) -> Result<(f64, Vec<String>)> {
        let at_once = set.at_once(self.max_tasks);
        let chosen = self.t_fwd.choose(log, &set.tasks, at_once, observer)?;
        let found = chosen.suggestion.is_some();
        Ok((
            chosen.seconds,
            found.then(|| chosen.to_string()).into_iter().collect(),
        ))
    }

    /// The options of the engine, with a forward window of `t_fwd` seconds.
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
            min_fragment: self.min_fragment,
            hand_back: self.hand_back,
            rates: NodeRates {
                gpus: self.gpus_per_node,
                watts: self.node_power,
                price: self.price,
                currency: self.currency.clone(),
            },
            bound: self.bound,
        }
    }
}

named_values!(Algorithm:
    Algorithm::Random => "Every trial is trained to the end",
    Algorithm::SuccessiveHalving => "The best trials of each rung are promoted when all trials have reached the rung",
    Algorithm::Asha =>
        "Like successive-halving, but a trial is promoted as soon as it is among the best so far",
    Algorithm::Hyperband =>
        "Several rounds of successive halving, each with fewer trials and a higher first rung than the round before",
    Algorithm::Median =>
        "A trial is stopped if its best loss so far is above the median of the finished trials",
    Algorithm::Pbt =>
        "Bad trials are replaced by copies of good trials, with changed hyperparameters",
    Algorithm::Bohb =>
        "Like hyperband, but a model of the losses so far proposes the hyperparameters of new trials",
);

named_values!(Initial:
    Initial::Random => "Each node goes to a task drawn at random, as in the original",
    Initial::Solve => "The solver decides",
    Initial::Empty => "No task gets a node",
);

named_values!(NodeRule:
    NodeRule::Arrival => "Nodes that have been idle longest, as in the original",
    NodeRule::Blocks =>
        "Neighbours by name or --topology: they usually become busy together, so a task pays the rescale cost once",
    NodeRule::Learned =>
        "Neighbours in an order learnt from the log, for names that do not show where a node is",
);
