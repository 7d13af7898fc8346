//! Plans of replays.

use std::path::PathBuf;

use gleaner_solvers::{BigM, Formulation, Goal, SolverSpec};
use serde::Deserialize;
use toml::Spanned;

use super::axis::{Setting, values};
use super::check::Checker;
use super::settings::{ReplayChoices, ReplaySettings, TaskFiles};
use super::visit::{Axes, Pick, Visitor};
use super::{MAX_RUNS, PlanFault};
use gleaner_core::domain::{NodeRule, Objective, Slice};
use gleaner_replay::Initial;
use gleaner_search::Algorithm;
use gleaner_setup::replay::t_fwd;
use gleaner_setup::{Rules, SolverName, TFwd};

/// Settings that decide, with the tasks, how long a replay takes more or less.
const PROBLEM: [&str; 4] = ["window", "objective", "solver", "search"];

/// Settings on which checks of the objective and of the search depend, with the tasks.
const CHECKED: [&str; 4] = ["window", "max_tasks", "objective", "search"];

/// Which combination of a plan's settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Combination {
    /// Place of the tasks in the plan.
    pub tasks: usize,
    /// Place of the window in the plan.
    pub window: usize,
    /// Place of the solver in the plan.
    pub solver: usize,
    /// Equal in combinations that differ in the seed only.
    pub same_but_seed: u64,
    /// Equal in combinations with the same tasks, window, objective, solver and search.
    pub same_problem: u64,
    /// Equal in combinations of which the same has to be checked.
    pub same_checks: u64,
    /// Places of the values of all settings but the tasks.
    places: Vec<usize>,
}

/// Replays of one log. The private fields are the settings of runs. Most take a value or a
/// list; the others hold for all runs.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReplayPlan {
    /// The folder of the plan, from which its files and programs are seen. The empty path is the current
    /// folder.
    #[serde(skip)]
    pub folder: PathBuf,
    /// The file of the event log.
    pub events: PathBuf,
    /// Whether a fast copy of the log is kept beside it.
    #[serde(default)]
    pub cache: bool,
    /// Whether faulty tasks are left out.
    #[serde(default)]
    pub skip_invalid: bool,
    /// Whether every decision is checked.
    #[serde(default)]
    pub check: bool,
    /// Whether the tasks are submitted again when all of them are done.
    #[serde(default)]
    pub repeat_tasks: bool,
    /// Whether the bound of the work with hindsight is computed for every run.
    #[serde(default)]
    bound: bool,
    /// The file of the topology, which orders nodes for the rules of which nodes a task gets.
    #[serde(default)]
    pub topology: Option<PathBuf>,
    tasks: Spanned<super::Axis<TaskFiles>>,
    window: Setting<Slice>,
    t_fwd: Setting<TFwd>,
    max_tasks: Setting<usize>,
    objective: Setting<Objective>,
    solver: Setting<SolverName>,
    formulation: Option<Spanned<Formulation>>,
    big_m: Option<BigM>,
    time_limit: Option<Spanned<f64>>,
    gap: Option<Spanned<f64>>,
    initial: Setting<Initial>,
    node_choice: Setting<NodeRule>,
    seed: Setting<u64>,
    completion_events: Setting<bool>,
    search: Setting<Algorithm>,
}

impl ReplayPlan {
    /// The files of every set of tasks, in order.
    pub fn tasks(&self) -> &[TaskFiles] {
        &self.tasks.get_ref().0
    }

    /// Every file that the plan names, to resolve relative paths.
    pub fn paths_mut(&mut self) -> impl Iterator<Item = &mut PathBuf> {
        let tasks = self.tasks.get_mut().0.iter_mut();
        let tasks = tasks.flat_map(|files| [Some(&mut files.tasks), files.curves.as_mut()]);
        let log = std::iter::once(&mut self.events).chain(&mut self.topology);
        log.chain(tasks.flatten())
    }

    /// The settings that may be lists, in the order in which they are varied.
    fn axes(&self, visitor: &mut impl Visitor<ReplaySettings>) {
        let is_in_order = |w: &Slice| w.from.zip(w.to).is_none_or(|(from, to)| !from.is_after(to));
        let window = "a window whose `from` is not after its `to`";
        visitor.checked("window", &self.window, window, is_in_order, |s, v| {
            s.choices.window = v
        });
        let seconds = t_fwd::in_words();
        let is_sound = |t_fwd: &TFwd| t_fwd.is_sound();
        visitor.checked("t_fwd", &self.t_fwd, &seconds, is_sound, |s, v| {
            s.choices.rules.t_fwd = v
        });
        let is_positive = |&count: &usize| count > 0;
        visitor.checked(
            "max_tasks",
            &self.max_tasks,
            "at least 1",
            is_positive,
            |s, v| s.choices.rules.max_tasks = v,
        );
        visitor.axis("objective", &self.objective, |s, v| {
            s.choices.rules.objective = v
        });
        visitor.axis("solver", &self.solver, |s, v| s.choices.solver = v);
        visitor.axis("initial", &self.initial, |s, v| s.choices.rules.initial = v);
        visitor.axis("node_choice", &self.node_choice, |s, v| {
            s.choices.rules.node_choice = v
        });
        visitor.axis("seed", &self.seed, |s, v| s.choices.rules.seed = v);
        visitor.axis("completion_events", &self.completion_events, |s, v| {
            s.choices.rules.completion_events = v
        });
        visitor.axis("search", &self.search, |s, v| {
            s.choices.rules.search = Some(v)
        });
    }

