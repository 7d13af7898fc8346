//! The figures of a replay, each with its label, its explanation, and the formats of its values and their changes.

use gleaner_document::numbers::{change, count, hours, large, number, percent, points};
use gleaner_document::{Fact, numbers};
use gleaner_domain::results::replay::Summary;
use gleaner_domain::words::duration;

/// A figure of a replay.
pub struct Quantity {
    /// The figure's name.
    pub label: &'static str,
    /// Explanation, which may be empty.
    pub meaning: &'static str,
    /// Depth in the hierarchy: the number of figures that enclose this figure.
    pub depth: usize,
    /// The figure's value in a replay; `None` if the value is undefined in the replay.
    pub of: fn(&Summary) -> Option<f64>,
    /// Formats a value.
    pub tell: fn(f64) -> String,
    /// Formats the change between two values.
    pub change: fn(f64, f64) -> String,
    is_main: bool,
    remark: Option<fn(&Summary) -> String>,
    /// The text that is shown if there is no value. If the text is empty, the figure is left out.
    missing: &'static str,
}

impl Quantity {
    /// The figure's value in a replay, or the text that is shown if there is no value; `None` if there is neither.
    pub fn fact(&self, s: &Summary) -> Option<Fact> {
        let fact = match ((self.of)(s), self.missing) {
            (Some(value), _) => {
                let remark = self.remark.map_or(String::new(), |remark| remark(s));
                Fact::new(self.label, (self.tell)(value)).remark(remark)
            }
            (None, "") => return None,
            (None, missing) => Fact::new(self.label, missing),
        };
        Some(Fact {
            meaning: self.meaning,
            depth: self.depth,
            is_main: self.is_main,
            ..fact
        })
    }

    const fn new(label: &'static str, of: fn(&Summary) -> Option<f64>) -> Self {
        Quantity {
            label,
            meaning: "",
            depth: 0,
            of,
            tell: number,
            change,
            is_main: false,
            remark: None,
            missing: "",
        }
    }

    /// Creates a figure that is a count.
    const fn count(label: &'static str, of: fn(&Summary) -> Option<f64>) -> Self {
        Quantity {
            tell: count,
            ..Quantity::new(label, of)
        }
    }

    /// Creates a figure in node-seconds, which is shown in node-hours.
    const fn node_time(label: &'static str, of: fn(&Summary) -> Option<f64>) -> Self {
        Quantity {
            tell: node_hours,
            ..Quantity::new(label, of)
        }
    }

    /// Creates a figure of work, in the units of the scaling curves.
    const fn work(label: &'static str, of: fn(&Summary) -> Option<f64>) -> Self {
        Quantity {
            tell: large,
            ..Quantity::new(label, of)
        }
    }

    /// Creates a figure in seconds.
    const fn time(label: &'static str, of: fn(&Summary) -> Option<f64>) -> Self {
        Quantity {
            tell: duration,
            ..Quantity::new(label, of)
        }
    }

    /// Creates a figure that is a share, shown as a percentage.
    const fn share(label: &'static str, of: fn(&Summary) -> Option<f64>) -> Self {
        Quantity {
            tell: percent,
            change: points,
            ..Quantity::new(label, of)
        }
    }

    /// Creates a figure that is the loss of a trial.
    const fn loss(label: &'static str, of: fn(&Summary) -> Option<f64>) -> Self {
        Quantity {
            tell: loss,
            ..Quantity::new(label, of)
        }
    }

    const fn main(self) -> Self {
        Quantity {
            is_main: true,
            ..self
        }
    }

    const fn part(self, depth: usize) -> Self {
        Quantity { depth, ..self }
    }

    const fn meaning(self, meaning: &'static str) -> Self {
        Quantity { meaning, ..self }
    }

    const fn remark(self, remark: fn(&Summary) -> String) -> Self {
        Quantity {
            remark: Some(remark),
            ..self
        }
    }

    const fn missing(self, missing: &'static str) -> Self {
        Quantity { missing, ..self }
    }
}

