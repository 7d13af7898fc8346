//! Plans of replays.

use std::path::{Path, PathBuf};

use gleaner_solvers::{Formulation, Goal, SolverSpec};
use toml::Value;

use super::axes::Axes;
use super::replication::{Cut, ONE_OF_THEM, ReplicationArgs};
use super::table::{Grammar, Group, Mismatch, PlanFault, Table, Words};
use gleaner_domain::error::Result;
use gleaner_domain::results::sweep::Mode;
use gleaner_domain::{NodeRule, Slice};
use gleaner_setup::settings::Change;
use gleaner_setup::{ReplaySettings, SolverName, TFwd, settings};

/// The settings with the greatest effect on the duration of a replay.
const PROBLEM: [&str; 5] = ["tasks", "window", "objective", "solver", "search"];

/// Settings that affect the checks of the objective and of the search.
const CHECKED: [&str; 5] = ["tasks", "window", "max_tasks", "objective", "search"];

/// A set of tasks, given as a file or as a table of two files.
const TASKS: Group = Group {
    name: "tasks",
    parts: &["tasks", "curves"],
};

/// A window of the log, given as a table.
const WINDOW: Group = Group {
    name: "window",
    parts: &[
        "skip_rows",
        "first_node",
        "nodes",
        "from",
        "to",
        "drop_end_row",
        "all_rows",
    ],
};

/// Settings that a plan must not contain.
const EXCLUDED: &[&str] = &["timezone", "scripted", "strict"];

settings! {
    /// All settings of a plan of replays.
    #[derive(Debug, Clone)]
    pub struct PlanSettings {
        /// The settings of a replay.
        pub replay: ReplaySettings;
        /// The parts into which the log is cut.
        pub replication: ReplicationArgs;
    }
}

/// A combination of a plan's settings, given as the index of each setting's value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Combination {
    /// Index of the set of tasks in the plan.
    pub tasks: usize,
    /// Index of the window in the plan.
    pub window: usize,
    /// Index of the solver in the plan.
    pub solver: usize,
    /// A number that is the same for combinations that differ only in the seed.
    pub same_but_seed: u64,
    /// A number that is the same for combinations with the same tasks, window, objective, solver and search.
    pub same_problem: u64,
    /// A number that is the same for combinations that require the same checks.
    pub same_checks: u64,
    /// For each setting, the index of its value.
    places: Vec<usize>,
}

/// Replays of one log.
#[derive(Debug)]
pub struct ReplayPlan {
    /// The folder of the plan, to which paths of programs are relative. The empty path is the current folder.
    pub folder: PathBuf,
    /// The settings that all runs share.
    pub base: PlanSettings,
    axes: Axes<PlanSettings>,
}

impl ReplayPlan {
    /// Reads the table of a plan in `folder`. Returns the plan and all its faults.
    pub(super) fn read(table: &Table, folder: &Path) -> (Self, Vec<PlanFault>) {
        let grammar = Grammar {
            columns: Mode::Replay.settings(),
            groups: &[TASKS, WINDOW],
            excluded: EXCLUDED,
            special,
        };
        let (given, mut faults) = grammar.read(table, folder);
        for name in ["events", "tasks"] {
            if !given.names.contains(name) {
                let found = format!("missing field `{name}`");
                let at = Some(table.span().start);
                faults.push(PlanFault::new(at, "", found, "the log and the tasks"));
            }
        }
        let plan = ReplayPlan {
            folder: folder.to_owned(),
            base: given.base,
            axes: given.axes,
        };
        plan.check_solvers(&mut faults);
        plan.check_formulation(&mut faults);
        plan.check_cut(table, &mut faults);
        (plan, faults)
    }

    fn check_solvers(&self, faults: &mut Vec<PlanFault>) {
        let Some(axis) = self.axes.named("solver") else {
            return;
        };
        for name in self.solvers() {
            let SolverName::Ours(kind) = name else {
                continue;
            };
            if SolverSpec::new(kind).build().is_err() {
                let expected = "a solver that this build supports";
                let found = SolverName::Ours(kind).to_string();
                faults.push(choice(axis.at, "solver", found, expected));
            }
        }
    }

    fn check_formulation(&self, faults: &mut Vec<PlanFault>) {
        let Some(axis) = self.axes.named("formulation") else {
            return;
        };
        if !self.solvers().iter().any(SolverName::is_milp) {
            let found = "a formulation, but no solver that uses it";
            let expected = "highs or cbc among the solvers";
            faults.push(choice(axis.at, "formulation", found, expected));
        }
        let goal = |settings: &PlanSettings| settings.replay.log.rules.objective.goal();
        let goals = self.axes.each(&self.base, "objective", goal);
        let formulations = self.axes.each(&self.base, "formulation", |settings| {
            settings.replay.solver.formulation
        });
        if goals.contains(&Goal::MaxMin) && formulations.contains(&Some(Formulation::Paper)) {
            let expected = "counts, because max-min objectives need it";
            faults.push(choice(axis.at, "formulation", "\"paper\"", expected));
        }
    }

