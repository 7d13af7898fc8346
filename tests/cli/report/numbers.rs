//! Compares the numbers that figures show with numbers computed from the tables of the runs.

use std::collections::BTreeMap;

use super::support::{
    Figures, assert_near, column, floats, gleaner, json, numbers, page, profiled, replays, sign,
    simulation, steps,
};

/// The times in a column of a CSV table, in whole milliseconds since 1970, the unit on pages.
fn millis(path: &std::path::Path, name: &str) -> Vec<f64> {
    let times = column(path, name)
        .into_iter()
        .filter(|cell| !cell.is_empty());
    let parsed = times.map(|cell| cell.parse::<gleaner_domain::Local>().unwrap().0);
    parsed.map(|nanos| (nanos / 1_000_000) as f64).collect()
}

#[test]
fn curves_equal_the_steps() {
    let directory = replays();
    let run = directory.path().join("short");
    let figures = Figures::of(&page(directory.path(), "short"));
    for (id, name, of) in [
        ("nodes", "Idle", "nNd"),
        ("nodes", "Used by training", "nNrun"),
        ("throughput", "Throughput", "Rate"),
    ] {
        let (x, y) = figures.curve(id, name);
        assert_eq!(x, millis(&run.join("steps.csv"), "evtTime"), "{name}");
        for (found, expected) in y.iter().zip(numbers(&run.join("steps.csv"), of)) {
            assert_near(*found, expected);
        }
    }
    let [idle, used, unused] =
        ["Idle", "Used by training", "Unused"].map(|name| figures.curve("nodes", name).1);
    for (place, left) in unused.iter().enumerate() {
        assert_eq!(*left, idle[place] - used[place]);
    }
    let (x, y) = figures.curve("completion", "Finished");
    let mut ends = millis(&run.join("tasks.csv"), "end");
    ends.sort_by(f64::total_cmp);
    assert_eq!(y.last(), Some(&(ends.len() as f64)));
    for (at, finished) in x.iter().zip(&y) {
        let expected = ends.iter().filter(|end| *end <= at).count();
        assert_eq!(*finished, expected as f64);
    }
}

/// The parts of the bar of idle node-time add up to the total, and so do those of the bar of work, with and without
/// completion events.
#[test]
fn shares_are_those_of_the_summary() {
    let directory = replays();
    let line = "replay --events idle.csv --tasks tasks.toml --no-completion-events --out late";
    gleaner(directory.path(), line).expect(0);
    for (run, is_late) in [("short", false), ("late", true)] {
        let summary = json(&directory.path().join(run).join("summary.json"));
        let of = |field: &str, whole: &str| {
            let share = summary[field].as_f64().unwrap() / summary[whole].as_f64().unwrap();
            if share < 1e-9 { 0.0 } else { share }
        };
        let idle = |field: &str| [of(field, "idle_node_seconds"), 0.0];
        let gross = |field: &str| [0.0, of(field, "gross_work")];
        let figures = Figures::of(&page(directory.path(), run));
        let parts = figures.get("spent")["marks"].as_array().unwrap();
        let mut sums = [0.0; 2];
        for (name, shares) in [
            (
                "Used before completion",
                idle("before_completion_node_seconds"),
            ),
            (
                "Held after completion",
                idle("after_completion_node_seconds"),
            ),
            (
                "Held with too few nodes to run",
                idle("below_minimum_node_seconds"),
            ),
            ("Unused", idle("unused_node_seconds")),
            ("Useful", gross("total_work")),
            ("Lost to rescaling", gross("rescale_loss")),
            ("Lost to preemption", gross("preemption_loss")),
            ("Lost after completion", gross("after_completion_work")),
        ] {
            let part = parts.iter().find(|part| part["name"] == name).unwrap();
            for (bar, (found, expected)) in floats(&part["values"]).iter().zip(shares).enumerate() {
                assert_near(*found, 100.0 * expected);
                sums[bar] += found;
            }
            let is_after = name.contains("after");
            assert!(
                !is_after || (shares != [0.0; 2]) == is_late,
                "{run}, {name}: {shares:?}"
            );
        }
        assert_eq!(parts.len(), 8);
        sums.iter().for_each(|sum| assert_near(*sum, 100.0));
    }
}

