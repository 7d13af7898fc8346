//! Tests decisions with small fixed examples. The engine must reject decisions that cannot be carried out, and a policy
//! must see the correct remaining work of a job that it preempted.

use std::sync::{Arc, Mutex};

use gleaner_domain::results::simulate::Durations;
use gleaner_simulate::Request;
use gleaner_simulate::policies::{Context, Make, Needs, PolicyEntry};
use gleaner_simulate::policy::{Decision, Policy};
use gleaner_simulate::view::{Status, View};

use crate::small::{cluster, simulation, trace};
use crate::town;

/// A policy that starts job 0, preempts it `after` seconds later, and starts it again. It records the job's remaining
/// work.
struct Restless {
    after: i64,
    preempted: bool,
    left: Arc<Mutex<Vec<f64>>>,
}

impl Policy for Restless {
    fn submitted(&mut self, job: usize, view: &View<'_>) {
        self.left.lock().unwrap().push(view.left(job));
    }

    fn preempted(&mut self, job: usize, view: &View<'_>) {
        self.preempted = true;
        self.left.lock().unwrap().push(view.left(job));
    }

    fn next(&mut self, view: &View<'_>) -> Option<Decision> {
        match view.status(0) {
            Status::Waiting => Some(Decision::Start {
                job: 0,
                placement: view.place(1)?,
            }),
            Status::Running if !self.preempted && view.now() >= view.started(0) + self.after => {
                Some(Decision::Preempt { job: 0 })
            }
            _ => None,
        }
    }

    fn wake(&mut self, view: &View<'_>) -> Option<i64> {
        Some(view.started(0) + self.after)
    }
}

/// Turns a function that returns a policy into a policy factory.
pub fn make(
    policy: impl Fn() -> Box<dyn Policy> + Sync,
) -> impl for<'a> Fn(&Context<'a>) -> Box<dyn Policy + 'a> + Sync {
    move |_| policy()
}

/// The entry of a policy that only tests use.
pub fn entry<'p>(make: &'p Make<'p>) -> PolicyEntry<'p> {
    PolicyEntry {
        name: "restless",
        title: "",
        needs: Needs::Jobs,
        durations: Durations::Own,
        notice: 0,
        profiled: false,
        published: false,
        make,
    }
}

/// Simulates a job of 100 seconds under [`Restless`]. Returns the job's end or the error, and the job's remaining
/// work at submission and at preemption.
fn simulate(after: i64, forget: bool) -> (Result<i64, String>, Vec<f64>) {
    let left = Arc::new(Mutex::default());
    let noted = Arc::clone(&left);
    let make = make(move || -> Box<dyn Policy> {
        let policy = Restless {
            after,
            preempted: false,
            left: Arc::clone(&noted),
        };
        if forget {
            Box::new(Forgetful(policy))
        } else {
            Box::new(policy)
        }
    });
    let policy = entry(&make);
    let (trace, cluster) = (trace(&[(0, 1, 0, 100)]), cluster(&[1], 1));
    let request = Request {
        name: policy.name,
        policy,
        corrected: false,
    };
    let runs = town::run(&simulation(&trace, &cluster), &[request]);
    let end = runs.map(|runs| runs[0].finished()[0].outcome.end);
    let end = end.map_err(|error| error.to_string());
    let left = left.lock().unwrap().clone();
    (end, left)
}

/// A policy that does not record preemptions, so it preempts its job repeatedly.
struct Forgetful(Restless);

impl Policy for Forgetful {
    fn submitted(&mut self, job: usize, view: &View<'_>) {
        self.0.submitted(job, view);
    }

    fn next(&mut self, view: &View<'_>) -> Option<Decision> {
        self.0.next(view)
    }

    fn wake(&mut self, view: &View<'_>) -> Option<i64> {
        self.0.wake(view)
    }
}

// Derived by formula: 30 of the 100 seconds are done, and the checkpoint costs 40 s.
#[test]
fn the_work_left_to_a_preempted_job_includes_its_checkpoint() {
    assert_eq!(simulate(30, false), (Ok(140), vec![100.0, 110.0]));
}

#[test]
fn a_job_is_not_preempted_in_the_second_of_its_start() {
    let refused = "restless, vc0: second 0: the policy's decision about job j0 was rejected: the \
                   job started in this second; preempt it in a later second";
    for forget in [false, true] {
        let (end, left) = simulate(0, forget);
        assert_eq!((end, left), (Err(refused.to_owned()), vec![100.0]));
    }
    // With a negative `after`, the policy also tries to preempt the job in the second of its start.
    let (end, _) = simulate(-5, true);
    assert!(end.unwrap_err().contains("the job started in this second"));
}

#[test]
fn only_jobs_in_the_right_state_are_started_and_preempted() {
    /// A policy that always returns the same decision, even if the decision cannot be carried out.
    struct Twice(fn(&View<'_>) -> Option<Decision>);

    impl Policy for Twice {
        fn submitted(&mut self, _: usize, _: &View<'_>) {}

        fn next(&mut self, view: &View<'_>) -> Option<Decision> {
            (self.0)(view)
        }
    }

    let start: fn(&View<'_>) -> Option<Decision> = |view| {
        let placement = view.place(1)?;
        Some(Decision::Start { job: 0, placement })
    };
    let preempt: fn(&View<'_>) -> Option<Decision> = |_| Some(Decision::Preempt { job: 0 });
    for (decide, expected) in [
        (start, "the job is not waiting"),
        (preempt, "the job is not running"),
    ] {
        let make = make(move || Box::new(Twice(decide)));
        let policy = entry(&make);
        let request = Request {
            name: policy.name,
            policy,
            corrected: false,
        };
        let (trace, cluster) = (trace(&[(0, 1, 0, 100)]), cluster(&[1], 2));
        let error = town::run(&simulation(&trace, &cluster), &[request]).unwrap_err();
        assert!(error.to_string().ends_with(expected), "{error}");
    }
}