/// The figures of every replay, in the order in which they are shown.
pub const QUANTITIES: [Quantity; 29] = [
    Quantity::node_time("idle node-time", |s| Some(s.idle_node_seconds))
        .main()
        .remark(|s| format!("({} nodes on average)", number(s.idle_nodes_mean()))),
    Quantity::node_time("unused", |s| Some(s.unused_node_seconds))
        .part(1)
        .remark(|s| idle(s, s.unused_node_seconds))
        .meaning("idle node-time during which no task held the node"),
    Quantity::node_time("used by tasks", |s| Some(s.used_node_seconds))
        .part(1)
        .main()
        .remark(|s| idle(s, s.used_node_seconds))
        .meaning("idle node-time during which a task held the node"),
    Quantity::new("GPU time", |s| s.gpu_hours)
        .part(2)
        .remark(|_| "GPU-hours".to_owned())
        .meaning("used node-time, multiplied by the number of GPUs of a node (--gpus-per-node)"),
    Quantity::new("energy", |s| s.energy_kwh)
        .part(2)
        .remark(|_| "kWh".to_owned())
        .meaning("used node-time, multiplied by the power of a used node (--node-power)"),
    Quantity::new("cost of the energy", |s| s.energy_cost)
        .part(2)
        .remark(|s| s.currency.clone().unwrap_or_default())
        .meaning("energy of the used nodes, multiplied by the price of a kilowatt-hour (--price)"),
    Quantity::node_time("before completion", |s| {
        Some(s.before_completion_node_seconds)
    })
    .part(2)
    .remark(|s| idle(s, s.before_completion_node_seconds))
    .meaning("node-time held by running tasks before their completion"),
    Quantity::node_time("after completion", |s| {
        Some(without_noise(
            s.after_completion_node_seconds,
            s.idle_node_seconds,
        ))
    })
    .part(2)
    .remark(|s| idle(s, s.after_completion_node_seconds))
    .meaning(
        "node-time held by finished tasks until the next event (only with --no-completion-events)",
    ),
    Quantity::node_time("too few nodes", |s| Some(s.below_minimum_node_seconds))
        .part(2)
        .remark(|s| idle(s, s.below_minimum_node_seconds))
        .meaning(
            "node-time held by tasks that a preemption left with fewer nodes than they need to run",
        ),
    Quantity::work("possible work", |s| Some(s.gross_work))
        .remark(|_| "in the units of the scaling curves, summed over all tasks".to_owned())
        .meaning(
        "work that the tasks would have done without any losses, at the rates of their scaling curves. Work is in the \
         units of the scaling curves (images, samples), summed over all tasks. Compare totals only between runs \
         of the same tasks; shares can be compared between any runs",
    ),
    Quantity::work("useful work", |s| Some(s.total_work))
        .part(1)
        .main()
        .remark(|s| possible(s, s.total_work))
        .meaning("work that brought tasks closer to completion"),
    Quantity::work("lost to rescaling", |s| Some(without_noise(s.rescale_loss, s.gross_work)))
        .part(1)
        .remark(|s| possible(s, s.rescale_loss))
        .meaning("work lost because tasks pause when they grow or shrink, or start at the first event of the log"),
    Quantity::work("lost to preemption", |s| {
        Some(without_noise(s.preemption_loss, s.gross_work))
    })
    .part(1)
    .remark(|s| possible(s, s.preemption_loss))
    .meaning("work lost because the batch scheduler took nodes back"),
    Quantity::new("tasks hit", |s| s.tasks_hit_mean)
        .part(2)
        .remark(|_| "on average when nodes are taken back".to_owned())
        .meaning("mean number of tasks that lost progress at an event at which nodes were taken back"),
    Quantity::work("lost after completion", |s| {
        Some(without_noise(s.after_completion_work, s.gross_work))
    })
    .part(1)
    .remark(|s| possible(s, s.after_completion_work))
    .meaning(
        "work that finished tasks could have done until the next event (only with --no-completion-events)",
    ),
    Quantity::share("efficiency", |s| s.efficiency)
        .main()
        .remark(|s| {
            let nodes = number(s.equivalent_nodes);
            format!("of the work of {nodes} dedicated nodes")
        })
        .missing("not applicable: no task was active")
        .meaning(
            "useful work as a share of the work that the same tasks would have done on a constant number of \
             dedicated nodes, equal to the mean number of idle nodes",
        ),
    Quantity::share("without costs", |s| s.fluid_efficiency)
        .part(1)
        .remark(|_| {
            "of the work possible without the costs of rescaling and preemption".to_owned()
        })
        .meaning(
            "useful work as a share of the work that the tasks would have done if each best plan had taken effect \
             immediately, and if rescaling and preemption had cost nothing",
        ),
    Quantity::share("with hindsight", |s| s.bound_efficiency)
        .part(1)
        .remark(|_| "of the bound with hindsight".to_owned())
        .meaning(
            "useful work as a share of an upper bound on the work of any allocator, even one that knew the \
             whole log (--bound)",
        ),
    Quantity::count("delayed batch jobs", |s| s.delayed_jobs.map(|jobs| jobs as f64))
        .main()
        .remark(|s| {
            let seconds = duration(s.hand_back_seconds.unwrap_or_default());
            let jobs = match s.delayed_jobs_are_events {
                Some(true) => " (events at which tasks lost nodes: the log does not name jobs)",
                _ => "",
            };
            format!("by {seconds} each{jobs}")
        })
        .meaning("batch jobs that started later because a task held one of their nodes (--hand-back)"),
    Quantity::node_time("delayed node-time", |s| s.delayed_node_seconds)
        .part(1)
        .meaning("delay of each delayed batch job, multiplied by the job's number of nodes and summed over the jobs"),
    Quantity::share("slowest task", |s| s.fairness_min)
        .remark(|_| "of its progress on all nodes that it can use".to_owned())
        .missing("not applicable: no task made progress")
        .meaning("the lowest progress of any task, as a share of its progress on all nodes that it can use"),
    Quantity::new("evenness", |s| s.fairness_jain)
        .remark(|_| "(1: all tasks made the same share of their possible progress)".to_owned())
        .meaning(
            "evenness of the tasks' progress (Jain's index): 1 if all tasks made the same share of their possible \
             progress, 1/n if only one of n tasks made progress",
        ),
    Quantity::count("tasks", |s| Some(s.tasks as f64)).remark(rounds),
    Quantity::count("started", |s| Some(s.tasks_started as f64)).part(1),
    Quantity::count("tasks finished", |s| Some(s.tasks_finished as f64))
        .part(1)
        .main()
        .remark(|s| format!("of {} tasks", count(s.tasks))),
    Quantity::time("mean time to completion", |s| s.completion_mean_s)
        .main()
        .meaning("mean of the times from a task's submission to its end, for the tasks that finished"),
    Quantity::time("median", |s| s.completion_median_s)
        .part(1)
        .meaning("median time from a task's submission to its end, for the tasks that finished"),
    Quantity::time("last task", |s| s.completion_last_s)
        .part(1)
        .remark(|_| "after the first event".to_owned())
        .meaning("time from the first event to the end of the last task that finished"),
    Quantity::count("deadlines met", |s| Some(s.deadlines_met? as f64)).remark(|s| {
        let deadlines = s.deadlines.unwrap_or_default();
        format!("of {}", count(deadlines))
    }),
];

