//! Compares all figures with the reference numbers, to the last digit.

use std::path::PathBuf;

use serde_json::Value;

use super::*;

/// The folder of the polls and their reference numbers; `None`, with a message on stderr, if it is missing.
fn folder() -> Option<PathBuf> {
    gleaner_testing::shared("machines/whisk")
}

struct Day {
    polls: Polls,
    in_polls: Fragments,
    in_seconds: Fragments,
    reference: Value,
}

impl Day {
    fn read() -> Option<Self> {
        let folder = folder()?;
        let polls = Polls::read(&folder.join("17_03_2022_idle_nodes.txt"))
            .unwrap()
            .value;
        let text = std::fs::read(folder.join("reference.json")).unwrap();
        Some(Day {
            in_polls: histogram(polls.run_lengths()).unwrap(),
            in_seconds: histogram(polls.run_seconds()).unwrap(),
            polls,
            reference: serde_json::from_slice(&text).unwrap(),
        })
    }

    fn of(&self, pointer: &str) -> &Value {
        self.reference
            .pointer(pointer)
            .unwrap_or_else(|| panic!("no {pointer}"))
    }

    /// Checks that a number equals the reference number bit for bit.
    fn check(&self, pointer: &str, ours: f64) {
        let expected = self.of(pointer).as_f64().unwrap();
        assert_eq!(
            ours.to_bits(),
            expected.to_bits(),
            "{pointer}: {ours}, not {expected}"
        );
    }

    fn check_quantiles(&self, pointer: &str, ours: &[u64], factor: f64) {
        for (name, q) in [("q25", 0.25), ("q50", 0.5), ("q75", 0.75)] {
            self.check(&format!("{pointer}/{name}"), quantile(ours, q) * factor);
        }
    }
}

#[test]
fn polls_and_spans_are_those_of_the_notebooks() {
    let Some(day) = Day::read() else { return };
    let polls = &day.polls;
    let number = polls.times.len() as f64;
    day.check("/polls", number);
    day.check("/height_as_in_notebook", polls.height as f64);
    day.check("/mean_interval_s", polls.interval());
    day.check("/idle_polls", polls.idle() as f64);
    day.check(
        "/idle_share",
        polls.idle() as f64 / (number * polls.height as f64),
    );
    day.check_quantiles("/free_nodes", &polls.free, 1.0);
    day.check("/free_nodes/mean", mean(&polls.free));
    day.check(
        "/free_nodes/share_of_polls_with_none",
        zeros(&polls.free) as f64 / number,
    );
    let lengths: Vec<u64> = polls.run_lengths().collect();
    day.check("/runs", lengths.len() as f64);
    day.check_quantiles("/run_s", &lengths, polls.interval());
    day.check("/run_polls_mean", mean(&lengths));
    let pilots = &polls.pilots;
    let time: u64 = pilots.iter().sum();
    day.check("/pilots_as_polled/pilot_polls", time as f64);
    day.check("/pilots_as_polled/node_s", time as f64 * polls.interval());
    day.check_quantiles("/pilots_as_polled", pilots, 1.0);
    day.check("/pilots_as_polled/mean", mean(pilots));
    day.check(
        "/pilots_as_polled/share_of_idle",
        time as f64 / polls.idle() as f64,
    );
    day.check("/pilots_as_polled/polls_with_none", zeros(pilots) as f64);
}

#[test]
fn ladders_in_polls_are_those_of_the_notebook() {
    let Some(day) = Day::read() else { return };
    let possible = day
        .in_polls
        .share(kept(&day.in_polls, IN_POLLS.costs).ready);
    day.check("/most_possible_ready_share", possible);
    for name in LADDERS.map(|(name, _)| name).into_iter().chain([EVEN]) {
        let ladder = IN_POLLS.named(name).unwrap();
        let at = |key: &str| format!("/pilots_simulated_in_polls/ladders/{name}/{key}");
        let minutes: Vec<u64> = ladder.lengths().iter().map(|length| length / 6).collect();
        assert_eq!(*day.of(&at("minutes")), serde_json::json!(minutes));
        let found = fits(&day.in_polls, &ladder);
        day.check(&at("warmup"), found.startup as f64);
        day.check(&at("ready"), found.ready as f64);
        day.check(&at("pilots"), found.pilots as f64);
        day.check(&at("ready_share"), day.in_polls.share(found.ready));
        day.check(&at("warmup_share"), day.in_polls.share(found.startup));
        let used = (found.startup + found.ready) as f64 / day.in_polls.total() as f64;
        day.check(&at("unused_share"), 1.0 - used);
        let (warming, ready) = series(&day.polls, &ladder);
        day.check(&at("polls_with_none_ready"), zeros(&ready) as f64);
        day.check_quantiles(&at("ready_nodes"), &ready, 1.0);
        day.check(&at("ready_nodes/mean"), mean(&ready));
        day.check(&at("warming_nodes_mean"), mean(&warming));
    }
}

