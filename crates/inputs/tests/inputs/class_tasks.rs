//! Tests tasks whose bounds and curves depend on the class of nodes: examples, faults, limits, and files that are
//! written and read back.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;

use gleaner_classes::Counts;
use gleaner_domain::results::{Column, Table};
use gleaner_domain::{ClassTerms, ScalingCurve, TaskGroup, Terms, TrainingTask};
use gleaner_inputs::tasks::{ByClass, GivenCurve, GivenTask, TaskSet, read};
use gleaner_inputs::write;
use gleaner_io::table::WriteTable;
use proptest::prelude::*;

use super::support::{assert_has, fault_of, file};

fn read_text(name: &str, text: &str) -> gleaner_domain::Result<TaskSet> {
    let (_folder, path) = file(name, text);
    read(&path, None, false).map(|loaded| loaded.value)
}

fn curve(nodes: &[u32], progress: &[f64]) -> ScalingCurve {
    ScalingCurve {
        nodes: nodes.into(),
        progress: progress.iter().copied().collect(),
        objective: progress.iter().copied().collect(),
    }
}

/// Terms by class, built from the minimum and maximum number of nodes and the curve of each class.
fn terms<const N: usize>(classes: [(&str, u32, u32, ScalingCurve); N]) -> BTreeMap<String, Terms> {
    let of = |(class, min_nodes, max_nodes, curve): (&str, _, _, _)| {
        let terms = Terms {
            min_nodes,
            max_nodes,
            curve,
        };
        (class.to_owned(), terms)
    };
    classes.into_iter().map(of).collect()
}

const RESNET: &str = "\
[curve.resnet]
v100 = { nodes = [0, 1, 2, 4, 8], progress = [0, 400, 780, 1500, 2800] }
a100 = { nodes = [0, 1, 2, 4], progress = [0, 1000, 1950, 3700] }
";

/// The fields of a task that are the same in all tests.
const REST: &str = "rescale_up = 20\nrescale_down = 10\nwork = 1e8\n";

/// A task with this name and these lines.
fn task(name: &str, lines: &str) -> String {
    format!("[[task]]\nname = {name:?}\n{REST}{lines}\n")
}

fn resnet(lines: &str) -> String {
    format!(
        "{RESNET}{}",
        task("a", &format!("curve = 'resnet'\n{lines}"))
    )
}

#[test]
fn curves_and_bounds_by_class_give_terms() {
    let bounds = "min_nodes = { v100 = 2, a100 = 1 }\nmax_nodes = { v100 = 8, a100 = 4 }";
    let text = resnet(&format!("{bounds}\ncounts = 'points'\nmove = 45"));
    let expected = terms([
        (
            "a100",
            1,
            4,
            curve(&[0, 1, 2, 4], &[0.0, 1000.0, 1950.0, 3700.0]),
        ),
        (
            "v100",
            2,
            8,
            curve(&[0, 1, 2, 4, 8], &[0.0, 400.0, 780.0, 1500.0, 2800.0]),
        ),
    ]);
    let set = read_text("tasks.toml", &text).unwrap();
    let read = &set.tasks[0];
    assert_eq!(*read.classes.by_name, expected);
    assert_eq!(read.classes.move_cost, Some(45.0));
    assert_eq!(read.classes.counts, Counts::Points);
    // The task's own terms are those of v100, which is slower: at the minimum number of nodes, its progress per node is
    // 390, compared with 1000 on a100.
    assert_eq!(read.own_terms(), expected["v100"]);

    let json = r#"{"task": [{"name": "a", "rescale_up": 20, "rescale_down": 10, "work": 1e8, "move": 45,
        "counts": "points", "min_nodes": {"v100": 2, "a100": 1}, "max_nodes": {"v100": 8, "a100": 4, "h100": null},
        "curve": {"v100": {"nodes": [0, 1, 2, 4, 8], "progress": [0, 400, 780, 1500, 2800], "objective": null},
                  "a100": {"nodes": [0, 1, 2, 4], "progress": [0, 1000, 1950, 3700]}, "h100": null}}]}"#;
    assert_eq!(read_text("tasks.json", json).unwrap().tasks, set.tasks);
}

