//! Tests of the choice of nodes for growing tasks.

use std::sync::Arc;

use gleaner_domain::results::replay::{AllocationRow, Outcome, Summary};
use gleaner_domain::{Change, EventLog, EventLogBuilder, NodeOrder, NodeRule, TrainingTask, Utc};
use gleaner_replay::node_choice::{Blocks, Growing, NodeChoice};
use gleaner_replay::nodes::{NodePool, NodeSet};
use gleaner_replay::{Initial, Options};
use gleaner_solvers::SolverKind;
use gleaner_synth::tasks::TaskOptions;
use proptest::prelude::*;
use rand::RngExt;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

use crate::support::{options, published_tasks, replay, solver, summit};

fn run(log: &EventLog, tasks: &[TrainingTask], options: &Options, rule: NodeRule) -> Outcome {
    let options = Options {
        node_choice: rule,
        ..options.clone()
    };
    replay(log, tasks, &options, &mut solver(SolverKind::Exact)).unwrap()
}

/// Tasks that never end.
fn endless(count: u32, max_nodes: u32, start: Utc) -> Vec<TrainingTask> {
    let mut tasks = gleaner_synth::tasks::generate(&TaskOptions {
        count,
        models: 4,
        max_nodes,
        hours: 12.0,
        start: Some(start),
        submit_every: 0.0,
        seed: 0,
    })
    .unwrap();
    for task in &mut tasks {
        task.work = f64::INFINITY;
    }
    tasks
}

/// A log in which blocks of nodes leave and join. Each pair in `flips` is the first node and the length of a block.
fn blocks(names: Vec<String>, flips: &[(u32, u32)]) -> EventLog {
    let nodes = names.len() as u32;
    let mut log = EventLogBuilder::new(names);
    let mut idle = vec![false; nodes as usize];
    for (row, &(first, length)) in (0i64..).zip(flips) {
        let first = first % nodes;
        let changes: Vec<Change> = (first..nodes.min(first + length))
            .map(|node| {
                idle[node as usize] ^= true;
                Change::new(node, idle[node as usize])
            })
            .collect();
        log.push_row(Utc::from_seconds(60 * row), changes);
    }
    log.finish().unwrap()
}

fn names(count: u32) -> Vec<String> {
    (0..count).map(|node| format!("n{node}")).collect()
}

fn flips() -> impl Strategy<Value = Vec<(u32, u32)>> {
    prop::collection::vec((0u32..40, 1u32..12), 2..60)
}

/// The intervals during which tasks held nodes, cut off at `to`.
fn held_until(outcome: &Outcome, to: Utc) -> Vec<AllocationRow> {
    let rows = outcome.allocations.iter().filter(|row| row.from < to);
    let cut = rows.map(|row| AllocationRow {
        to: row.to.min(to),
        ..*row
    });
    let mut rows: Vec<_> = cut.collect();
    rows.sort_unstable_by_key(|row| (row.node, row.from));
    rows
}

proptest! {
    #![proptest_config(gleaner_testing::cases(64))]

    // Two logs are equal up to an event. The results must be equal up to the next event.
    #[test]
    fn no_rule_looks_ahead(
        past in flips(),
        futures in [flips(), flips()],
        count in 1u32..6,
        initial in prop_oneof![Just(Initial::Random), Just(Initial::Empty)],
    ) {
        let tasks = endless(count, 9, Utc::from_seconds(0));
        let options = Options { initial, ..options(120.0, 10) };
        let [one, other] = futures.map(|future| {
            let all: Vec<_> = past.iter().copied().chain(future).collect();
            blocks(names(40), &all)
        });
        let until = Utc::from_seconds(60 * past.len() as i64);
        for rule in NodeRule::ALL {
            let [one, other] = [&one, &other].map(|log| run(log, &tasks, &options, rule));
            prop_assert_eq!(held_until(&one, until), held_until(&other, until));
            let rows = past.len() - 1;
            prop_assert_eq!(&one.steps[..rows], &other.steps[..rows]);
        }
    }
}

/// The expected loss of a task that holds the ranks `held` and gets the ranks `taken`. It follows from the formula in
/// docs/NODES.md with a cost of 1. Both lists are in ascending order.
fn expected_loss(held: &[u32], taken: &[u32], hazard: impl Fn(u32) -> f64) -> f64 {
    let apart = |distance: u32| 1.0 - (-f64::from(distance) / 10.0).exp();
    let mut loss = 0.0;
    for (place, &rank) in taken.iter().enumerate() {
        let below = place.checked_sub(1).map(|place| taken[place]);
        let others = held.iter().copied().chain(below);
        let nearest = others.map(|other| other.abs_diff(rank)).min();
        loss += hazard(rank) * nearest.map_or(1.0, apart);
    }
    loss
}

