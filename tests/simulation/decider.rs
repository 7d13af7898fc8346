//! Three deciders: one that makes nonsensical random plans, which the core must follow, a greedy one, and the exact
//! solver.

use gleaner_classes::{self as classes, Choice, Held};
use gleaner_domain::error::Result;
use gleaner_domain::results::replay::StepStatus;
use gleaner_harvest::daemon;
use gleaner_replay::{Decider, Decision, Plan as Answer, SolverDecider};
use gleaner_solvers::{Limits, Problem};

use crate::groups::room;
use crate::noise::{For, Noise};
use crate::plan::{Decides, Plan};
use crate::sabotage::Sabotage;

/// Makes decisions with the decider that the plan of a run selects.
#[derive(Default)]
pub struct Chooser {
    noise: Noise,
    decides: Decides,
    exact: Option<SolverDecider>,
    /// Whether plans deliberately use more nodes than there are.
    is_broken: bool,
    /// Whether the faults have ceased, so that tasks must finish.
    pub is_calm: bool,
}

impl Chooser {
    pub fn new(plan: &Plan, sabotage: Option<Sabotage>) -> Self {
        let exact = || daemon::exact(&plan.settings, Limits::default()).unwrap();
        Chooser {
            noise: Noise(plan.seed),
            decides: plan.decider,
            exact: (plan.decider == Decides::Exact).then(exact),
            is_broken: sabotage == Some(Sabotage::BadPlans),
            is_calm: false,
        }
    }
}

impl Decider for Chooser {
    fn name(&self) -> &str {
        "chooser"
    }

    fn decide(&mut self, event: usize, problem: &Problem) -> Result<Decision> {
        if let Some(exact) = &mut self.exact {
            return exact.decide(event, problem);
        }
        let plan = if self.is_broken {
            Answer::Counts(vec![problem.nodes; problem.tasks.len()])
        } else if self.decides == Decides::Erratic && !self.is_calm {
            erratic(self.noise, event, problem)
        } else {
            Answer::Counts(greedy(problem))
        };
        Ok(decision(plan))
    }

    fn decide_in_classes(&mut self, event: usize, problem: &classes::Problem) -> Result<Decision> {
        if let Some(exact) = &mut self.exact {
            return exact.decide_in_classes(event, problem);
        }
        let plan = if self.is_broken {
            let count = problem.classes[0].capacity;
            let all = Some(Held { class: 0, count });
            Answer::InClasses(vec![all; problem.tasks.len()])
        } else if self.decides == Decides::Erratic && !self.is_calm {
            erratic_in_classes(self.noise, event, problem)
        } else {
            Answer::InClasses(greedy_in_classes(problem))
        };
        Ok(decision(plan))
    }
}

fn decision(plan: Answer) -> Decision {
    Decision {
        plan,
        status: StepStatus::Feasible,
        gap: None,
        micros: 0,
        is_short: false,
        prices: Vec::new(),
    }
}

/// Like [`erratic`], with nodes of several classes.
fn erratic_in_classes(noise: Noise, event: usize, problem: &classes::Problem) -> Answer {
    let mut draw = noise.draw(For::Decision, &[event as u64]);
    if draw.percent(20) {
        return Answer::Keep;
    }
    let mut free = capacities(problem);
    let mut plan = vec![None; problem.tasks.len()];
    let first = draw.below(plan.len());
    for offset in 0..plan.len() {
        let place = (first + offset) % plan.len();
        let options = problem.tasks[place].options.iter();
        let options = options.filter(|option| option.count <= free[option.class]);
        let options: Vec<Held> = options.map(held).collect();
        if !options.is_empty() && draw.percent(80) {
            let next = draw.pick(&options);
            free[next.class] -= next.count;
            plan[place] = Some(next);
        }
    }
    Answer::InClasses(plan)
}

/// Like [`greedy`], with nodes of several classes.
fn greedy_in_classes(problem: &classes::Problem) -> Vec<Option<Held>> {
    let mut free = capacities(problem);
    let tasks = || problem.tasks.iter();
    let kept = tasks().map(|task| {
        let options = task.options.iter().map(held);
        task.current
            .filter(|current| options.clone().any(|option| option == *current))
    });
    let mut plan: Vec<Option<Held>> = kept.collect();
    for kept in plan.iter().flatten() {
        free[kept.class] -= kept.count;
    }
    for (task, next) in tasks().zip(&mut plan) {
        let options = task.options.iter().map(held);
        let able = options.filter(|option| option.count <= free[option.class]);
        if next.is_none()
            && let Some(least) = able.min_by_key(|option| option.count)
        {
            free[least.class] -= least.count;
            *next = Some(least);
        }
    }
    for (task, next) in tasks().zip(&mut plan) {
        if let Some(next) = next {
            let own = task
                .options
                .iter()
                .filter(|option| option.class == next.class);
            let most = next.count + free[next.class];
            let counts = own
                .map(|option| option.count)
                .filter(|count| *count <= most);
            let count = counts.max().unwrap_or(next.count);
            free[next.class] -= count - next.count;
            next.count = count;
        }
    }
    plan
}

fn capacities(problem: &classes::Problem) -> Vec<u32> {
    problem.classes.iter().map(|class| class.capacity).collect()
}

fn held(option: &Choice) -> Held {
    Held {
        class: option.class,
        count: option.count,
    }
}

/// A random plan, or no plan, as if the solver had failed.
fn erratic(noise: Noise, event: usize, problem: &Problem) -> Answer {
    let mut draw = noise.draw(For::Decision, &[event as u64]);
    if draw.percent(20) {
        return Answer::Keep;
    }
    let mut free = problem.nodes;
    let mut counts = vec![0; problem.tasks.len()];
    let first = draw.below(counts.len());
    for offset in 0..counts.len() {
        let place = (first + offset) % counts.len();
        let task = &problem.tasks[place];
        let able = free.min(room(problem, &counts, place));
        if able >= task.min_nodes && draw.percent(80) {
            let most = i64::from(task.cap().min(able));
            counts[place] = draw.between(task.min_nodes.into(), most) as u32;
            free -= counts[place];
        }
    }
    Answer::Counts(counts)
}

/// Tasks keep their nodes. Then each task without nodes gets its minimum, in order. The remaining nodes go to the first
/// tasks that can use them.
fn greedy(problem: &Problem) -> Vec<u32> {
    let kept = problem.tasks.iter().map(|task| {
        let kept = task.current.min(task.cap());
        if kept >= task.min_nodes { kept } else { 0 }
    });
    let mut counts: Vec<u32> = kept.collect();
    let mut free = problem.nodes - counts.iter().sum::<u32>();
    for (place, task) in problem.tasks.iter().enumerate() {
        let able = free.min(room(problem, &counts, place));
        if counts[place] == 0 && able >= task.min_nodes {
            counts[place] = task.min_nodes;
            free -= counts[place];
        }
    }
    for (place, task) in problem.tasks.iter().enumerate() {
        let able = free.min(room(problem, &counts, place));
        let more = if counts[place] > 0 {
            able.min(task.cap() - counts[place])
        } else {
            0
        };
        counts[place] += more;
        free -= more;
    }
    counts
}
