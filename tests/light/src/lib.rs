//! Tests the quick start for Rust users, in a crate that depends on Gleaner as a user's crate would.

#[cfg(test)]
mod tests {
    use gleaner::{EventLog, Open, Replay, Status, Tasks};

    #[test]
    fn a_log_is_replayed_by_the_exact_solver() {
        let dataset = concat!(env!("CARGO_MANIFEST_DIR"), "/../../dataset");
        let log = EventLog::open(format!("{dataset}/idle.csv")).unwrap();
        let tasks = Tasks::open(format!("{dataset}/tasks.toml")).unwrap();
        let replayed = Replay::new(log, tasks).t_fwd(120.0).run().unwrap();
        let summary = replayed.summary();
        assert!(summary.complete && summary.events > 0);
        assert_eq!(summary.events_optimal, summary.events);
        assert_eq!(summary.solver, "exact");
    }

    #[test]
    fn solvers_of_features_that_are_off_are_refused() {
        let dataset = concat!(env!("CARGO_MANIFEST_DIR"), "/../../dataset");
        let log = EventLog::open(format!("{dataset}/idle.csv")).unwrap();
        let tasks = Tasks::open(format!("{dataset}/tasks.toml")).unwrap();
        let error = Replay::new(log, tasks)
            .solver("highs")
            .and_then(Replay::run)
            .err()
            .unwrap();
        assert!(
            error.to_string().contains("this build has no highs"),
            "{error}"
        );
    }

    #[test]
    fn tasks_may_be_made_by_the_program() {
        let dataset = concat!(env!("CARGO_MANIFEST_DIR"), "/../../dataset");
        let read = || Tasks::open(format!("{dataset}/tasks.toml")).unwrap();
        let replay = |tasks| {
            let log = EventLog::open(format!("{dataset}/idle.csv")).unwrap();
            Replay::new(log, tasks).t_fwd(120.0).run().unwrap()
        };
        let (made, given) = (Tasks::from(read().tasks), read());
        let (made, given) = (replay(made).outcome, replay(given).outcome);
        assert_eq!((made.steps, made.tasks), (given.steps, given.tasks));
        let mut costly = read().tasks;
        costly[1].rescale_up = 1e300;
        let log = EventLog::open(format!("{dataset}/idle.csv")).unwrap();
        let error = Replay::new(log, Tasks::from(costly))
            .t_fwd(120.0)
            .run()
            .err()
            .unwrap();
        assert!(error.to_string().contains("task 2"), "{error}");
    }

    #[test]
    fn one_decision_is_proven_optimal() {
        let problem = include_str!("../../../dataset/problems.jsonl")
            .lines()
            .next()
            .unwrap();
        let problem: gleaner::Problem = serde_json::from_str(problem).unwrap();
        assert_eq!(problem.solve().unwrap().status, Status::Optimal);
    }
}