/// The lowest expected loss over all ways to assign `free` nodes to two tasks, found by brute force.
fn best(
    held: &[Vec<u32>; 2],
    wanted: [usize; 2],
    cost: [f64; 2],
    free: &[u32],
    hazard: &impl Fn(u32) -> f64,
) -> f64 {
    let ways = 3u32.pow(free.len() as u32);
    let loss = |mut way: u32| {
        let mut taken = [Vec::new(), Vec::new()];
        for &rank in free {
            if let Some(taken) = taken.get_mut(way as usize % 3) {
                taken.push(rank);
            }
            way /= 3;
        }
        let fits = (0..2).all(|task| taken[task].len() == wanted[task]);
        let loss = |task: usize| cost[task] * expected_loss(&held[task], &taken[task], hazard);
        fits.then(|| loss(0) + loss(1))
    };
    (0..ways).filter_map(loss).fold(f64::INFINITY, f64::min)
}

/// A small case with two tasks, and the nodes that the rule assigns to them. Nodes are identified by their ranks.
#[derive(Debug)]
struct Dealt {
    /// The nodes that each task holds before the assignment.
    held: [Vec<u32>; 2],
    /// The nodes that each task gets.
    taken: [Vec<u32>; 2],
    /// The nodes that were free before the assignment.
    free: Vec<u32>,
}

impl Dealt {
    /// Assigns nodes to two tasks on a machine whose nodes are all idle. `holders` contains the task that holds each
    /// node.
    fn by_blocks(holders: &[Option<usize>], wanted: [u32; 2], cost: [f64; 2]) -> Dealt {
        let order: Vec<u32> = (0..holders.len() as u32).collect();
        let mut choice = Blocks::in_order(&order);
        let joined: Vec<Change> = order.iter().map(|&node| Change::new(node, true)).collect();
        choice.observe(&joined, 0);
        let mut pool = NodePool::new(order.len());
        order.iter().for_each(|&node| pool.join(node));
        let mut sets = [NodeSet::default(), NodeSet::default()];
        let mut held = [Vec::new(), Vec::new()];
        for (&node, holder) in order.iter().zip(holders) {
            if let Some(task) = *holder {
                pool.take(node, task as u32, &mut sets[task]);
                held[task].push(node);
            }
        }
        let growing: Vec<Growing<'_>> = (0..2)
            .map(|task| Growing {
                held: &sets[task],
                wanted: wanted[task],
                cost: cost[task],
            })
            .collect();
        let mut dealt = Vec::new();
        choice.deal(pool.free(0), &growing, &mut dealt);
        let mut taken = [Vec::new(), Vec::new()];
        for (task, node) in dealt {
            taken[task].push(node);
        }
        taken.iter_mut().for_each(|taken| taken.sort_unstable());
        let free = order.into_iter().zip(holders);
        let free = free.filter(|(_, holder)| holder.is_none());
        Dealt {
            held,
            taken,
            free: free.map(|(node, _)| node).collect(),
        }
    }
}

// On small cases from a fixed seed, compares the rule with the optimal assignment. All nodes are equally likely to
// leave, because none has left yet.
#[test]
fn blocks_are_close_to_the_best_assignment() {
    let mut rng = ChaCha8Rng::seed_from_u64(14);
    let (mut loss, mut least, mut exact, mut cases) = (0.0, 0.0, 0, 0);
    while cases < 400 {
        let holders: Vec<Option<usize>> = (0..9)
            .map(|_| Some(rng.random_range(0..5)).filter(|&task| task < 2))
            .collect();
        let free = holders.iter().filter(|holder| holder.is_none()).count() as u32;
        if free < 2 {
            continue;
        }
        let first = rng.random_range(1..free);
        let wanted = [first, rng.random_range(1..=free - first)];
        let cost = [1.0, rng.random_range(0.1..1.0)];
        let dealt = Dealt::by_blocks(&holders, wanted, cost);
        let hazard = |_: u32| 1.0;
        let found: f64 = (0..2)
            .map(|task| cost[task] * expected_loss(&dealt.held[task], &dealt.taken[task], hazard))
            .sum();
        let wanted = wanted.map(|nodes| nodes as usize);
        for (task, wanted) in wanted.iter().enumerate() {
            assert_eq!(dealt.taken[task].len(), *wanted);
        }
        let best = best(&dealt.held, wanted, cost, &dealt.free, &hazard);
        assert!(found >= best - 1e-9, "{dealt:?}: {found} below {best}");
        exact += u32::from(found <= best + 1e-9);
        (loss, least, cases) = (loss + found, least + best, cases + 1);
    }
    println!(
        "{exact} of {cases} assignments are the best; the total loss is {:.4} times the least",
        loss / least
    );
    assert!(loss <= 1.1 * least, "{}", loss / least);
}