#[test]
fn a_number_is_a_bound_in_all_classes() {
    let set = read_text("tasks.toml", &resnet("min_nodes = 1\nmax_nodes = 4")).unwrap();
    let classes = &set.tasks[0].classes;
    assert_eq!((classes.move_cost, classes.counts), (None, Counts::All));
    let bounds = classes.by_name.values();
    let bounds: Vec<_> = bounds
        .map(|terms| (terms.min_nodes, terms.max_nodes))
        .collect();
    assert_eq!(bounds, [(1, 4), (1, 4)]);
    assert_eq!(set.tasks[0].move_seconds(), 30.0);
}

#[test]
fn factors_multiply_progress_and_objective_in_every_format() {
    let own = "min_nodes = 1\nmax_nodes = 2\nspeed = { v100 = 1, a100 = 2.5 }\nmove = 5\n\
               curve = { nodes = [0, 2], progress = [0, 4], objective = [0, 1] }";
    let header = "name,min_nodes,max_nodes,rescale_up,rescale_down,move,counts,work,curve_nodes,curve_progress,\
                  curve_objective,speed\n";
    let csv = format!("{header}a,1,2,20,10,5,,1e8,0;2,0;4,0;1,v100=1;a100=2.5\n");
    let scaled = |progress: f64, objective: f64| ScalingCurve {
        objective: [0.0, objective].into(),
        ..curve(&[0, 2], &[0.0, progress])
    };
    let expected = terms([
        ("a100", 1, 2, scaled(10.0, 2.5)),
        ("v100", 1, 2, scaled(4.0, 1.0)),
    ]);
    for (name, text) in [("tasks.toml", task("a", own)), ("tasks.csv", csv)] {
        let set = read_text(name, &text).unwrap();
        assert_eq!(*set.tasks[0].classes.by_name, expected, "{name}");
        assert_eq!(set.tasks[0].own_terms(), expected["v100"]);
        assert_eq!(set.tasks[0].classes.move_cost, Some(5.0));
    }
}

#[test]
fn factors_in_parquet_are_texts() {
    let number = |value| Column::Floats(vec![Some(value), Some(value)]);
    let texts = |first: &'static str, second: &'static str| {
        Column::Texts(vec![first.into(), second.into()])
    };
    let table = Table {
        name: "tasks",
        columns: vec![
            ("name", texts("a", "b")),
            ("min_nodes", number(1.0)),
            ("max_nodes", number(2.0)),
            ("rescale_up", number(20.0)),
            ("rescale_down", number(10.0)),
            ("work", number(1e8)),
            ("move", Column::Floats(vec![Some(5.0), None])),
            ("counts", texts("points", "")),
            ("curve_nodes", texts("0;2", "0;2")),
            ("curve_progress", texts("0;4", "0;4")),
            ("speed", texts("v100=1;a100=2.5", "")),
        ],
    };
    let mut bytes = Vec::new();
    table.write_parquet(&mut bytes).unwrap();
    let (_folder, path) = file("tasks.parquet", bytes);
    let tasks = read(&path, None, false).unwrap().value.tasks;
    let line = |progress| curve(&[0, 2], &[0.0, progress]);
    let expected = terms([("a100", 1, 2, line(10.0)), ("v100", 1, 2, line(4.0))]);
    assert_eq!(*tasks[0].classes.by_name, expected);
    assert_eq!(tasks[0].classes.move_cost, Some(5.0));
    assert_eq!(tasks[0].classes.counts, Counts::Points);
    assert_eq!(tasks[1].classes, ClassTerms::default());
}

#[test]
fn a_plain_curve_has_no_terms_by_class() {
    let own = "min_nodes = 1\nmax_nodes = 2\ncurve = { nodes = [0, 2], progress = [0, 4] }";
    let set = read_text("tasks.toml", &task("a", own)).unwrap();
    assert!(set.tasks[0].classes.by_name.is_empty());
}

