//! Tests of population-based training.

use gleaner_search::{Algorithm, Job, Next, Parent, Plan, Search, Value, Verdict};

use crate::workers::space;

fn search(population: u32) -> Search {
    let plan = Plan {
        trials: Some(population),
        ..Plan::new(Algorithm::Pbt, 3.0)
    };
    Search::seeded(plan, 3, &space()).unwrap()
}

fn next(search: &mut Search) -> Job {
    match search.next() {
        Next::Job(job) => job,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_bad_trial_is_replaced_by_a_copy_of_a_good_trial() {
    let mut search = search(5);
    for trial in 0..5 {
        assert_eq!(next(&mut search).trial, trial);
    }
    // Only one trial has been measured, so none is in the worst fifth.
    for (trial, loss) in [(0, 3.0), (1, 1.0), (2, 2.0), (3, 4.0)] {
        let promoted = Verdict::Promoted {
            trial,
            rung: 1,
            to: 2.0,
        };
        assert_eq!(search.report(trial, loss), Ok(vec![promoted]));
        assert_eq!(search.resume(trial).unwrap().to, 2.0);
    }
    assert_eq!(
        search.report(4, 9.0),
        Ok(vec![Verdict::Stopped { trial: 4 }])
    );
    assert_eq!(search.resume(4), None);
    let copy = next(&mut search);
    assert_eq!((copy.trial, copy.rung), (5, 1));
    assert_eq!((copy.from, copy.to), (1.0, 2.0));
    let parent = Parent {
        trial: 1,
        resource: 1.0,
    };
    assert_eq!(search.parent(5), Some(parent));
    let (before, after) = (search.parameters(1), search.parameters(5));
    let number = |value: &Value| match value {
        Value::Number(number) => *number,
        other => panic!("{other:?}"),
    };
    let (old, new) = (number(&before["lr"]), number(&after["lr"]));
    assert_ne!(old, new);
    assert!((1e-4..=0.1).contains(&new), "{new}");
    assert_eq!(search.next(), Next::Wait);
}

#[test]
fn a_trial_is_not_replaced_by_one_that_has_trained_less() {
    let mut search = search(5);
    for trial in 0..5 {
        assert_eq!(next(&mut search).trial, trial);
    }
    for trial in 0..4 {
        search.report(trial, f64::from(trial)).unwrap();
        search.resume(trial).unwrap();
    }
    // Trial 3 reaches its second rung with the worst loss, but the best trial, 0, is still at the first rung.
    search.report(4, 2.5).unwrap();
    let promoted = search.report(3, 10.0).unwrap();
    assert!(matches!(promoted[..], [Verdict::Promoted { trial: 3, .. }]));
    // Once trial 0 is at its second rung, trial 2 is replaced with a copy of trial 0.
    search.report(0, 0.5).unwrap();
    let stopped = search.report(2, 11.0).unwrap();
    assert_eq!(stopped, [Verdict::Stopped { trial: 2 }]);
}
