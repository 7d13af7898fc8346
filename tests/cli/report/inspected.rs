//! Compares pages about event logs with `gleaner inspect --json` and with a replay.

use std::fs;

use serde_json::Value;

use super::support::{
    Figures, HOSTILE, assert_near, dataset, floats, gleaner, inspected, numbers, page, replays,
};

fn read(directory: &tempfile::TempDir) -> String {
    fs::read_to_string(directory.path().join("page.html")).unwrap()
}

/// The results of `gleaner inspect --json` on the sample log, with the additional arguments `more`.
fn sample_json(more: &str) -> Value {
    let (log, tasks) = (dataset("idle.csv"), dataset("tasks.toml"));
    let line = format!(
        "inspect {} --tasks {} --json {more}",
        log.display(),
        tasks.display()
    );
    let run = gleaner(&dataset(""), &line).expect(0);
    serde_json::from_str(&run.out).unwrap()
}

#[test]
fn figures_are_those_of_the_inspection() {
    let directory = inspected();
    let (page, found) = (read(&directory), sample_json(""));
    let figures = Figures::of(&page);
    let ids = [
        "timeline",
        "fragments",
        "hours",
        "weekdays",
        "week",
        "gaps",
        "window-share",
    ];
    assert_eq!(figures.ids(), ids);
    for (id, of) in [("fragments", "fragments"), ("gaps", "event_gaps")] {
        let parts = &figures.get(id)["marks"];
        let bins = found[of]["bins"].as_array().unwrap();
        for (place, bin) in bins.iter().enumerate() {
            let shares = [("count_share", 0), ("sum_share", 1)];
            for (share, part) in shares {
                let bar = floats(&parts[part]["values"])[place];
                assert_near(bar, 100.0 * bin[share].as_f64().unwrap());
            }
        }
    }
    for (id, of) in [("hours", "hours"), ("weekdays", "weekdays")] {
        let slots = found["calendar"][of].as_array().unwrap();
        let bars = floats(&figures.get(id)["marks"][0]["values"]);
        for (slot, bar) in slots.iter().zip(bars) {
            assert_near(bar, slot["idle_nodes"].as_f64().unwrap_or(0.0));
        }
    }
    let monday = &figures.get("week")["marks"]["values"][3][5];
    let expected = &found["calendar"]["week"][3][5]["idle_nodes"];
    assert_near(monday.as_f64().unwrap(), expected.as_f64().unwrap());
}

#[test]
fn the_suggestion_is_shown_with_its_derivation() {
    let directory = inspected();
    let (page, found) = (read(&directory), sample_json(""));
    let window = &found["suggestion"]["window"];
    let t_fwd = window["t_fwd_s"].as_f64().unwrap();
    let tile = format!("<dt>suggested --t-fwd</dt><dd>{t_fwd} s ");
    assert!(page.contains(&tile), "{tile}");
    for told in ["How the window is derived", "F(τ)", "SHA-256", "max-tasks"] {
        assert!(page.contains(told), "{told}");
    }
    let figures = Figures::of(&page);
    let (x, y) = figures.curve("window-share", "Suggested");
    assert_eq!(x, [t_fwd]);
    let (windows, shares) = figures.curve("window-share", "Useful share");
    assert!(windows.is_sorted() && windows.len() > 30);
    // The suggested window is the window with the largest useful share, rounded to two digits.
    let best = shares.into_iter().fold(0.0, f64::max);
    assert!(best <= y[0] + 1e-9 && best > 0.99 * y[0]);
}

#[test]
fn a_replay_has_the_fragments_of_its_log() {
    // Like a replay, the inspection of a slice drops the last row, which changes no node.
    let (replays, sample) = (replays(), sample_json("--nodes 100"));
    let table = replays.path().join("short/fragments.csv");
    let bins = sample["fragments"]["bins"].as_array().unwrap();
    let (counts, seconds) = (
        numbers(&table, "fragments"),
        numbers(&table, "node_seconds"),
    );
    assert_eq!(counts.len(), bins.len());
    for (place, bin) in bins.iter().enumerate() {
        assert_eq!(counts[place], bin["count"].as_f64().unwrap());
        assert_eq!(seconds[place], bin["sum_s"].as_f64().unwrap());
    }
    let figures = Figures::of(&page(replays.path(), "short"));
    let parts = &figures.get("fragments-short")["marks"];
    let all: f64 = counts.iter().sum();
    for (bar, count) in floats(&parts[0]["values"]).iter().zip(&counts) {
        assert_near(*bar, 100.0 * count / all);
    }
    // For two replays of the same log, the page shows the figure of the fragments only once.
    let both = Figures::of(&page(replays.path(), "short long"));
    let shown = both
        .ids()
        .iter()
        .filter(|id| id.starts_with("fragments"))
        .count();
    assert_eq!(shown, 1);
}

#[test]
fn replays_of_different_logs_have_their_own_fragments() {
    let directory = replays();
    let path = directory.path();
    let line = "replay --events idle.csv --nodes 50 --tasks tasks.toml --out half";
    gleaner(path, line).expect(0);
    let figures = Figures::of(&page(path, "short half"));
    let ids = figures.ids();
    assert!(ids.contains(&"fragments-short") && ids.contains(&"fragments-half"));
}

#[test]
fn json_and_pictures_come_beside_the_page() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    let log = dataset("idle.csv");
    let line = format!("inspect {} --json --svg out --png out", log.display());
    let run = gleaner(path, &line).expect(0);
    let printed: Value = serde_json::from_str(&run.out).unwrap();
    assert!(printed["suggestion"]["others"].as_array().unwrap().len() > 30);
    assert_eq!(fs::read_dir(path.join("out")).unwrap().count(), 14);
    // A page that cannot be written causes an error.
    let line = format!("inspect {} -o missing/page.html", log.display());
    gleaner(path, &line).expect(1).says(&["missing/page.html"]);
}

#[test]
fn odd_logs_have_pages() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    let quoted = HOSTILE.replace('"', "\"\"");
    let logs = [
        // Logs with a single row in which all nodes are busy or all are idle, with a hostile name, and with nodes that
        // are always idle.
        "time,node,state\n2021-02-10 00:00:00,a,0\n".to_owned(),
        "time,node,state\n2021-02-10 00:00:00,a,1\n".to_owned(),
        format!(
            "time,node,state\n2021-02-10 00:00:00,\"{quoted}\",1\n2021-02-10 01:00:00,b,1\n\
             2021-02-10 01:30:00,b,0\n2021-02-10 01:30:00,c,0\n"
        ),
        "time,node,state\n2021-02-10 00:00:00,a,1\n2021-02-10 01:00:00,,\n".to_owned(),
    ];
    for log in logs {
        fs::write(path.join("log.csv"), &log).unwrap();
        gleaner(path, "inspect log.csv -o page.html --svg out").expect(0);
        let page = read(&directory);
        assert!(
            !page.contains("<img") && page.contains("Suspicious spans"),
            "{log}"
        );
    }
}