#[test]
fn equal_curves_and_terms_are_shared() {
    let lines = "curve = 'resnet'\nmin_nodes = 1\nmax_nodes = 4";
    let plain = "[curve.plain]\nnodes = [0, 8]\nprogress = [0, 9]\n";
    let fast = "curve = 'plain'\nmin_nodes = 1\nmax_nodes = 4\nspeed = { a = 2, b = 2 }";
    let tasks = [("a", lines), ("b", lines), ("c", fast), ("d", fast)];
    let tasks = tasks.map(|(name, lines)| task(name, lines));
    let text = format!("{RESNET}{plain}{}", tasks.concat());
    let tasks = read_text("tasks.toml", &text).unwrap().tasks;
    for pair in tasks.chunks(2) {
        assert!(Arc::ptr_eq(
            &pair[0].classes.by_name,
            &pair[1].classes.by_name
        ));
    }
    let scaled = &tasks[2].classes.by_name;
    let lists = ["a", "b"].map(|class| scaled[class].curve.progress.list());
    assert!(Arc::ptr_eq(lists[0], lists[1]));
}

#[test]
fn faults_of_classes_name_the_class() {
    for (lines, words) in [
        (
            "min_nodes = { v100 = 1 }\nmax_nodes = 4",
            "min_nodes.a100: found nothing, expected a whole number of nodes, at least 1",
        ),
        (
            "min_nodes = 1\nmax_nodes = { v100 = 8, a100 = 4, h100 = 4 }",
            "max_nodes.h100: found a class without a curve, expected a class of the task's curve",
        ),
        (
            "min_nodes = { v100 = 9, a100 = 1 }\nmax_nodes = { v100 = 8, a100 = 4 }",
            "min_nodes.v100: found 9, expected at most 8, which is max_nodes.v100",
        ),
        (
            "min_nodes = { v100 = 5, a100 = 1 }\nmax_nodes = 4",
            "min_nodes.v100: found 5, expected at most 4, which is max_nodes",
        ),
        (
            "min_nodes = 1\nmax_nodes = { v100 = 8, a100 = 5 }",
            "max_nodes.a100: found 5, expected at most 4, the last point of the curve of class \"a100\"",
        ),
        (
            "min_nodes = 1\nmax_nodes = 8",
            "max_nodes: found 8, expected at most 4, the last point of the curve of class \"a100\"",
        ),
        (
            "min_nodes = { v100 = 0, a100 = 1 }\nmax_nodes = 4",
            "min_nodes.v100: found 0, expected a whole number of nodes, at least 1",
        ),
        (
            "min_nodes = { '' = 1 }\nmax_nodes = 4",
            "min_nodes.: found \"\" as the name of a class, expected a name that is neither empty nor",
        ),
        (
            "min_nodes = {}\nmax_nodes = 4",
            "min_nodes: found 0 classes, expected from 1 to 1000 classes",
        ),
        (
            "min_nodes = 1\nmax_nodes = 4\nspeed = { v100 = 1 }",
            "speed: found factors, expected no factors, because the task has a curve for each class",
        ),
        (
            "min_nodes = 3\nmax_nodes = 3\ncounts = 'points'",
            "counts: found \"points\", but the curve has no point from 3 to 3 nodes in class \"a100\"",
        ),
        (
            "min_nodes = 1\nmax_nodes = 4\ncounts = 'some'",
            "counts: found \"some\", expected \"all\" or \"points\"",
        ),
        (
            "min_nodes = 1\nmax_nodes = 4\nmove = -1",
            "move: found -1, expected a number of seconds from 0 to 1e12",
        ),
        (
            "min_nodes = 1\nmax_nodes = 4\nmove = nan",
            "move: found NaN, expected a number of seconds from 0 to 1e12",
        ),
    ] {
        let message = fault_of(read_text("tasks.toml", &resnet(lines)));
        assert_has(&message, &["tasks.toml, task 1 (\"a\"), ", words]);
        assert!(!message.contains("faults in the input"), "{message}");
    }
}