    /// Adds a fault if the plan cuts its log both into windows and into blocks. The ranges of the numbers have already
    /// been checked.
    fn check_cut(&self, table: &Table, faults: &mut Vec<PlanFault>) {
        let args = &self.base.replication;
        if args.windows.is_some() && args.bootstrap.is_some() {
            let at = table
                .get_ref()
                .get("windows")
                .map(|value| value.span().start);
            let found = "windows and bootstrap";
            faults.push(PlanFault::new(
                at,
                "windows",
                found,
                ONE_OF_THEM.replace("--", ""),
            ));
        }
    }

    /// The parts into which the plan cuts the log.
    ///
    /// # Errors
    /// The settings are invalid.
    pub fn cut(&self) -> Result<Cut> {
        self.base.replication.cut()
    }

    /// The first seed of the plan.
    pub fn first_seed(&self) -> u64 {
        let seeds = self.axes.each(&self.base, "seed", |settings| {
            settings.replay.log.rules.seed
        });
        seeds.first().copied().unwrap_or_default()
    }

    /// Number of combinations of settings; `None` if it overflows. If the log is cut, each combination has several
    /// runs.
    pub(super) fn runs(&self) -> Option<usize> {
        self.axes.checked_count()
    }

    /// Number of combinations of settings.
    pub fn count(&self) -> usize {
        self.axes.count()
    }

    /// The combination with this index. The last setting varies fastest.
    pub fn combination(&self, index: usize) -> Combination {
        let places = self.axes.places(index);
        let of = |name| self.axes.place_of(name, &places);
        let same = |keeps: fn(&str) -> bool| self.axes.index_of(&places, keeps) as u64;
        Combination {
            tasks: of("tasks"),
            window: of("window"),
            solver: of("solver"),
            same_but_seed: same(|name| name != "seed"),
            same_problem: same(|name| PROBLEM.contains(&name)),
            same_checks: same(|name| CHECKED.contains(&name)),
            places,
        }
    }

    /// The settings of a combination.
    pub fn settings(&self, one: &Combination) -> ReplaySettings {
        self.axes.settings(&self.base, &one.places).replay
    }

    /// The settings that all runs share, combined with each set of tasks, in the order of the plan.
    pub fn tasks(&self) -> Vec<ReplaySettings> {
        self.axes
            .each(&self.base, "tasks", |settings| settings.replay.clone())
    }

    /// The windows of the log, in the order of the plan.
    pub fn windows(&self) -> Vec<Slice> {
        self.axes.each(&self.base, "window", |settings| {
            settings.replay.log.slice.slice()
        })
    }

    /// The rules for the choice of nodes, in the order of the plan.
    pub fn node_choices(&self) -> Vec<NodeRule> {
        self.axes.each(&self.base, "node_choice", |settings| {
            settings.replay.log.rules.node_choice
        })
    }

    /// The forward windows, in the order of the plan. Some of them may be `auto`, which the caller must resolve.
    pub fn t_fwds(&self) -> Vec<TFwd> {
        self.axes.each(&self.base, "t_fwd", |settings| {
            settings.replay.log.rules.t_fwd
        })
    }

    /// The solvers, in the order of the plan.
    pub fn solvers(&self) -> Vec<SolverName> {
        self.axes.each(&self.base, "solver", |settings| {
            settings.replay.solver.solver.clone()
        })
    }
}

/// A fault that concerns only the choice of the solver.
fn choice(at: usize, field: &str, found: impl Into<String>, expected: &str) -> PlanFault {
    PlanFault {
        wrong_choice: true,
        ..PlanFault::new(Some(at), field, found, expected)
    }
}

/// Reads tasks and windows, whose values may be tables.
fn special(
    words: &Words<'_, PlanSettings>,
    name: &str,
    value: &Value,
) -> Option<std::result::Result<Change<PlanSettings>, Mismatch>> {
    match (name, value) {
        ("tasks", Value::Table(files)) => Some(if files.len() == TASKS.parts.len() {
            words.together(TASKS.parts, files)
        } else {
            Err((value.to_string(), TASK_FILES.to_owned()))
        }),
        ("tasks", Value::String(_)) => None,
        ("tasks", _) => Some(Err((value.to_string(), TASK_FILES.to_owned()))),
        ("window", Value::Table(parts)) => Some(window(words, parts, value)),
        ("window", _) => {
            let expected = "a window such as { skip_rows = 1000, nodes = 100 }";
            Some(Err((value.to_string(), expected.to_owned())))
        }
        _ => None,
    }
}

const TASK_FILES: &str = "a file, or { tasks = FILE, curves = FILE }";

/// Reads a window, and checks that its times are in order.
fn window(
    words: &Words<'_, PlanSettings>,
    parts: &toml::map::Map<String, Value>,
    value: &Value,
) -> std::result::Result<Change<PlanSettings>, Mismatch> {
    let change = words.together(WINDOW.parts, parts)?;
    let mut settings = PlanSettings::default();
    change.apply(&mut settings);
    let slice = &settings.replay.log.slice;
    if slice
        .from
        .zip(slice.to)
        .is_some_and(|(from, to)| from.is_after(to))
    {
        let expected = "a window whose `from` is not after its `to`";
        return Err((value.to_string(), expected.to_owned()));
    }
    Ok(change)
}
