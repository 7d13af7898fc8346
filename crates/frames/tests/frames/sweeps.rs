use gleaner_domain::results::sweep::{Kind, Mode, Replication, SweepRow, WINDOW, best, groups};
use gleaner_frames::{Error, Sweep};
use proptest::prelude::*;

use crate::support::{counts, floats, names, texts};

/// A randomly drawn replay: window, number of tasks, seed, and a number from which all metrics are derived.
type Drawn = (u8, Option<u8>, u8, Option<f64>);

fn rows(drawn: &[Drawn]) -> Vec<SweepRow> {
    let row = |&(window, tasks, seed, value): &Drawn| SweepRow {
        settings: (Mode::Replay.settings().iter())
            .map(|field| match field.name {
                "t_fwd" => format!("{}", f64::from(window) / 2.0),
                "max_tasks" => tasks.map_or(String::new(), |tasks| tasks.to_string()),
                "objective" => "throughput".to_owned(),
                "seed" => seed.to_string(),
                _ => String::new(),
            })
            .collect(),
        figures: (Mode::Replay.metrics().iter().zip(1_u8..))
            .map(|(metric, place)| match metric.kind {
                Kind::Whole => Some((value? * f64::from(place)).round()),
                _ => Some(value? * f64::from(place)),
            })
            .collect(),
    };
    drawn.iter().map(row).collect()
}

fn sweep(drawn: &[Drawn]) -> Sweep {
    let by = Mode::Replay.metric("total_work").unwrap();
    Sweep::new(Mode::Replay, by, Replication::Seeds, &rows(drawn)).unwrap()
}

fn drawn() -> impl Strategy<Value = Vec<Drawn>> {
    let value = prop::option::weighted(0.95, -1e6..1e6);
    let run = (1..5_u8, prop::option::of(1..3_u8), 0..9_u8, value);
    prop::collection::vec(run, 1..30)
}

fn near(a: Option<f64>, b: Option<f64>, scale: f64) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => (a - b).abs() <= 1e-9 * scale,
        (a, b) => a == b,
    }
}

proptest! {
    #![proptest_config(gleaner_testing::cases(64))]

    // The library's own aggregation does not use data frames, so the two results are independent.
    #[test]
    fn means_and_errors_are_those_of_the_library(drawn in drawn(), metric: prop::sample::Index) {
        let rows = rows(&drawn);
        let groups = groups(Mode::Replay, &rows, Replication::Seeds);
        let sweep = sweep(&drawn);
        let place = metric.index(Mode::Replay.metrics().len());
        let metric = &Mode::Replay.metrics()[place];
        let scale = 1e6 * (place + 1) as f64;
        let found = sweep.aggregate(metric.name).unwrap();
        prop_assert_eq!(found.height(), groups.len());
        let counts = counts(&found, "runs");
        let [mean, error, low, high] =
            ["mean", "standard_error", "low", "high"].map(|name| floats(&found, name));
        let windows = floats(&found, "t_fwd");
        for (place, group) in groups.iter().enumerate() {
            let first = &rows[group.runs[0]];
            let window = windows[place].unwrap().to_string();
            prop_assert!(first.settings.contains(&window));
            prop_assert_eq!(counts[place], Some(group.runs.len() as u64));
            let spread = group.spread(Mode::Replay, metric);
            prop_assert!(near(mean[place], spread.map(|s| s.mean), scale));
            let expected = spread.and_then(|s| s.standard_error());
            prop_assert!(near(error[place], expected, scale), "{:?} {:?}", error[place], expected);
            prop_assert!(near(low[place], spread.and_then(|s| s.low()), 20.0 * scale));
            prop_assert!(near(high[place], spread.and_then(|s| s.high()), 20.0 * scale));
        }
    }

    #[test]
    fn the_best_settings_are_those_of_the_library(drawn in drawn(), metric: prop::sample::Index) {
        let groups = groups(Mode::Replay, &rows(&drawn), Replication::Seeds);
        let sweep = sweep(&drawn);
        let metric = metric.get(Mode::Replay.metrics());
        let ranked = sweep.rank(metric.name);
        if metric.best.is_none() {
            let is_refused = matches!(ranked, Err(Error::NoGoal { .. }));
            prop_assert!(is_refused);
            return Ok(());
        }
        let ranked = floats(&ranked.unwrap(), "mean");
        match best(&groups, Mode::Replay, metric) {
            None => prop_assert_eq!(ranked[0], None),
            Some(best) => prop_assert!(near(ranked[0], Some(best.spread.mean), 3e7)),
        }
    }
}

// The values 2, 4 and 9 have the mean 5 and the variance 13. With two degrees of freedom, t is 4.302653.
#[test]
fn three_seeds_have_an_interval() {
    let sweep = sweep(&[
        (60, None, 0, Some(2.0)),
        (120, None, 0, Some(1.0)),
        (60, None, 1, Some(4.0)),
        (60, None, 2, Some(9.0)),
    ]);
    let figure = Mode::Replay.metrics()[0].name;
    let found = sweep.aggregate_by(figure, &["t_fwd"]).unwrap();
    assert_eq!(
        names(&found),
        ["t_fwd", "runs", "mean", "standard_error", "low", "high"]
    );
    assert_eq!(floats(&found, "mean"), [Some(5.0), Some(1.0)]);
    let error = (13.0_f64 / 3.0).sqrt();
    let one = |name: &str| floats(&found, name)[0].unwrap();
    assert!((one("standard_error") - error).abs() < 1e-12);
    assert!((one("low") - (5.0 - 4.302_652_73 * error)).abs() < 1e-7);
    assert!((one("high") - (5.0 + 4.302_652_73 * error)).abs() < 1e-7);
    assert_eq!(floats(&found, "low")[1], None);
}