#[test]
fn faults_of_curves_name_the_class() {
    const GOOD: &str = "a100 = { nodes = [0, 4], progress = [0, 3] }";
    for (class, words) in [
        (
            "v100 = { nodes = [0, 4], progress = [0, -3] }",
            "curve.v100.progress: found -3, expected 0, or 1e-30 to 1e30",
        ),
        (
            "v100 = { nodes = [0, 4], progress = [0, 3], objective = [0] }",
            "curve.v100.objective: found 1 values, expected 2, as many as in curve.v100.nodes",
        ),
        (
            "v100 = { nodes = [1, 4], progress = [0, 3] }",
            "curve.v100.nodes: found 1 as the first point, expected 0 nodes",
        ),
        (
            "v100 = { nodes = [0, 4], progress = [1, 3] }",
            "curve.v100.progress: found 1 at 0 nodes, expected 0 at 0 nodes",
        ),
        (
            "v100 = { nodes = [0, 4], speed = [0, 3] }",
            "curve.v100.speed: found an unknown field",
        ),
        (
            "v100 = 3",
            "curve.v100: found 3, expected a curve (nodes, progress, objective)",
        ),
        (
            "progress = { nodes = [0, 4], progress = [0, 3] }",
            "curve.progress: found \"progress\" as the name of a class, expected a name that is neither empty nor one \
             of nodes, progress, objective",
        ),
        (
            "nodes = { nodes = [0, 4], progress = [0, 3] }",
            "curve.nodes: found \"nodes\" as the name of a class",
        ),
        (
            "'' = { nodes = [0, 4], progress = [0, 3] }",
            "curve.: found \"\" as the name of a class",
        ),
    ] {
        let named = format!("[curve.c]\n{GOOD}\n{class}\n");
        assert_has(
            &fault_of(read_text("tasks.toml", &named)),
            &["curve \"c\", ", words],
        );
        let own = format!("min_nodes = 1\nmax_nodes = 4\ncurve = {{ {GOOD}, {class} }}");
        let message = fault_of(read_text("tasks.toml", &task("a", &own)));
        assert_has(&message, &["task 1 (\"a\"), ", words]);
    }
    let json = r#"{"task": [{"name": "a", "curve": {"v": {"nodes": [0]}, "v": {"nodes": [0]}}}]}"#;
    let twice = r#"{"task": [{"name": "a", "min_nodes": {"v": 1, "v": 1}}]}"#;
    for (text, words) in [
        (json, "curve.v.progress: found nothing"),
        (
            twice,
            "min_nodes.v: found the class a second time, expected each class only once",
        ),
    ] {
        assert_has(&fault_of(read_text("tasks.json", text)), &[words]);
    }
}

