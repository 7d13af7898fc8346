//! Deciders: a random one, which makes the core follow senseless plans, a greedy one, and the exact solver.

use gleaner_domain::error::Result;
use gleaner_domain::results::replay::StepStatus;
use gleaner_replay::{Decider, Decision, Plan as Answer, SolverDecider};
use gleaner_solvers::{Limits, Problem, SolverKind, SolverSpec};

use crate::noise::{For, Noise};
use crate::plan::{Decides, Plan};
use crate::sabotage::Sabotage;

/// Decides as a plan says.
#[derive(Default)]
pub struct Chooser {
    noise: Noise,
    decides: Decides,
    exact: Option<SolverDecider>,
    /// Whether plans have more nodes than there are.
    is_broken: bool,
    /// Whether nothing goes wrong any more, so that tasks must finish.
    pub is_calm: bool,
}

impl Chooser {
    pub fn new(plan: &Plan, sabotage: Option<Sabotage>) -> Self {
        let spec = SolverSpec::new(SolverKind::Exact);
        let exact = || SolverDecider::new(spec, Limits::default()).unwrap();
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
        Ok(Decision {
            plan,
            status: StepStatus::Feasible,
            gap: None,
            micros: 0,
            is_short: false,
            prices: Vec::new(),
        })
    }
}

/// A random plan, or none, as if the solver had failed.
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
        if free >= task.min_nodes && draw.percent(80) {
            let most = i64::from(task.cap().min(free));
            counts[place] = draw.between(task.min_nodes.into(), most) as u32;
            free -= counts[place];
        }
    }
    Answer::Counts(counts)
}

/// Tasks keep their nodes. Then each task gets its minimum in turn, and the rest goes to the first that can use it.
fn greedy(problem: &Problem) -> Vec<u32> {
    let kept = problem.tasks.iter().map(|task| {
        let kept = task.current.min(task.cap());
        if kept >= task.min_nodes { kept } else { 0 }
    });
    let mut counts: Vec<u32> = kept.collect();
    let mut free = problem.nodes - counts.iter().sum::<u32>();
    for (task, count) in problem.tasks.iter().zip(&mut counts) {
        if *count == 0 && free >= task.min_nodes {
            *count = task.min_nodes;
            free -= *count;
        }
    }
    for (task, count) in problem.tasks.iter().zip(&mut counts) {
        let more = if *count > 0 {
            free.min(task.cap() - *count)
        } else {
            0
        };
        *count += more;
        free -= more;
    }
    counts
}
