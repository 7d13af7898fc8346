//! Tests how the summary of a sweep names the best settings.

use gleaner_domain::results::sweep::{Mode, Replication, SweepRow, groups};
use gleaner_runs::sweep::best_settings;

/// A run with the given window, seed and time to the best trial.
fn run(window: &str, seed: &str, best_trial_s: Option<f64>) -> SweepRow {
    let (settings, metrics) = (Mode::Replay.settings(), Mode::Replay.metrics());
    let setting = |name: &str| match name {
        "t_fwd" => window.to_owned(),
        "seed" => seed.to_owned(),
        _ => String::new(),
    };
    let figure = |name: &str| best_trial_s.filter(|_| name == "best_trial_s");
    SweepRow {
        settings: settings.iter().map(|field| setting(field.name)).collect(),
        figures: metrics.iter().map(|metric| figure(metric.name)).collect(),
    }
}

#[test]
fn settings_whose_runs_lack_the_figure_are_counted() {
    let metric = Mode::Replay.metric("best_trial_s").unwrap();
    let remark = |rows: &[SweepRow]| {
        let groups = groups(Mode::Replay, rows, Replication::Seeds);
        let facts = best_settings(&groups, Mode::Replay, &metric, |_| Vec::new());
        facts[0].remark.clone()
    };
    let mut rows = vec![run("30", "0", Some(90.0)), run("30", "1", Some(80.0))];
    assert!(!remark(&rows).contains("not compared"));

    // The run with the lowest value belongs to settings whose other run has no best trial, so these settings are not
    // compared.
    rows.extend([run("60", "0", Some(1.0)), run("60", "1", None)]);
    let one = "1 other setting is not compared, because some of its runs lack this figure";
    assert!(remark(&rows).contains(one), "{}", remark(&rows));

    rows.push(run("90", "0", None));
    let two = "2 other settings are not compared, because some of their runs lack this figure";
    assert!(remark(&rows).contains(two), "{}", remark(&rows));
}