#[test]
fn faults_of_factors_name_the_class() {
    let own =
        "min_nodes = 1\nmax_nodes = 2\ncurve = { nodes = [0, 2], progress = [0, 4] }\nspeed = ";
    for (speed, words) in [
        (
            "{ v100 = 0 }",
            "speed.v100: found 0, expected a factor from 1e-30 to 1e30",
        ),
        (
            "{ v100 = nan }",
            "speed.v100: found NaN, expected a factor from",
        ),
        (
            "{ v100 = 1e300 }",
            "speed.v100: found 1e300, expected a factor from",
        ),
        (
            "{ v100 = -2 }",
            "speed.v100: found -2, expected a factor from",
        ),
        (
            "{ v100 = 1e30 }",
            "speed.v100: found 1e30, expected a factor with which the curve's rates are 0, or 1e-30 to 1e30",
        ),
        (
            "{ v100 = 'x' }",
            "speed.v100: found \"x\", expected a factor",
        ),
        ("{ '' = 1 }", "speed.: found \"\" as the name of a class"),
        ("{}", "speed: found 0 classes"),
        (
            "2",
            "speed: found 2, expected a table with a factor for each class",
        ),
    ] {
        let message = fault_of(read_text(
            "tasks.toml",
            &task("a", &format!("{own}{speed}")),
        ));
        assert_has(&message, &["task 1 (\"a\"), ", words]);
    }
    let bounds =
        "min_nodes = 1\nmax_nodes = { v100 = 2 }\ncurve = { nodes = [0, 2], progress = [0, 4] }";
    assert_has(
        &fault_of(read_text("tasks.toml", &task("a", bounds))),
        &[
            "max_nodes: found a table of classes, expected one number, because the curve has no classes",
        ],
    );
    let header =
        "name,min_nodes,max_nodes,rescale_up,rescale_down,work,curve_nodes,curve_progress,speed\n";
    for (cell, words) in [
        (
            "v100",
            "line 2, speed: found \"v100\", expected a factor for each class, such as v100=1;a100=2.4",
        ),
        (
            "v100=0",
            "line 2, speed.v100: found 0, expected a factor from 1e-30 to 1e30",
        ),
        ("v100=nan", "line 2, speed.v100: found NaN"),
        ("=2", "line 2, speed.: found \"\" as the name of a class"),
        ("a=1;a=2", "line 2, speed.a: found the class a second time"),
    ] {
        let csv = format!("{header}a,1,2,1,1,1,0;2,0;3,{cell}\n");
        assert_has(&fault_of(read_text("tasks.csv", &csv)), &[words]);
    }
}

/// A table with this value for each of `count` classes.
fn table(count: usize, value: &str) -> String {
    let pairs: Vec<String> = (0..count)
        .map(|class| format!("c{class} = {value}"))
        .collect();
    format!("{{ {} }}", pairs.join(", "))
}

#[test]
fn there_are_at_most_a_thousand_classes() {
    let own = |count| {
        let speed = table(count, "2");
        let plain = "min_nodes = 1\nmax_nodes = 2\ncurve = { nodes = [0, 2], progress = [0, 4] }";
        task("a", &format!("{plain}\nspeed = {speed}"))
    };
    let set = read_text("tasks.toml", &own(1000)).unwrap();
    assert_eq!(set.tasks[0].classes.by_name.len(), 1000);
    assert_has(
        &fault_of(read_text("tasks.toml", &own(1001))),
        &["speed: found 1001 classes, expected from 1 to 1000 classes"],
    );
    // If every class has the same fault, it is reported only once for each task. The messages are therefore not much
    // longer than the file.
    let curve = table(1000, "{ nodes = [0, 2], progress = [0, 4] }");
    let lines = "curve = 'c'\nmin_nodes = 4\nmax_nodes = 3\n";
    let tasks: String = (0..50).map(|i| task(&format!("t{i}"), lines)).collect();
    let text = format!("[curve]\nc = {curve}\n{tasks}");
    assert_has(&fault_of(read_text("tasks.toml", &text)), &["100 faults"]);
}

#[test]
fn a_short_file_cannot_request_many_rates_or_terms() {
    // Scaling a curve of 20,000 points for 1,000 classes creates 40 million rates (two per point and class), more than
    // the limit of 2^25.
    let points = |count: u32| {
        let list = |first: u32| {
            let values: Vec<String> = (first..first + count).map(|i| i.to_string()).collect();
            format!("[{}]", values.join(", "))
        };
        format!("[curve.c]\nnodes = {}\nprogress = {}\n", list(0), list(0))
    };
    let speed = format!("speed = {}", table(1000, "2"));
    let lines = format!("curve = 'c'\nmin_nodes = 1\nmax_nodes = 2\n{speed}");
    assert_has(
        &fault_of(read_text(
            "tasks.toml",
            &format!("{}{}", points(20_000), task("a", &lines)),
        )),
        &[
            "task 1 (\"a\"), speed: found a total of more than 33554432 rates in the file's scaled curves",
        ],
    );
    let mut text = format!(
        "[curve]\nc = {}\n",
        table(1000, "{ nodes = [0, 9999], progress = [0, 4] }")
    );
    for max in 1..=2001 {
        let bounds = format!("curve = 'c'\nmin_nodes = 1\nmax_nodes = {max}");
        write!(text, "{}", task(&format!("t{max}"), &bounds)).unwrap();
    }
    assert_has(
        &fault_of(read_text("tasks.toml", &text)),
        &[
            "task 2001 (\"t2001\"), curve: found more than 2000000 pairs of a task and a class in the file",
        ],
    );
}

