//! Compares an exact solver that solves a sequence of problems, as it does in a replay, with a new solver for each
//! problem.

use crate::common;
use gleaner_solvers::backends::Exact;
use gleaner_solvers::{Allocation, BigM, Goal, Limits, Problem, Solver, Task, check};
use proptest::prelude::*;
use proptest::sample::Index;

/// The changes between one problem and the next.
#[derive(Debug, Clone)]
struct Event {
    nodes: u32,
    goal: Goal,
    /// Indices of the tasks that leave.
    gone: Vec<Index>,
    /// Tasks that arrive: for each, the index of its template in `sorts`, and the position at which it is inserted.
    new: Vec<(Index, Index)>,
    /// Tasks that lose nodes, each with the number of nodes that it loses.
    cut: Vec<(Index, u32)>,
}

fn event() -> impl Strategy<Value = Event> {
    let some = |most| prop::collection::vec(any::<Index>(), 0..most);
    let new = prop::collection::vec((any::<Index>(), any::<Index>()), 0..5);
    let cut = prop::collection::vec((any::<Index>(), 1u32..4), 0..3);
    let goal = prop_oneof![3 => Just(Goal::Total), 1 => Just(Goal::MaxMin)];
    (0u32..60, goal, some(3), new, cut).prop_map(|(nodes, goal, gone, new, cut)| Event {
        nodes,
        goal,
        gone,
        new,
        cut,
    })
}

/// Applies `event`, which turns one problem into the next. Each new task is a copy of a task in
/// `sorts`; copies of the same task share its curve.
fn happen(problem: &mut Problem, event: &Event, sorts: &[Task], serial: &mut u32) {
    let tasks = &mut problem.tasks;
    for (task, nodes) in &event.cut {
        if !tasks.is_empty() {
            let task = task.index(tasks.len());
            tasks[task].current = tasks[task].current.saturating_sub(*nodes);
        }
    }
    for task in &event.gone {
        if !tasks.is_empty() {
            tasks.remove(task.index(tasks.len()));
        }
    }
    for (sort, place) in &event.new {
        *serial += 1;
        let name = format!("t{serial}");
        let sort = sort.get(sorts).clone();
        tasks.insert(place.index(tasks.len() + 1), Task { name, ..sort });
    }
    (problem.nodes, problem.goal) = (event.nodes, event.goal);
}

fn solve(solver: &mut Exact, problem: &Problem) -> Allocation {
    solver.solve(problem, &Limits::default()).unwrap()
}

/// The same problem, in which no two tasks share a curve in memory.
fn unshared(problem: &Problem) -> Problem {
    let mut problem = problem.clone();
    for task in &mut problem.tasks {
        task.curve_nodes = task.curve_nodes.to_vec().into();
        task.curve_objective = task.curve_objective.to_vec().into();
    }
    problem
}

proptest! {
    #![proptest_config(gleaner_testing::cases(1_000))]

    #[test]
    fn answers_do_not_depend_on_the_problems_before(
        sorts in prop::collection::vec(common::task(), 1..5),
        t_fwd in prop_oneof![Just(10.0), 0.5..600.0],
        big_m in prop_oneof![4 => Just(BigM::Corrected), 1 => Just(BigM::Paper)],
        events in prop::collection::vec(event(), 1..12),
    ) {
        let mut problem = Problem {
            id: "random".into(),
            nodes: 0,
            t_fwd,
            tasks: vec![],
            groups: vec![],
            goal: Goal::Total,
        };
        let (mut warm, mut serial) = (Exact::new(big_m), 0);
        for event in &events {
            happen(&mut problem, event, &sorts, &mut serial);
            let answer = solve(&mut warm, &problem);
            prop_assert_eq!(check(&problem, &answer, big_m), Ok(()));
            prop_assert_eq!(&answer, &solve(&mut Exact::new(big_m), &problem));
            // Without shared curves, the solver does not notice that tasks are alike, but the
            // answer must be the same.
            prop_assert_eq!(&answer, &solve(&mut Exact::new(big_m), &unshared(&problem)));
            let counts = answer.counts.unwrap_or_default();
            for (task, count) in problem.tasks.iter_mut().zip(counts) {
                task.current = count;
            }
        }
    }
}