#[test]
fn ranks_follow_the_direction_of_the_figure() {
    let drawn = [
        (2, None, 0, Some(2.0)),
        (4, None, 0, Some(9.0)),
        (6, None, 0, None),
    ];
    let sweep = sweep(&drawn);
    let most = sweep.rank("total_work").unwrap();
    assert_eq!(floats(&most, "t_fwd"), [Some(2.0), Some(1.0), Some(3.0)]);
    let least = sweep.rank("rescale_loss").unwrap();
    assert_eq!(floats(&least, "t_fwd"), [Some(1.0), Some(2.0), Some(3.0)]);
    let ranks = least.column("rank").unwrap().u32().unwrap();
    assert_eq!(Vec::from(ranks), [Some(1), Some(2), None]);
}

#[test]
fn a_figure_is_laid_out_over_two_settings() {
    let sweep = sweep(&[
        (2, Some(5), 0, Some(1.0)),
        (2, None, 0, Some(3.0)),
        (4, Some(5), 0, Some(5.0)),
        (4, Some(5), 1, Some(7.0)),
    ]);
    let place = |name: &str| {
        let mut metrics = Mode::Replay.metrics().iter();
        metrics.position(|metric| metric.name == name).unwrap() as f64 + 1.0
    };
    let found = sweep.pivot("total_work", "t_fwd", "max_tasks").unwrap();
    assert_eq!(names(&found), ["t_fwd", "5", "null"]);
    let factor = place("total_work");
    assert_eq!(floats(&found, "5"), [Some(factor), Some(6.0 * factor)]);
    assert_eq!(floats(&found, "null"), [Some(3.0 * factor), None]);
}

#[test]
fn runs_with_the_same_settings_are_joined() {
    let left = sweep(&[(2, None, 0, Some(1.0)), (4, Some(5), 0, Some(2.0))]);
    let right = sweep(&[
        (4, Some(5), 0, Some(3.0)),
        (2, None, 0, None),
        (2, None, 1, None),
    ]);
    let joined = left.join(&right).unwrap();
    assert_eq!(floats(&joined, "t_fwd"), [Some(1.0), Some(2.0)]);
    assert_eq!(floats(&joined, "span_seconds"), [Some(1.0), Some(2.0)]);
    assert_eq!(floats(&joined, "span_seconds_right"), [None, Some(3.0)]);
    let twice = sweep(&[(2, None, 0, None), (2, None, 0, None)]);
    let error = left.join(&twice).unwrap_err();
    assert!(matches!(error, Error::Repeated { .. }), "{error}");
}

#[test]
fn unknown_figures_are_errors() {
    let sweep = sweep(&[(2, None, 0, Some(1.0))]);
    let message = sweep.aggregate("work").unwrap_err().to_string();
    assert!(message.contains("unknown metric \"work\""), "{message}");
    assert!(message.contains("total_work"), "{message}");
    let error = sweep.aggregate_by("total_work", &["colour"]).unwrap_err();
    assert!(matches!(error, Error::Polars(_)), "{error}");
    let error = gleaner_frames::aggregate(&sweep.runs, "objective", &["seed"]).unwrap_err();
    assert!(matches!(error, Error::NoNumbers { .. }), "{error}");
    let error = sweep.aggregate_by("total_work", &[]).unwrap_err();
    assert!(matches!(error, Error::Polars(_)), "{error}");
    assert_eq!(
        texts(&sweep.runs, "objective"),
        [Some("throughput".to_owned())]
    );
}

// The windows have the means 3, 5, 4, 8 and 10 over their seeds. Their mean is 6, and their variance
// (9 + 1 + 4 + 4 + 16) / 4 = 8.5. The published percentile of t with 4 degrees of freedom is 2.776445.
#[test]
fn five_windows_have_an_interval_and_seeds_are_averaged_first() {
    let values = [[2.0, 4.0], [4.0, 6.0], [1.0, 7.0], [8.0, 8.0], [9.0, 11.0]];
    let drawn =
        values.map(|[first, second]| [(60, None, 0, Some(first)), (60, None, 1, Some(second))]);
    let mut runs = rows(&drawn.concat());
    let fields = Mode::Replay.settings();
    let place = fields
        .iter()
        .position(|field| field.name == WINDOW)
        .unwrap();
    for (index, run) in runs.iter_mut().enumerate() {
        run.settings[place] = (index / 2 + 1).to_string();
    }
    let by = Mode::Replay.metrics()[0];
    let sweep =
        |runs: &[SweepRow]| Sweep::new(Mode::Replay, by, Replication::Windows, runs).unwrap();
    let found = sweep(&runs).aggregate(by.name).unwrap();
    assert_eq!((found.height(), counts(&found, "runs")), (1, vec![Some(5)]));
    let one = |name: &str| floats(&found, name)[0].unwrap();
    let half = 2.776_445 * (8.5_f64 / 5.0).sqrt();
    assert!((one("mean") - 6.0).abs() < 1e-12);
    assert!((one("low") - (6.0 - half)).abs() < 1e-5 && (one("high") - (6.0 + half)).abs() < 1e-5);
    // Four windows have a mean, but no interval.
    let found = sweep(&runs[..8]).aggregate(by.name).unwrap();
    assert_eq!(
        (floats(&found, "mean"), floats(&found, "low")),
        (vec![Some(5.0)], vec![None])
    );
    assert!(!sweep(&runs).settings().contains(&WINDOW));
}
