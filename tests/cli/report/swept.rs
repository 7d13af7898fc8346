//! Compares pages about sweeps with the tables of the sweeps.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::browser::check;

use super::support::{
    Figures, assert_near, column, gleaner, json, numbers, packed, page, sign, simulation, sweep,
};

/// The table `sweep.csv` of a sweep, with the settings and metrics of each run.
struct Table<'a>(&'a Path);

impl Table<'_> {
    fn texts(&self, name: &str) -> Vec<String> {
        column(&self.0.join("sweep.csv"), name)
    }

    fn numbers(&self, name: &str) -> Vec<f64> {
        numbers(&self.0.join("sweep.csv"), name)
    }

    fn lost(&self) -> Vec<f64> {
        let (rescale, preemption) = ("rescale_loss", "preemption_loss");
        let both = self
            .numbers(rescale)
            .into_iter()
            .zip(self.numbers(preemption));
        both.map(|(a, b)| a + b).collect()
    }
}

// All runs of the sample plan finish all tasks and thus do the same total work, so the heat map shows the next metric.
#[test]
fn cells_are_the_best_means_of_the_next_figure() {
    let directory = sweep();
    let run = directory.path().join("swept");
    let table = Table(&run);
    let figures = Figures::of(&page(directory.path(), "swept"));
    assert_eq!(figures.ids(), ["heat-swept", "pareto-swept"]);
    let heat = figures.get("heat-swept");
    assert_eq!(heat["marks"]["title"], "completion mean (h)");
    // The expected value of a cell is the best mean over the seeds, among all settings that are not axes.
    let (x, y) = (&heat["x"], &heat["y"]);
    let axes = [x, y].map(|axis| table.texts(axis["title"].as_str().unwrap()));
    let mut groups: BTreeMap<(String, String, String), Vec<f64>> = BTreeMap::new();
    let rest = ["t_fwd", "max_tasks", "objective"].map(|name| table.texts(name));
    for (place, mean) in table.numbers("completion_mean_s").into_iter().enumerate() {
        let of = |list: &Vec<String>| list[place].clone();
        let others = rest.iter().map(of).collect::<Vec<_>>().join(" ");
        let key = (of(&axes[1]), of(&axes[0]), others);
        groups.entry(key).or_default().push(mean);
    }
    for (row, down) in x_names(y).iter().enumerate() {
        for (col, across) in x_names(x).iter().enumerate() {
            let of_cell = groups
                .iter()
                .filter(|((d, a, _), _)| d == down && a == across);
            let means = of_cell.map(|(_, runs)| runs.iter().sum::<f64>() / runs.len() as f64);
            let expected = means.fold(f64::INFINITY, f64::min) / 3600.0;
            let found = &heat["marks"]["values"][row][col];
            assert_near(found.as_f64().unwrap(), expected);
        }
    }
}

/// Computes the means over the two seeds. The runs with seeds 0 and 1 are neighbours, because the seed varies fastest
/// in the sample plan.
fn over_seeds(values: &[f64]) -> Vec<f64> {
    let pairs = values.chunks_exact(2);
    pairs.map(|pair| (pair[0] + pair[1]) / 2.0).collect()
}