/// Compares the work that ten and a hundred endless tasks do on Summit's log under `blocks` and under the original
/// replayer's rule. Also checks the efficiency of the published tasks relative to free rescaling.
#[test]
fn blocks_do_more_work_on_the_summit_log() {
    let (Some(log), Some(published)) = (summit(None), published_tasks("hps-shufflenet", "1000J"))
    else {
        return;
    };
    for (count, gain) in [(10, 1.030), (100, 1.014)] {
        let tasks = endless(count, 32, log.times()[0]);
        let options = options(120.0, count as usize);
        let [arrival, blocks] = [NodeRule::Arrival, NodeRule::Blocks]
            .map(|rule| run(&log, &tasks, &options, rule).summary);
        let more = blocks.total_work / arrival.total_work;
        assert!(more >= gain, "{count} endless tasks: {more}");
        assert!(hits(&blocks) < 0.85 * hits(&arrival));
    }
    let blocks = run(&log, &published, &options(120.0, 10), NodeRule::Blocks).summary;
    let efficiency = blocks.fluid_efficiency.unwrap();
    assert!(efficiency >= 0.911, "{efficiency}");
}

/// The same log with its nodes in another order, and with meaningless names.
fn nameless(log: &EventLog) -> EventLog {
    let mut nodes: Vec<u32> = (0..log.nodes().len() as u32).collect();
    nodes.shuffle(&mut ChaCha8Rng::seed_from_u64(5));
    let names = nodes.iter().map(|node| format!("x{node}"));
    let mut other = EventLogBuilder::new(names.collect());
    for (time, changes) in log.rows() {
        let moved = |change: &Change| Change::new(nodes[change.node() as usize], change.idle());
        let mut changes: Vec<Change> = changes.iter().map(moved).collect();
        changes.sort_unstable();
        other.push_row(time, changes);
    }
    other.finish().unwrap()
}

/// A machine whose scheduler takes 12 neighbouring idle nodes at a time, and returns 12 random nodes at a time.
fn scattered(nodes: u32, events: i64) -> EventLog {
    let mut rng = ChaCha8Rng::seed_from_u64(9);
    let mut log = EventLogBuilder::new(names(nodes));
    let mut idle = vec![false; nodes as usize];
    for event in 0..events {
        let joins = event < 10 || event % 2 == 0;
        let mut moved: Vec<u32> = (0..nodes)
            .filter(|&node| idle[node as usize] != joins)
            .collect();
        if joins {
            moved.shuffle(&mut rng);
            moved.truncate(12);
        } else {
            let first = rng.random_range(0..=moved.len() - 12);
            moved = moved[first..first + 12].to_vec();
        }
        moved.sort_unstable();
        let changes = moved.iter().map(|&node| Change::new(node, joins));
        log.push_row(Utc::from_seconds(60 * event), changes);
        moved.iter().for_each(|&node| idle[node as usize] = joins);
    }
    log.finish().unwrap()
}

/// Work under each rule: the original replayer's rule, `blocks` with the log's names, and `learned` without them. The
/// first share `from` of the steps is not counted.
fn work_by_rule(log: &EventLog, count: u32, from: f64) -> [f64; 3] {
    let tasks = endless(count, 32, log.times()[0]);
    let work = |log: &EventLog, rule| {
        let steps = run(log, &tasks, &options(120.0, count as usize), rule).steps;
        let first = (from * steps.len() as f64) as usize;
        steps[first..].iter().map(|row| row.progress).sum()
    };
    [
        work(log, NodeRule::Arrival),
        work(log, NodeRule::Blocks),
        work(&nameless(log), NodeRule::Learned),
    ]
}

// Without names, the rule learns an order that achieves most of the gain that names achieve, even if the learning
// period is counted.
#[test]
fn the_learnt_order_replaces_names_on_the_summit_log() {
    let Some(log) = summit(None) else { return };
    for (count, gain) in [(10, 1.027), (100, 1.012)] {
        let [arrival, blocks, learned] = work_by_rule(&log, count, 0.0);
        println!(
            "{count} endless tasks: {} with names, {} without",
            blocks / arrival,
            learned / arrival
        );
        assert!(
            learned / arrival >= gain,
            "{count} endless tasks: {}",
            learned / arrival
        );
    }
}