#[test]
fn ladders_in_seconds_are_the_reference_numbers() {
    let Some(day) = Day::read() else { return };
    let of = &day.in_seconds;
    day.check("/pilots_in_seconds/idle_node_s", of.total() as f64);
    day.check("/pilots_in_seconds/fragments", of.number() as f64);
    let span = day.polls.times[day.polls.times.len() - 1] - day.polls.times[0];
    day.check("/pilots_in_seconds/span_s", span as f64);
    day.check(
        "/pilots_in_seconds/start_up_s",
        IN_SECONDS.costs.startup as f64,
    );
    day.check(
        "/pilots_in_seconds/kept_share",
        of.share(kept(of, IN_SECONDS.costs).ready),
    );
    for unit in [IN_SECONDS, DELAYED] {
        let delay = unit.costs.delay;
        for name in LADDERS
            .map(|(name, _)| name)
            .into_iter()
            .chain([EVEN, EVERY])
        {
            let at = |key: &str| format!("/pilots_in_seconds/delay_{delay}_s/ladders/{name}/{key}");
            let found = fits(of, &unit.named(name).unwrap());
            day.check(&at("ready_s"), found.ready as f64);
            day.check(&at("pilots"), found.pilots as f64);
            day.check(&at("share"), of.share(found.ready));
        }
        for (name, ladder) in [
            ("A1", STORED),
            ("even minutes to 120", EVEN),
            ("every minute to 120", EVERY),
        ] {
            let at = |key: &str| {
                format!("/pilots_in_seconds/age_aware_lost/{name}, delay {delay} s/{key}")
            };
            let found = lost(of, &unit.named(ladder).unwrap(), &Unobserved).unwrap();
            day.check(&at("ready_s"), found.ready as f64);
            day.check(&at("share"), of.share(found.ready));
            let minutes: Vec<u64> = found.plan.iter().map(|step| step.length / 60).collect();
            let sequence = day.of(&at("sequence_min"));
            assert_eq!(minutes.len(), sequence.as_array().unwrap().len(), "{name}");
        }
    }
}

/// Compares the best ladders with those of the reference by ready time, because several ladders can share the longest
/// ready time.
fn check_best(day: &Day, pointer: &str, of: &Fragments, unit: Unit, step: u64) {
    let expected = day.of(pointer).as_array().unwrap();
    let grid = Grid {
        step: step * unit.minute,
        longest: LONGEST * unit.minute,
    };
    let limit = Duration::MAX;
    let found = best(of, grid, unit.costs, expected.len(), limit, &Unobserved).unwrap();
    for (place, found) in found.iter().enumerate() {
        day.check(&format!("{pointer}/{place}/ready"), found.ready as f64);
        day.check(&format!("{pointer}/{place}/share"), of.share(found.ready));
        assert!(found.is_proven());
        let again = Ladder::new(found.lengths.iter().copied(), unit.costs).unwrap();
        assert_eq!(fits(of, &again).ready, found.ready);
    }
}

#[test]
fn best_ladders_are_the_proven_ones() {
    let Some(day) = Day::read() else { return };
    check_best(
        &day,
        "/best_ladders_in_polls/ladders",
        &day.in_polls,
        IN_POLLS,
        2,
    );
    for unit in [IN_SECONDS, DELAYED] {
        let at = |grid: &str| {
            format!(
                "/pilots_in_seconds/delay_{}_s/best_{grid}",
                unit.costs.delay
            )
        };
        check_best(&day, &at("even_minutes_to_120"), &day.in_seconds, unit, 2);
        check_best(&day, &at("every_minute_to_120"), &day.in_seconds, unit, 1);
    }
}

// Golden values: the counts of the states and names in the table, and the sums of the run times.
#[test]
fn pilots_are_counted_as_accounted() {
    let Some(folder) = folder() else { return };
    let jobs = Accounting::read(&folder.join("17_03_2022_slurm-jobs.txt"))
        .unwrap()
        .value;
    let (all, seconds) = jobs.sum(&|_| true);
    let (preempted, preempted_s) = jobs.sum(&|job| job.is_preempted);
    let (longest, longest_s) = jobs.sum(&|job| job.minutes == Some(90));
    assert_eq!((all, preempted, longest), (694, 484, 327));
    let percent = |part: u64| (100.0 * part as f64 / seconds as f64).round();
    assert_eq!((percent(preempted_s), percent(longest_s)), (47.0, 75.0));
    let none_without = jobs.sum(&|job| job.minutes.is_none()).0;
    assert_eq!(none_without, 0);
}

// Golden values, computed by a script that shares no code with this program.
#[test]
fn the_polls_show_nearly_all_pilots_of_the_accounting() {
    let (Some(folder), Some(day)) = (folder(), Day::read()) else {
        return;
    };
    let jobs = Accounting::read(&folder.join("17_03_2022_slurm-jobs.txt")).unwrap();
    let found = polled_pilots(&day.polls, &jobs.value);
    let mut expected = Values::default();
    expected.row(
        DAY,
        [
            ("polls with the same number of pilots", 7_919.0 / 8_057.0),
            ("pilot time", 909_583.0 / 913_992.0),
        ],
    );
    assert_eq!(found, expected);
}