#[test]
fn spans_hold_the_node_time_of_each_task() {
    let directory = replays();
    let tasks = directory.path().join("long/tasks.csv");
    let (names, seconds) = (column(&tasks, "task"), numbers(&tasks, "node_seconds"));
    let expected: BTreeMap<&str, f64> = names.iter().map(String::as_str).zip(seconds).collect();
    let figures = Figures::of(&page(directory.path(), "long"));
    let spans = figures.get("tasks-long");
    let rows = spans["y"]["names"].as_array().unwrap();
    let mut found = vec![0.0; rows.len()];
    let (from, lengths) = (
        steps(&spans["marks"]["from"]),
        floats(&spans["marks"]["length"]),
    );
    for (place, row) in floats(&spans["marks"]["row"]).iter().enumerate() {
        let value = spans["marks"]["value"][place].as_f64().unwrap();
        found[*row as usize] += value * lengths[place] / 1e3;
    }
    assert_eq!(from.len(), lengths.len());
    for (row, name) in rows.iter().enumerate() {
        assert_near(found[row], expected[name.as_str().unwrap()]);
    }
}

/// Returns the name and the total node-time of each row in the task figure `id`.
fn row_seconds(figures: &Figures, id: &str) -> Vec<(String, f64)> {
    let spans = figures.get(id);
    let names = spans["y"]["names"].as_array().unwrap();
    let mut rows: Vec<(String, f64)> = names
        .iter()
        .map(|name| (name.as_str().unwrap().to_owned(), 0.0))
        .collect();
    let lengths = floats(&spans["marks"]["length"]);
    let values = floats(&spans["marks"]["value"]);
    for (place, row) in floats(&spans["marks"]["row"]).iter().enumerate() {
        rows[*row as usize].1 += values[place] * lengths[place] / 1e3;
    }
    rows
}

// The expected values come from the table of tasks, in which task `a` of the second round is called `a#2`.
#[test]
fn many_rounds_share_the_rows_of_the_set() {
    let directory = replays();
    for line in [
        "synth tasks --count 12 --hours 2 -o short.toml",
        "replay --events idle.csv --tasks short.toml --repeat-tasks --out rounds",
    ] {
        gleaner(directory.path(), line).expect(0);
    }
    let table = directory.path().join("rounds/tasks.csv");
    let (names, seconds) = (column(&table, "task"), numbers(&table, "node_seconds"));
    let mut expected: BTreeMap<&str, f64> = BTreeMap::new();
    for (name, seconds) in names.iter().zip(seconds) {
        let stem = name
            .rsplit_once('#')
            .map_or(name.as_str(), |(stem, _)| stem);
        *expected.entry(stem).or_default() += seconds;
    }
    assert!(names.len() > 60, "{}", names.len());
    let page = page(directory.path(), "rounds");
    let rows = row_seconds(&Figures::of(&page), "tasks-rounds");
    assert_eq!(rows.len(), expected.len());
    for (name, seconds) in &rows {
        assert_near(*seconds, expected[name.as_str()]);
    }
    let told = format!("each of the {} tasks of the set", expected.len());
    assert!(page.contains(&told), "{told}");
}

// For a large set, the page shows only the tasks that held the most node-time, and states their number.
#[test]
fn of_many_tasks_those_that_held_the_most_are_shown() {
    let directory = replays();
    let path = directory.path();
    gleaner(path, "synth tasks --count 90 --hours 1 -o many.toml").expect(0);
    gleaner(
        path,
        "replay --events idle.csv --tasks many.toml --max-tasks 90 --out many",
    )
    .expect(0);
    let table = path.join("many/tasks.csv");
    let mut held: Vec<f64> = numbers(&table, "node_seconds");
    held.retain(|seconds| *seconds > 0.0);
    held.sort_by(|a, b| b.total_cmp(a));
    assert!(held.len() > 60, "{}", held.len());
    let page = page(path, "many");
    let mut rows: Vec<f64> = row_seconds(&Figures::of(&page), "tasks-many")
        .into_iter()
        .map(|(_, seconds)| seconds)
        .collect();
    rows.sort_by(|a, b| b.total_cmp(a));
    assert_eq!(rows.len(), 60);
    for (found, expected) in rows.iter().zip(&held) {
        assert_near(*found, *expected);
    }
    let told = format!(
        "Of the {} tasks that held nodes, the 60 that held the most",
        held.len()
    );
    assert!(page.contains(&told), "{told}");
}