#[test]
fn the_cost_of_a_move_must_fit_the_window() {
    let text = resnet("min_nodes = 1\nmax_nodes = 4\nmove = 2e9");
    let set = || read_text("tasks.toml", &text).unwrap();
    assert_eq!(set().within_window(2000.0, false).unwrap().tasks.len(), 1);
    assert_has(
        &fault_of(set().within_window(1000.0, false)),
        &[
            "task 1 (\"a\"), move: found 2e9 s, expected at most 1e6 times the window (--t-fwd 1000)",
        ],
    );
}

const GROUP: &str = "[[group]]\nname = 'g'\ntasks = ['a']\n";

#[test]
fn the_maximum_of_a_group_may_be_a_table() {
    let with = |lines: &str| {
        let tasks = resnet("min_nodes = 1\nmax_nodes = 4");
        read_text("tasks.toml", &format!("{tasks}{GROUP}{lines}"))
    };
    let group = with("min_nodes = 1\nmax_nodes = { a100 = 0, v100 = 6 }")
        .unwrap()
        .groups
        .remove(0);
    let limits = [("a100".to_owned(), 0), ("v100".to_owned(), 6)];
    assert_eq!(group.max_by_class, BTreeMap::from(limits));
    assert_eq!((group.min_nodes, group.max_nodes), (Some(1), None));
    assert_eq!(with("max_nodes = 6").unwrap().groups[0].max_nodes, Some(6));
    for (lines, words) in [
        (
            "max_nodes = { a100 = -1 }",
            "max_nodes.a100: found -1, expected a whole number of nodes",
        ),
        (
            "max_nodes = { '' = 1 }",
            "max_nodes.: found \"\" as the name of a class",
        ),
        ("max_nodes = {}", "max_nodes: found 0 classes"),
        (
            "min_nodes = { a100 = 1 }",
            "min_nodes: found a table, expected a whole number of nodes",
        ),
    ] {
        assert_has(&fault_of(with(lines)), &["group 1 (\"g\")", words]);
    }
}

#[test]
fn programs_give_curves_and_bounds_by_class() {
    let given = |progress: f64| GivenCurve {
        nodes: [0.0, 4.0].into(),
        progress: [0.0, progress].into(),
        objective: None,
    };
    let each = |v100, a100| BTreeMap::from([("v100".to_owned(), v100), ("a100".to_owned(), a100)]);
    let task = |v100| GivenTask {
        name: "a".into(),
        submit: None,
        deadline: None,
        min_nodes: ByClass::Same(1.0),
        max_nodes: ByClass::Each(BTreeMap::from([("v100".into(), 4.0), ("a100".into(), 2.0)])),
        rescale_up: 1.0,
        rescale_down: 1.0,
        work: f64::INFINITY,
        priority: 1.0,
        curve: ByClass::Each(each(given(v100), given(8.0))),
        speed: BTreeMap::new(),
        move_cost: Some(3.0),
        counts: Counts::All,
    };
    let read = task(2.0).check().unwrap();
    let line = |progress| curve(&[0, 4], &[0.0, progress]);
    assert_eq!(
        *read.classes.by_name,
        terms([("v100", 1, 4, line(2.0)), ("a100", 1, 2, line(8.0))])
    );
    assert_eq!(read.classes.move_cost, Some(3.0));
    assert_has(
        &fault_of(task(-1.0).check()),
        &["Task, \"a\", curve.v100: found -1, expected 0, or 1e-30 to 1e30"],
    );
}