// The nodes that return together are not neighbours, so the original replayer's rule mixes blocks.
#[test]
fn the_learnt_order_replaces_names_on_a_generated_log() {
    let log = scattered(300, 20_000);
    for (from, share) in [(0.0, 0.9), (0.5, 0.95)] {
        let [arrival, blocks, learned] = work_by_rule(&log, 4, from);
        let earned = (learned - arrival) / (blocks - arrival);
        println!(
            "from {from} of the log: {} with names, {} without: {earned} of the gain",
            blocks / arrival,
            learned / arrival
        );
        assert!(blocks > 1.01 * arrival, "{}", blocks / arrival);
        assert!(earned > share, "{earned}");
    }
}

fn hits(summary: &Summary) -> f64 {
    summary.tasks_hit_mean.unwrap()
}

// Names without numbers say nothing about positions, so the rule uses the order of the columns.
#[test]
fn names_without_numbers_leave_the_order_of_columns() {
    let order = |names: &[&str]| {
        let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
        gleaner_replay::node_choice::by_name(&names)
    };
    assert_eq!(order(&["n10", "n9", "m1"]), [2, 1, 0]);
    assert_eq!(order(&["gamma", "alpha", "beta"]), [0, 1, 2]);
}

proptest! {
    #![proptest_config(gleaner_testing::cases(64))]

    // A log with a given order must have the same results as the same log with names that ascend in this order.
    #[test]
    fn a_given_order_does_what_names_in_that_order_do(
        flips in flips(),
        places in Just((0u32..40).collect::<Vec<_>>()).prop_shuffle(),
        named in 0usize..=40,
        count in 1u32..6,
    ) {
        let log = blocks(names(40), &flips);
        // The first `named` nodes of the order are given. The other nodes follow by name.
        let mut order: Vec<u32> = places;
        order[named..].sort_unstable();
        let given: NodeOrder = order[..named].iter().map(|&node| log.nodes()[node as usize].as_str()).collect();
        let mut renamed = vec![String::new(); 40];
        for (place, &node) in order.iter().enumerate() {
            renamed[node as usize] = format!("n{place}");
        }
        let renamed = blocks(renamed, &flips);
        let tasks = endless(count, 9, Utc::from_seconds(0));
        let options = options(120.0, 10);
        let with_order = Options { node_order: Some(Arc::new(given)), ..options.clone() };
        let expected = run(&renamed, &tasks, &options, NodeRule::Blocks);
        let found = run(&log, &tasks, &with_order, NodeRule::Blocks);
        prop_assert_eq!(&found.allocations, &expected.allocations);
        prop_assert_eq!(&found.steps, &expected.steps);
        let arrival = run(&log, &tasks, &with_order, NodeRule::Arrival);
        let expected = run(&log, &tasks, &options, NodeRule::Arrival);
        prop_assert_eq!(&arrival.allocations, &expected.allocations);
    }
}

// The rule `learned` begins with the given order, as if the log's columns were in that order.
#[test]
fn the_learnt_order_begins_with_the_given_one() {
    let log = scattered(60, 400);
    let turned: Vec<&str> = log.nodes().iter().rev().map(String::as_str).collect();
    let order = Arc::new(turned.into_iter().collect::<NodeOrder>());
    let tasks = endless(3, 12, log.times()[0]);
    let options = options(120.0, 10);
    let with_order = Options {
        node_order: Some(order),
        ..options.clone()
    };
    let given = run(&log, &tasks, &with_order, NodeRule::Learned);
    assert_ne!(
        given.allocations,
        run(&log, &tasks, &options, NodeRule::Learned).allocations
    );
    let in_turn: Vec<u32> = (0..60).rev().collect();
    let own = gleaner_replay::Own {
        choice: Some(Box::new(gleaner_replay::node_choice::Learned::from_order(
            in_turn,
        ))),
        ..gleaner_replay::Own::default()
    };
    let expected = gleaner_replay::run_with(
        &log,
        &tasks,
        &Options {
            node_choice: NodeRule::Learned,
            ..options
        },
        &mut solver(SolverKind::Exact),
        own,
        &gleaner_domain::Unobserved,
    );
    assert_eq!(given.allocations, expected.unwrap().allocations);
}