#[test]
fn held_times_are_the_allocations() {
    let directory = replays();
    let table = directory.path().join("short/allocations.csv");
    let lengths: Vec<f64> = millis(&table, "from")
        .iter()
        .zip(millis(&table, "to"))
        .map(|(from, to)| (to - from) / 1e3)
        .collect();
    let figures = Figures::of(&page(directory.path(), "short"));
    let parts = &figures.get("holds-short")["marks"];
    let (times, time) = (floats(&parts[0]["values"]), floats(&parts[1]["values"]));
    let short = lengths.iter().filter(|seconds| **seconds < 600.0);
    let share = 100.0 * short.clone().count() as f64 / lengths.len() as f64;
    assert_near(times[..3].iter().sum(), share);
    assert_near(
        time[..3].iter().sum(),
        100.0 * short.sum::<f64>() / lengths.iter().sum::<f64>(),
    );
    assert_near(times.iter().sum(), 100.0);
}

#[test]
fn distributions_are_those_of_the_jobs() {
    let directory = simulation();
    let figures = Figures::of(&page(directory.path(), "sim"));
    for policy in ["fifo", "sjf", "srtf"] {
        let jobs = directory.path().join(format!("sim/{policy}_jobs.csv"));
        for (id, of) in [("jct-sim", "jct"), ("queuing-sim", "queue")] {
            let times = numbers(&jobs, of);
            let (x, y) = figures.curve(id, policy);
            assert_eq!(y.last(), Some(&100.0));
            for (hours, percent) in x.iter().zip(y) {
                let seconds = (3_600.0 * hours).round();
                let within = times.iter().filter(|time| time.max(1.0) <= seconds).count();
                assert_near(percent, 100.0 * within as f64 / times.len() as f64);
            }
        }
    }
}

#[test]
fn virtual_clusters_are_those_of_the_summary() {
    let directory = simulation();
    let summary = json(&directory.path().join("sim/summary.json"));
    let figures = Figures::of(&page(directory.path(), "sim"));
    let heat = figures.get("vcs-sim");
    for (row, vc) in ["vcA", "vcB"].into_iter().enumerate() {
        assert_eq!(heat["y"]["names"][row], vc);
        for (column, policy) in ["fifo", "sjf", "srtf"].into_iter().enumerate() {
            let seconds = summary["policies"][policy]["vcs"][vc]["avg_queue_s"]
                .as_f64()
                .unwrap();
            let hours = heat["marks"]["values"][row][column].as_f64().unwrap();
            assert_near(hours, seconds / 3_600.0);
        }
    }
}

#[test]
fn hours_are_means_over_the_minutes_of_all_virtual_clusters() {
    let directory = simulation();
    let table = directory.path().join("sim/sjf_seq.csv");
    let (times, idle) = (numbers(&table, "time"), numbers(&table, "idle_gpu_num"));
    let (total, pending) = (
        numbers(&table, "total_gpu_num"),
        numbers(&table, "pending_gpujob_num"),
    );
    let mut hours: BTreeMap<i64, (f64, f64)> = BTreeMap::new();
    for row in 0..times.len() {
        let hour = hours.entry(times[row] as i64 / 3600).or_default();
        hour.0 += (total[row] - idle[row]) / 60.0;
        hour.1 += pending[row] / 60.0;
    }
    let figures = Figures::of(&page(directory.path(), "sim"));
    let (_, utilisation) = figures.curve("utilisation-sim", "sjf");
    let (_, waiting) = figures.curve("waiting-sim", "sjf");
    assert_eq!(hours.len(), utilisation.len());
    // The cluster has 3 nodes with 8 GPUs each, that is, 24 GPUs.
    for (place, (busy, pending)) in hours.values().enumerate() {
        assert_near(utilisation[place], 100.0 * busy / 24.0);
        assert_near(waiting[place], *pending);
    }
}

