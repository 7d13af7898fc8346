//! Tests that simulations can be stopped.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use gleaner_simulate::policies::{self, PolicyEntry};
use gleaner_simulate::policy::{Decision, Policy};
use gleaner_simulate::view::View;
use gleaner_simulate::{Request, simulate, simulate_in_turn};
use gleaner_testing::StopAfter;

use crate::decisions::{entry, make};
use crate::small::{cluster, simulation, trace};

fn request(policy: PolicyEntry<'_>) -> Request<'_> {
    Request {
        name: policy.name,
        policy,
        corrected: false,
    }
}

#[test]
fn policies_that_are_not_simulated_to_the_end_are_left_out() {
    let (trace, cluster) = (
        trace(&[(0, 1, 0, 100), (1, 1, 0, 100)]),
        cluster(&[1, 1], 1),
    );
    let simulation = simulation(&trace, &cluster);
    let requests: Vec<Request> = policies::ALL[..2].iter().map(|&p| request(p)).collect();
    let names = |reports: usize| {
        let observer = StopAfter::new(reports);
        let runs = simulate_in_turn(&simulation, &requests, &observer).unwrap();
        let names: Vec<&str> = runs.iter().map(|run| run.policy).collect();
        (names, observer.progress())
    };
    let steps = [(1, 4), (2, 4), (3, 4), (4, 4)];
    assert_eq!(names(0), (vec![], vec![]));
    assert_eq!(names(1), (vec![], steps[..1].to_vec()));
    assert_eq!(names(3), (vec![requests[0].name], steps[..3].to_vec()));
    let all = vec![requests[0].name, requests[1].name];
    assert_eq!(names(4), (all, steps.to_vec()));
}

/// A policy that wakes every second, never starts a job, and sets the flag in second 5.
struct Waiting {
    flag: Arc<AtomicBool>,
    seconds: Arc<AtomicUsize>,
}

impl Policy for Waiting {
    fn submitted(&mut self, _: usize, _: &View<'_>) {}

    fn open(&mut self, view: &View<'_>) {
        self.seconds.fetch_add(1, Ordering::Relaxed);
        self.flag.store(view.now() == 5, Ordering::Relaxed);
    }

    fn next(&mut self, _: &View<'_>) -> Option<Decision> {
        None
    }

    fn wake(&mut self, view: &View<'_>) -> Option<i64> {
        Some(view.now() + 1)
    }
}

// Tests that a simulation that would never end stops as soon as a flag is set.
#[test]
fn a_virtual_cluster_is_stopped_at_the_next_event() {
    let (flag, seconds) = (Arc::new(AtomicBool::new(false)), Arc::default());
    let make = make(|| -> Box<dyn Policy> {
        Box::new(Waiting {
            flag: Arc::clone(&flag),
            seconds: Arc::clone(&seconds),
        })
    });
    let policy = entry(&make);
    let (trace, cluster) = (trace(&[(0, 1, 0, 100)]), cluster(&[1], 1));
    let runs = simulate(&simulation(&trace, &cluster), &[request(policy)], &flag);
    assert_eq!(runs, Ok(Vec::new()));
    // Seconds 0 to 5.
    assert_eq!(seconds.load(Ordering::Relaxed), 6);
}