    /// All faults of the plan.
    pub fn check(&self) -> Vec<PlanFault> {
        let mut checker = Checker::default();
        self.axes(&mut checker);
        checker.single(
            "time_limit",
            &self.time_limit,
            "seconds of at least 0",
            |&s| std::time::Duration::try_from_secs_f64(s).is_ok(),
        );
        checker.single("gap", &self.gap, "at least 0 and below 1", |gap| {
            (0.0..1.0).contains(gap)
        });
        self.check_tasks(&mut checker);
        checker.choices(|checker| {
            self.check_solvers(checker);
            self.check_formulation(checker);
        });
        self.check_size(&mut checker);
        checker.faults
    }

    fn check_tasks(&self, checker: &mut Checker) {
        let (at, tasks) = (Some(self.tasks.span().start), self.tasks());
        if tasks.is_empty() {
            checker.add(at, "tasks", "an empty list", "at least one file");
        }
        for (i, files) in tasks.iter().enumerate() {
            if tasks[..i].contains(files) {
                let found = format!("{} a second time", files.tasks.display());
                checker.add(at, "tasks", found, "every file once");
            }
        }
    }

    fn check_solvers(&self, checker: &mut Checker) {
        let built = |name: &SolverName| match name {
            SolverName::Ours(kind) => SolverSpec::new(*kind).build().is_ok(),
            SolverName::Program(_) => true,
        };
        let Some(setting) = &self.solver else { return };
        for kind in setting.get_ref().0.iter().filter(|kind| !built(kind)) {
            let expected = "a solver that this build has";
            let at = Some(setting.span().start);
            checker.add(at, "solver", kind.to_string(), expected);
        }
    }

    fn check_formulation(&self, checker: &mut Checker) {
        let Some(formulation) = &self.formulation else {
            return;
        };
        let at = Some(formulation.span().start);
        let solvers = values(&self.solver, SolverName::default());
        if !solvers.iter().any(|kind| kind.is_milp()) {
            let found = "a formulation without a solver that has one";
            checker.add(at, "formulation", found, "highs or cbc among the solvers");
        }
        let objectives = values(&self.objective, Objective::default());
        let is_fair = objectives
            .iter()
            .any(|objective| objective.goal() == Goal::MaxMin);
        if is_fair && *formulation.get_ref() == Formulation::Paper {
            let expected = "counts, as max-min objectives need it";
            checker.add(at, "formulation", "\"paper\"", expected);
        }
    }

    fn check_size(&self, checker: &mut Checker) {
        let tasks = self.tasks().len();
        let runs = checker.runs.and_then(|runs| runs.checked_mul(tasks));
        if runs.is_none_or(|runs| runs > MAX_RUNS) {
            let found = runs.map_or("more runs than can be counted".into(), |n| {
                format!("{n} runs")
            });
            checker.add(None, "replay", found, format!("at most {MAX_RUNS}"));
        }
    }

    /// The settings that the plan gives.
    fn given(&self) -> Axes {
        let mut axes = Axes::default();
        self.axes(&mut axes);
        axes
    }

    /// Number of combinations of settings: tasks, then the others in the order in which they are
    /// varied, the last fastest.
    pub fn count(&self) -> usize {
        self.tasks().len() * self.given().count()
    }

    /// The combination at this index.
    pub fn combination(&self, index: usize) -> Combination {
        let axes = self.given();
        let (tasks, rest) = (index / axes.count(), index % axes.count());
        let places = axes.places(rest);
        let of = |name| axes.place_of(name, &places);
        let same =
            |keeps: fn(&str) -> bool| (tasks * axes.count() + axes.index_of(&places, keeps)) as u64;
        Combination {
            tasks,
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
        let mut pick = Pick {
            settings: ReplaySettings {
                files: self.tasks()[one.tasks].clone(),
                choices: self.defaults(),
            },
            places: &one.places,
        };
        self.axes(&mut pick);
        pick.settings
    }

    /// The windows of the log, in the order of the plan.
    pub fn windows(&self) -> Vec<Slice> {
        values(&self.window, Slice::default())
    }

    /// The rules of which nodes a task gets.
    pub fn node_choices(&self) -> Vec<NodeRule> {
        values(&self.node_choice, self.defaults().rules.node_choice)
    }

    /// The forward windows, some of which may have to be found.
    pub fn t_fwds(&self) -> Vec<TFwd> {
        values(&self.t_fwd, self.defaults().rules.t_fwd)
    }

    /// The solvers, in the order of the plan.
    pub fn solvers(&self) -> Vec<SolverName> {
        values(&self.solver, SolverName::default())
    }

    fn defaults(&self) -> ReplayChoices {
        let number = |given: &Option<Spanned<f64>>, default| {
            given.as_ref().map_or(default, |s| *s.get_ref())
        };
        ReplayChoices {
            window: Slice::default(),
            rules: Rules {
                repeat_tasks: self.repeat_tasks,
                bound: self.bound,
                ..Rules::default()
            },
            solver: SolverName::default(),
            formulation: self
                .formulation
                .as_ref()
                .map(|f| *f.get_ref())
                .unwrap_or_default(),
            big_m: self.big_m.unwrap_or_default(),
            time_limit: number(&self.time_limit, 10.0),
            gap: number(&self.gap, 1e-9),
        }
    }
}