fn x_names(axis: &serde_json::Value) -> Vec<String> {
    let names = axis["names"].as_array().unwrap();
    names
        .iter()
        .map(|name| name.as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn the_pareto_front_equals_that_of_all_pairs() {
    let directory = sweep();
    let run = directory.path().join("swept");
    let table = Table(&run);
    let figures = Figures::of(&page(directory.path(), "swept"));
    let points: Vec<(f64, f64)> = over_seeds(&table.lost())
        .into_iter()
        .zip(over_seeds(&table.numbers("completion_mean_s")))
        .map(|(lost, mean)| (lost / 1e6, mean / 3600.0))
        .collect();
    let beats = |a: &(f64, f64), b: &(f64, f64)| a.0 <= b.0 && a.1 <= b.1 && a != b;
    let mut front: Vec<(f64, f64)> = points
        .iter()
        .filter(|point| !points.iter().any(|other| beats(other, point)))
        .copied()
        .collect();
    front.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (x, y) = figures.curve("pareto-swept", "Pareto front");
    assert_eq!(x.len(), front.len());
    for (place, (along, up)) in front.into_iter().enumerate() {
        assert_near(x[place], along);
        assert_near(y[place], up);
    }
    let (x, _) = figures.curve("pareto-swept", "Settings");
    assert_eq!(x.len(), 12);
    let labels = &figures.get("pareto-swept")["marks"][1]["labels"];
    assert!(labels[0].as_str().unwrap().contains("t_fwd "));
}

#[test]
fn the_best_settings_and_all_settings_are_listed() {
    let directory = sweep();
    let summary = json(&directory.path().join("swept/summary.json"));
    assert_eq!(summary["ties_by"][0], "completion_mean_s");
    let best = &summary["best"];
    assert_eq!(
        (
            &best["settings_as_good"],
            &best["seeds"],
            &summary["settings"]
        ),
        (&12.into(), &2.into(), &12.into())
    );
    // Among the settings with the same work, the best are those whose tasks finished earliest on average.
    let run = directory.path().join("swept");
    let table = Table(&run);
    let (keys, means) = (table.texts("run"), table.numbers("completion_mean_s"));
    let means = over_seeds(&means);
    let least = means.iter().copied().fold(f64::INFINITY, f64::min);
    let place = keys.iter().position(|key| *key == best["runs"][0]).unwrap();
    assert_eq!((means[place / 2], place % 2), (least, 0));
    assert_eq!(best["runs"][1], keys[place + 1].as_str());
    assert!(best["settings"]["seed"].is_null() && best["settings"]["t_fwd"].is_number());
    let page = page(directory.path(), "swept");
    for told in [
        "Sweep swept",
        "24 replays that differ in t_fwd (3 values)",
        "seed (2 values)",
        "also reached by 11 other settings; ties are broken by completion mean, then rescale loss",
        "mean of 2 seeds ± half of its 95 % interval; standard deviation",
        "Figures are means over seeds, ± half the width of the 95 % interval",
        "<th scope=\"col\" class=\"n\">95 % interval</th><th scope=\"col\" class=\"n\">seeds</th>",
        "All 12 settings, best first",
        " ± ",
        "The same in all runs",
        "<td>solver</td>",
        "SHA-256",
    ] {
        let told = told.replace("<td>solver</td>", "<th scope=\"row\">solver</th>");
        assert!(page.contains(&told), "{told}");
    }
    let rows = page
        .split("All 12 settings, best first</span>")
        .nth(1)
        .unwrap();
    let rows = rows.split("</table>").next().unwrap();
    assert_eq!(rows.matches("<th scope=\"row\">").count(), 12);
}

#[test]
fn axes_and_figures_can_be_chosen() {
    let directory = sweep();
    let path = directory.path();
    let line = "report swept --heat t_fwd,max_tasks --metric efficiency --against rescale_loss \
                -o page.html --svg out --png out";
    gleaner(path, line).expect(0);
    let page = fs::read_to_string(path.join("page.html")).unwrap();
    let figures = Figures::of(&page);
    let heat = figures.get("heat-swept");
    assert_eq!(
        (&heat["x"]["title"], &heat["y"]["title"]),
        (&"t_fwd".into(), &"max_tasks".into())
    );
    assert_eq!(heat["marks"]["title"], "efficiency");
    let pareto = figures.get("pareto-swept");
    assert_eq!(pareto["x"]["title"], "rescale loss (million)");
    assert_eq!(fs::read_dir(path.join("out")).unwrap().count(), 4);
    for (line, word) in [
        ("--heat t_fwd,solver", "the same in all runs"),
        ("--heat t_fwd,seed", "only repeats runs"),
        ("--heat t_fwd", "two settings"),
        ("--metric events_optimal", "completion_mean_s"),
        ("--metric speed", "completion_mean_s"),
        ("--against nodes", "work_lost"),
    ] {
        gleaner(path, &format!("report swept {line} -o no.html"))
            .expect(2)
            .says(&[word]);
    }
    gleaner(
        path,
        "replay --events idle.csv --tasks tasks.toml --out run",
    )
    .expect(0);
    gleaner(path, "report run --metric efficiency -o no.html")
        .expect(2)
        .says(&["none of the runs is a sweep"]);
    assert!(!path.join("no.html").exists());
}

#[test]
fn few_settings_have_pages_too() {
    let directory = sweep();
    let path = directory.path();
    let plan = "[replay]\nevents = 'idle.csv'\ntasks = 'tasks.toml'\n";
    for (more, ids) in [
        ("", &[][..]),
        ("t_fwd = [30, 60]\n", &["heat-few", "pareto-few"]),
    ] {
        fs::write(path.join("few.toml"), format!("{plan}{more}")).unwrap();
        gleaner(path, "sweep few.toml --out few").expect(0);
        let page = page(path, "few");
        assert_eq!(Figures::of(&page).ids(), ids);
        // The page of a single combination of settings lists its figures.
        let is_single = page.contains("The figures of the only combination of settings");
        assert_eq!(is_single, more.is_empty());
    }
    let figures = Figures::of(&page(path, "few"));
    assert_eq!(figures.get("heat-few")["kind"], "groups");
}

// The expected values come from the tables of the sweep.
#[test]
fn few_settings_with_seeds_have_whiskers() {
    let directory = sweep();
    let path = directory.path();
    let plan = "[replay]\nevents = 'idle.csv'\ntasks = 'tasks.toml'\n\
                t_fwd = [30, 60]\nmax_tasks = 5\nseed = [0, 1, 2]\n";
    fs::write(path.join("few.toml"), plan).unwrap();
    gleaner(path, "sweep few.toml --best rescale_loss --out few").expect(0);
    let page = page(path, "few");
    let figures = Figures::of(&page);
    let ends = |table: &str| {
        let file = path.join("few").join(table).with_extension("csv");
        numbers(&file, "rescale_loss")
    };
    let (means, lows, highs) = (
        ends("settings"),
        ends("settings_low"),
        ends("settings_high"),
    );
    let (x, y) = figures.curve("heat-few", "Mean");
    assert_eq!(x, [0.0, 1.0]);
    let (_, whiskers) = figures.curve("heat-few", "95 % interval");
    let unit = means[0] / y[0];
    for place in 0..2 {
        assert_near(y[place], means[place] / unit);
        assert_near(whiskers[2 * place], lows[place] / unit);
        assert_near(whiskers[2 * place + 1], highs[place] / unit);
    }
    let label = &figures.get("heat-few")["marks"][0]["labels"][1];
    let label = label.as_str().unwrap();
    assert!(
        label.starts_with("t_fwd 60, 95 % interval") && label.ends_with("3 seeds"),
        "{label}"
    );
    gleaner(path, "report few -o no.html --svg out --png out").expect(0);
    check(&[path.join("page.html")]);
}

#[test]
fn sweeps_of_simulations_have_pages() {
    let directory = simulation();
    let path = directory.path();
    let plan = "[simulate]\ntrace = 'jobs.csv'\ncluster = 'vc.csv'\n\
                policy = ['fifo', 'sjf', 'srtf']\nplacer = ['consolidate', 'random']\n";
    fs::write(path.join("plan.toml"), plan).unwrap();
    gleaner(path, "sweep plan.toml --out swept").expect(0);
    let page = page(path, "swept sim");
    let figures = Figures::of(&page);
    let heat = figures.get("heat-swept");
    assert_eq!(x_names(&heat["x"]), ["fifo", "sjf", "srtf"]);
    let run = path.join("swept");
    let jct = Table(&run).numbers("avg_jct_s");
    // The runs are in the plan's order, in which the placer varies fastest.
    let scale = if jct.iter().any(|seconds| *seconds >= 36_000.0) {
        3600.0
    } else if jct.iter().any(|seconds| *seconds >= 600.0) {
        60.0
    } else {
        1.0
    };
    for (place, seconds) in jct.iter().enumerate() {
        let cell = &heat["marks"]["values"][place % 2][place / 2];
        assert_near(cell.as_f64().unwrap(), seconds / scale);
    }
    let y = figures.get("pareto-swept")["y"]["title"].as_str().unwrap();
    assert!(y.starts_with("average JCT"));
    assert!(page.contains("2 runs") && packed(&page, "figures").contains("jct-sim"));
}

#[test]
fn damaged_sweeps_are_faults() {
    let directory = sweep();
    let path = directory.path();
    let spoilt = |file: &str, from: &str, to: &str, words: &[&str]| {
        let file = path.join("swept").join(file);
        let sound = fs::read_to_string(&file).unwrap();
        assert!(sound.contains(from));
        fs::write(&file, sound.replace(from, to)).unwrap();
        sign(&path.join("swept"));
        gleaner(path, "report swept -o no.html")
            .expect(3)
            .says(words);
        fs::write(&file, sound).unwrap();
    };
    let metric = "\"metric\": \"total_work\"";
    spoilt(
        "summary.json",
        metric,
        "\"metric\": \"speed\"",
        &["summary.json", "speed"],
    );
    let table = path.join("swept/sweep.parquet");
    let sound = fs::read(&table).unwrap();
    for kept in [0, 1, sound.len() / 2, sound.len() - 1] {
        fs::write(&table, &sound[..kept]).unwrap();
        sign(&path.join("swept"));
        gleaner(path, "report swept -o no.html")
            .expect(3)
            .says(&["sweep.parquet"]);
    }
    fs::remove_file(&table).unwrap();
    gleaner(path, "report swept -o no.html")
        .expect(3)
        .says(&["sweep.parquet", "name a run directory of gleaner"]);
    assert!(!path.join("no.html").exists());
}
