//! The numbers that figures show, computed again from the tables of the runs.

use std::collections::BTreeMap;

use super::support::{
    Figures, assert_near, column, floats, gleaner, json, numbers, page, profiled, replays, sign,
    simulation, steps,
};

/// Times of a CSV table in milliseconds since 1970.
fn millis(path: &std::path::Path, name: &str) -> Vec<f64> {
    let times = column(path, name)
        .into_iter()
        .filter(|cell| !cell.is_empty());
    let parsed = times.map(|cell| cell.parse::<gleaner_core::domain::Time>().unwrap().0);
    parsed.map(|nanos| nanos as f64 / 1e6).collect()
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
    let (x, y) = figures.curve("completion", "Finished");
    let mut ends = millis(&run.join("tasks.csv"), "end");
    ends.sort_by(f64::total_cmp);
    assert_eq!(y.last(), Some(&(ends.len() as f64)));
    for (at, finished) in x.iter().zip(&y) {
        let expected = ends.iter().filter(|end| *end <= at).count();
        assert_eq!(*finished, expected as f64);
    }
}

#[test]
fn shares_are_those_of_the_summary() {
    let directory = replays();
    let summary = json(&directory.path().join("short/summary.json"));
    let of = |field: &str| summary[field].as_f64().unwrap();
    let gross = of("total_work") + of("rescale_loss") + of("preemption_loss");
    let used = of("used_node_seconds") / of("idle_node_seconds");
    let figures = Figures::of(&page(directory.path(), "short"));
    for (name, shares) in [
        ("Used", [used, 0.0]),
        ("Unused", [1.0 - used, 0.0]),
        ("Useful", [0.0, of("total_work") / gross]),
        ("Lost to rescaling", [0.0, of("rescale_loss") / gross]),
        ("Lost to preemption", [0.0, of("preemption_loss") / gross]),
    ] {
        let parts = figures.get("spent")["marks"].as_array().unwrap();
        let part = parts.iter().find(|part| part["name"] == name).unwrap();
        for (found, expected) in floats(&part["values"]).iter().zip(shares) {
            assert_near(*found, 100.0 * expected);
        }
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
            for (seconds, percent) in x.iter().zip(y) {
                let within = times
                    .iter()
                    .filter(|time| time.max(1.0) <= *seconds)
                    .count();
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
            let expected = &summary["policies"][policy]["vcs"][vc]["avg_queue_s"];
            assert_eq!(&heat["marks"]["values"][row][column], expected);
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
    // The cluster has 3 nodes of 8 GPUs.
    for (place, (busy, pending)) in hours.values().enumerate() {
        assert_near(utilisation[place], 100.0 * busy / 24.0);
        assert_near(waiting[place], *pending);
    }
}

/// The chart's hours add up to the share in the table: both are shares of the policy's own GPUs.
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
            // States are sampled every minute, and jobs end in between.
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
    assert!(extra.contains("did not run on the same GPUs") && extra.contains(note));
    assert!(extra.contains("--lend auto"));
    assert!(extra.contains("own GPUs that jobs hold, hourly means: 72 GPUs"));
    let lent = page(directory.path(), "lent");
    assert!(!lent.contains("the same GPUs"));
    assert!(lent.contains("Share of the 72 GPUs"));
    let both = page(directory.path(), "lent extra");
    assert!(both.contains("Not all ran on the same GPUs: the numbers are from 72 to 80"));
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