/// The shaded warm-up and drain match the summary. Their limits are in hours since the first hour of the chart.
#[test]
fn warm_up_and_drain_are_shaded() {
    let directory = simulation();
    let summary = json(&directory.path().join("sim/summary.json"));
    let page = page(directory.path(), "sim");
    let figures = Figures::of(&page);
    let of = |field: &str| summary[field].as_f64().unwrap();
    let (first, last) = (of("first_submission"), of("last_submission"));
    let table = directory.path().join("sim/fifo_seq.csv");
    let start = (numbers(&table, "time")[0] / 3_600.0).floor() * 3_600.0;
    for id in ["utilisation-sim", "waiting-sim"] {
        for panel in figures.get(id)["marks"].as_array().unwrap() {
            let told = &summary["policies"][panel["name"].as_str().unwrap()];
            let number = |field: &str| told[field].as_f64().unwrap();
            let spans = [
                ("warm-up", first, number("warm_up_until")),
                ("drain", last, first + number("makespan_s")),
            ];
            let expected: Vec<_> = spans.iter().filter(|(_, from, to)| from < to).collect();
            let shades = panel["shades"].as_array().unwrap();
            assert_eq!(shades.len(), expected.len());
            for (shade, (name, from, to)) in shades.iter().zip(expected) {
                assert_eq!(shade["name"], *name);
                assert_near(shade["from"].as_f64().unwrap(), (from - start) / 3_600.0);
                assert_near(shade["to"].as_f64().unwrap(), (to - start) / 3_600.0);
            }
            let share = 100.0 * number("in_use_while_arriving");
            assert!(page.contains(&format!("{share:.1} %")));
        }
    }
    for told in [
        "known to sjf, srtf, but not to any real scheduler",
        "Placers are therefore not compared",
        "not known",
    ] {
        assert!(page.contains(told), "{told}");
    }
}

/// Averaged over the makespan, the hourly values in the chart equal the share in the table, because both are shares of
/// the policy's own GPUs.
#[test]
fn chart_and_table_show_the_same_utilisation() {
    let directory = profiled();
    for run in ["extra", "lent"] {
        let summary = json(&directory.path().join(run).join("summary.json"));
        let page = page(directory.path(), run);
        let figures = Figures::of(&page);
        for policy in ["fifo", "lucid"] {
            let told = &summary["policies"][policy];
            let share = told["gpu_utilisation"].as_f64().unwrap();
            let makespan = told["makespan_s"].as_f64().unwrap();
            let (_, hours) = figures.curve(&format!("utilisation-{run}"), policy);
            let of_hours = 3600.0 * hours.iter().sum::<f64>() / (100.0 * makespan);
            // The two shares differ slightly, because states are sampled every minute and jobs end in
            // between.
            assert!(
                (of_hours / share - 1.0).abs() < 0.01,
                "{policy}: {of_hours} {share}"
            );
            assert!(
                page.contains(&format!("{:.1} %", 100.0 * share)),
                "{policy}"
            );
        }
    }
}

#[test]
fn unequal_numbers_of_gpus_are_noted() {
    let directory = profiled();
    let note = "72 GPUs for fifo; 80 for lucid";
    let extra = page(directory.path(), "extra");
    assert!(extra.contains("ran on different numbers of GPUs") && extra.contains(note));
    assert!(extra.contains("--lend auto"));
    assert!(extra.contains("own GPUs that jobs hold, hourly means: 72 GPUs"));
    let lent = page(directory.path(), "lent");
    assert!(!lent.contains("different numbers of GPUs"));
    assert!(lent.contains("Share of the 72 GPUs"));
    let both = page(directory.path(), "lent extra");
    assert!(both.contains(
        "Not all policies ran on the same number of GPUs: the numbers range from 72 to 80"
    ));
}

#[test]
fn summaries_with_impossible_steps_are_refused() {
    let directory = simulation();
    let path = directory.path().join("sim/summary.json");
    let sound = std::fs::read_to_string(&path).unwrap();
    for step in ["0", "-60", "59", "9223372036854775807"] {
        let spoilt = sound.replace("\"seq_step_s\": 60", &format!("\"seq_step_s\": {step}"));
        assert_ne!(spoilt, sound);
        std::fs::write(&path, spoilt).unwrap();
        sign(&directory.path().join("sim"));
        let run = gleaner(directory.path(), "report sim -o page.html").expect(3);
        run.says(&["summary.json, seq_step_s", step]);
    }
}