/// A curve with random points and rates above 0.
fn any_curve() -> impl Strategy<Value = ScalingCurve> {
    let rates = |count| prop::collection::vec(0.001f64..1e6, count);
    let points = prop::collection::btree_set(1u32..64, 1..5);
    points.prop_flat_map(move |points| {
        let count = points.len();
        (Just(points), rates(count), prop::option::of(rates(count))).prop_map(
            |(points, progress, objective)| {
                let start = |rates: Vec<f64>| std::iter::once(0.0).chain(rates).collect();
                let progress: gleaner_solvers::Rates = start(progress);
                ScalingCurve {
                    nodes: std::iter::once(0).chain(points).collect(),
                    objective: objective.map_or_else(|| progress.clone(), start),
                    progress,
                }
            },
        )
    })
}

/// Random terms whose bounds lie on the curve. The maximum is the curve's last point, so the terms are also valid with
/// `counts = "points"`.
fn any_terms() -> impl Strategy<Value = Terms> {
    any_curve().prop_flat_map(|curve| {
        let last = curve.nodes[curve.nodes.len() - 1];
        (1..=last).prop_map(move |min_nodes| Terms {
            min_nodes,
            max_nodes: last,
            curve: curve.clone(),
        })
    })
}

fn any_task() -> impl Strategy<Value = TrainingTask> {
    let names = prop::sample::select(vec!["v100", "a100", "h 100", "x.y=z", "节点", "\"\n"]);
    let by_name = prop::collection::btree_map(names.prop_map(str::to_owned), any_terms(), 0..4);
    let counts = prop::sample::select(vec![Counts::All, Counts::Points]);
    let move_cost = prop::option::of(0.0f64..1e6);
    (any_terms(), by_name, counts, move_cost, any::<bool>()).prop_map(
        |(own, by_name, counts, move_cost, has_priority)| {
            let mut task = read_text("tasks.toml", &resnet("min_nodes = 1\nmax_nodes = 4"))
                .unwrap()
                .tasks
                .remove(0);
            (task.min_nodes, task.max_nodes, task.curve) =
                (own.min_nodes, own.max_nodes, own.curve);
            task.priority = if has_priority { 2.0 } else { 1.0 };
            (task.classes.counts, task.classes.move_cost) = (counts, move_cost);
            task.classes.by_name = Arc::default();
            task.with_terms(Arc::new(by_name))
        },
    )
}

proptest! {
    #![proptest_config(gleaner_testing::slow_cases(256, 2))]

    #[test]
    fn written_tasks_are_read_back(
        mut tasks in prop::collection::vec(any_task(), 1..5),
        same in any::<bool>(),
        limits in prop::option::of((0u32..4, 4u32..9)),
    ) {
        for (number, task) in tasks.iter_mut().enumerate() {
            task.name = format!("t{number}");
        }
        if same {
            let again = TrainingTask { name: "again".into(), ..tasks[0].clone() };
            tasks.push(again);
        }
        let folder = tempfile::tempdir().unwrap();
        for name in ["tasks.toml", "tasks.json"] {
            let path = folder.path().join(name);
            let group = limits.map(|(min, max)| TaskGroup {
                name: "g".into(),
                tasks: vec!["t0".into()],
                min_nodes: Some(min),
                max_nodes: (min > 0).then_some(max),
                max_by_class: (min == 0).then(|| ("a".to_owned(), max)).into_iter().collect(),
            });
            let groups: Vec<TaskGroup> = group.into_iter().collect();
            write::tasks::write_grouped(&tasks, &groups, &path).unwrap();
            let set = read(&path, None, false).unwrap().value;
            prop_assert_eq!(&set.tasks, &tasks, "{}", name);
            prop_assert_eq!(&set.groups, &groups, "{}", name);
        }
    }
}

#[test]
fn what_a_file_cannot_state_is_not_written() {
    let set = read_text("tasks.toml", &resnet("min_nodes = 1\nmax_nodes = 4")).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let error = write::tasks::write(&set.tasks, &folder.path().join("tasks.csv")).unwrap_err();
    assert_has(
        &error.to_string(),
        &["expected a name ending in .toml or .json"],
    );
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}