/// The figures of a replay's search.
pub const SEARCHED: [Quantity; 13] = [
    Quantity::count("trials started", |s| trials(s.trials_started)),
    Quantity::count("stopped", |s| trials(s.trials_stopped))
        .part(1)
        .meaning("trials that were stopped before the last rung"),
    Quantity::count("finished", |s| trials(s.trials_finished))
        .part(1)
        .meaning("trials that reached the last rung"),
    Quantity::count("in progress at the end", in_progress).part(1),
    Quantity::new("trials measured per hour", |s| s.trials_per_hour)
        .meaning("trials that reached a rung, per hour of replayed time"),
    Quantity::time("time to the first rung", |s| s.first_rung_s),
    Quantity::time("time to the last rung", |s| s.last_rung_s),
    Quantity::loss("best loss", |s| s.best_loss)
        .missing("none: no trial reached the last rung")
        .remark(|s| match s.front_trials {
            Some(_) => "(the first of several losses)".to_owned(),
            None => String::new(),
        })
        .meaning("lowest loss of the trials that reached the last rung"),
    Quantity::time("time to the best trial", |s| s.best_trial_s),
    Quantity::loss("regret", |s| s.regret)
        .meaning(
            "final loss of the best finished trial minus the lowest final loss of all started trials, both \
             without noise",
        ),
    Quantity::count("trials on the front", |s| trials(s.front_trials))
        .meaning(
            "finished trials on the front: no other finished trial is at least as good in all losses and better in \
             at least one",
        ),
    Quantity::work("wasted work", |s| s.wasted_work)
        .meaning("work for trials that did not reach the last rung"),
    Quantity::share("wasted share", wasted_share)
        .part(1)
        .remark(|_| "of the work done".to_owned()),
];

fn node_hours(seconds: f64) -> String {
    format!("{} node-hours", hours(seconds))
}

/// A part as a share of the idle node-time.
fn idle(s: &Summary, seconds: f64) -> String {
    bracketed(seconds, s.idle_node_seconds)
}

/// A part as a share of the possible work.
fn possible(s: &Summary, work: f64) -> String {
    bracketed(work, s.gross_work)
}

fn bracketed(part: f64, whole: f64) -> String {
    format!("({})", numbers::part(without_noise(part, whole), whole))
}

/// The part, or 0 if its share of the whole is so small that it is only a rounding error of completion times.
fn without_noise(part: f64, whole: f64) -> f64 {
    if part > 1e-9 * whole { part } else { 0.0 }
}

fn rounds(s: &Summary) -> String {
    match (s.tasks_endless, s.rounds) {
        (0, 1) => String::new(),
        (0, rounds) => format!("in {rounds} rounds"),
        (endless, 1) => format!("({endless} endless)"),
        (endless, rounds) => format!("in {rounds} rounds ({endless} endless)"),
    }
}

fn trials(number: Option<usize>) -> Option<f64> {
    number.map(|number| number as f64)
}

/// Number of trials that were neither stopped nor finished.
fn in_progress(s: &Summary) -> Option<f64> {
    let ended = s.trials_stopped?.saturating_add(s.trials_finished?);
    Some(s.trials_started?.saturating_sub(ended) as f64)
}

fn wasted_share(s: &Summary) -> Option<f64> {
    let wasted = s.wasted_work?;
    (s.total_work > 0.0).then(|| wasted / s.total_work)
}

/// A loss with four significant digits, because the losses of good trials differ little.
pub fn loss(value: f64) -> String {
    match value.abs() {
        size if !size.is_finite() => "none".to_owned(),
        0.0 => "0".to_owned(),
        size if !(1e-3..1e4).contains(&size) => format!("{value:.3e}"),
        size => {
            let decimals = (3 - size.log10().floor() as i32).max(0);
            format!("{value:.*}", decimals as usize)
        }
    }
}
