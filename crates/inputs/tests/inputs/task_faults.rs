//! Tests that faults in tasks are reported with the task, the field, the value found and the value expected.

use std::path::Path;

use gleaner_domain::Error;
use gleaner_inputs::tasks::{TaskSet, read};

use super::support::{assert_has, fault_of, file, fixture};

fn read_text(name: &str, text: &str, skip: bool) -> gleaner_domain::Result<TaskSet> {
    let (_folder, path) = file(name, text);
    read(&path, None, skip).map(|loaded| loaded.value)
}

/// A valid task after these changes. Each change replaces the line of a field, or adds a line if
/// the field has no line.
fn toml_with(name: &str, changes: &[(&str, &str)]) -> String {
    let mut fields = vec![
        ("name", format!("{name:?}")),
        ("min_nodes", "1".into()),
        ("max_nodes", "4".into()),
        ("rescale_up", "1".into()),
        ("rescale_down", "1".into()),
        ("work", "10".into()),
        ("curve.nodes", "[0, 1, 4]".into()),
        ("curve.progress", "[0, 1, 3]".into()),
    ];
    for (field, value) in changes {
        fields.retain(|(name, _)| name != field);
        fields.push((field, (*value).to_owned()));
    }
    let lines = fields.iter().filter(|(_, value)| !value.is_empty());
    let lines: Vec<_> = lines
        .map(|(name, value)| format!("{name} = {value}\n"))
        .collect();
    format!("[[task]]\n{}", lines.concat())
}

#[test]
fn every_rule_has_its_message() {
    for (change, words) in [
        (("name", "''"), "name: found nothing, expected a name"),
        (("name", "7"), "name: found 7, expected a string"),
        (
            ("min_nodes", "0"),
            "min_nodes: found 0, expected a whole number of nodes, at least 1",
        ),
        (
            ("min_nodes", "-1"),
            "min_nodes: found -1, expected a whole number of nodes",
        ),
        (
            ("min_nodes", "1.5"),
            "min_nodes: found 1.5, expected a whole number of nodes",
        ),
        (
            ("min_nodes", "nan"),
            "min_nodes: found NaN, expected a whole number of nodes",
        ),
        (
            ("min_nodes", "5"),
            "min_nodes: found 5, expected at most 4, which is max_nodes",
        ),
        (
            ("max_nodes", "0"),
            "max_nodes: found 0, expected a whole number of nodes, at least 1",
        ),
        (
            ("max_nodes", "1e10"),
            "max_nodes: found 1e10, expected a whole number",
        ),
        (
            ("max_nodes", "5"),
            "max_nodes: found 5, expected at most 4, the curve's last point",
        ),
        (
            ("rescale_up", "-0.5"),
            "rescale_up: found -0.5, expected a number of seconds from 0 to 1e12",
        ),
        (
            ("rescale_down", "inf"),
            "rescale_down: found inf, expected a number of seconds from 0 to 1e12",
        ),
        (
            ("rescale_up", "1.1e12"),
            "rescale_up: found 1.1e12, expected a number of seconds from 0 to 1e12",
        ),
        (
            ("rescale_down", "'1'"),
            "rescale_down: found \"1\", expected a number of seconds from 0 to 1e12",
        ),
        (
            ("rescale_up", ""),
            "rescale_up: found nothing, expected a number of seconds from 0 to 1e12",
        ),
        (("work", "0"), "work: found 0, expected a number above 0"),
        (("work", "-3"), "work: found -3, expected a number above 0"),
        (
            ("work", "inf"),
            "work: found inf, expected a number above 0, or \"endless\"",
        ),
        (
            ("work", "'forever'"),
            "work: found \"forever\", expected a number above 0, or \"endless\"",
        ),
        (
            ("priority", "0"),
            "priority: found 0, expected a number from 1e-30 to 1e30",
        ),
        (
            ("priority", "2e30"),
            "priority: found 2e30, expected a number from 1e-30 to 1e30",
        ),
        (
            ("priority", "\"high\""),
            "priority: found \"high\", expected a number",
        ),
        (
            ("work", "nan"),
            "work: found NaN, expected a number above 0",
        ),
        (
            ("submit", "'soon'"),
            "submit: found \"soon\", expected a time such as",
        ),
        (
            ("submit", "true"),
            "submit: found true, expected a time such as",
        ),
        (
            ("curve.nodes", "[1, 2, 4]"),
            "curve.nodes: found 1 as the first point, expected 0 nodes",
        ),
        (
            ("curve.nodes", "[0, 4, 4]"),
            "curve.nodes: found 4 after 4, expected increasing",
        ),
        (
            ("curve.nodes", "[0, 1.5, 4]"),
            "curve.nodes: found 1.5, expected whole numbers",
        ),
        (
            ("curve.nodes", "[0, 'x', 4]"),
            "curve.nodes: found a list of 3 values, expected a list of numbers",
        ),
        (("curve.nodes", "[]"), "curve.nodes: found no points"),
        (
            ("curve.progress", "[0, 1]"),
            "curve.progress: found 2 values, expected 3, as many as in curve.nodes",
        ),
        (
            ("curve.progress", "[0, -1, 3]"),
            "curve.progress: found -1, expected 0, or 1e-30 to 1e30",
        ),
        (
            ("curve.progress", "[0, 1e-31, 3]"),
            "curve.progress: found 1e-31, expected 0, or 1e-30 to 1e30",
        ),
        (
            ("curve.progress", "[0, nan, 3]"),
            "curve.progress: found NaN, expected 0, or 1e-30 to 1e30",
        ),
        (
            ("curve.progress", "[2, 3, 4]"),
            "curve.progress: found 2 at 0 nodes, expected 0 at 0 nodes",
        ),
        (
            ("curve.objective", "[0, inf, 3]"),
            "curve.objective: found inf, expected 0, or 1e-30 to 1e30",
        ),
        (
            ("curve.objective", "[0, 1, 1e308]"),
            "curve.objective: found 1e308, expected 0, or 1e-30 to 1e30",
        ),
        (
            ("curve.objective", "[0]"),
            "curve.objective: found 1 values, expected 3",
        ),
        (
            ("curve.speed", "[0]"),
            "curve.speed: found an unknown field",
        ),
        (("min_node", "1"), "min_node: found an unknown field"),
    ] {
        let text = toml_with("J1", &[change]);
        assert_has(
            &fault_of(read_text("tasks.toml", &text, false)),
            &["task 1", words],
        );
    }
}

#[test]
fn faults_of_all_tasks_are_gathered_or_skipped() {
    let text = [
        toml_with("good", &[]),
        toml_with("bad", &[("work", "0"), ("min_nodes", "9")]),
        toml_with("good", &[]),
        toml_with("also good", &[("submit", "5")]),
    ]
    .concat();
    let words = [
        "task 2 (\"bad\"), work",
        "task 2 (\"bad\"), min_nodes",
        "task 3 (\"good\"), name: found \"good\", the name of an earlier task",
    ];
    let message = fault_of(read_text("tasks.toml", &text, false));
    assert_has(&message, &words);
    assert_has(&message, &["3 faults"]);

    let set = read_text("tasks.toml", &text, true).unwrap();
    let names: Vec<_> = set.tasks.iter().map(|task| task.name.as_str()).collect();
    assert_eq!(names, ["good", "also good"]);
    assert_has(&set.skipped.to_string(), &words);
}

#[test]
fn costs_must_fit_the_window() {
    let toml = [
        toml_with("dear", &[("rescale_down", "2e9")]),
        toml_with("cheap", &[("rescale_up", "1e9")]),
    ];
    let set = |skip| read_text("tasks.toml", &toml.concat(), skip).unwrap();
    let words = "tasks.toml, task 1 (\"dear\"), rescale_down: found 2e9 s, \
                 expected at most 1e6 times the window (--t-fwd 1000)";
    assert_has(&fault_of(set(false).within_window(1000.0, false)), &[words]);
    assert_eq!(
        set(false).within_window(2000.0, false).unwrap().tasks.len(),
        2
    );

    let rest = set(true).within_window(1000.0, true).unwrap();
    assert_eq!(rest.tasks.len(), 1);
    assert_has(&rest.skipped.to_string(), &[words]);
    let none = fault_of(set(true).within_window(100.0, true));
    assert_has(&none, &[words.split(',').next().unwrap(), "no valid task"]);

    // Faults use the names that the fields have in the file's format.
    let header =
        "name,min_nodes,max_nodes,rescale_up,rescale_down,work,curve_nodes,curve_progress\n";
    let csv = format!("{header}a,1,4,3e9,1,10,0;4,0;3\n");
    let set = read_text("tasks.csv", &csv, false).unwrap();
    let words = "line 2, rescale_up: found 3e9 s";
    assert_has(&fault_of(set.within_window(10.0, false)), &[words]);
}

#[test]
fn shared_curves_are_checked_once() {
    let text = format!(
        "[curve.c]\nnodes = [0, 4]\nprogress = [0, -1]\n{}{}",
        toml_with(
            "a",
            &[
                ("curve.nodes", ""),
                ("curve.progress", ""),
                ("curve", "'c'")
            ]
        ),
        toml_with(
            "b",
            &[
                ("curve.nodes", ""),
                ("curve.progress", ""),
                ("curve", "'d'")
            ]
        ),
    );
    assert_has(
        &fault_of(read_text("tasks.toml", &text, false)),
        &[
            "3 faults",
            "curve \"c\", curve.progress: found -1",
            "task 1 (\"a\"), curve: found \"c\", which has faults",
            "task 2 (\"b\"), curve: found \"d\", expected the name of a curve in the file, as in [curve.d]",
        ],
    );
}

#[test]
fn invalid_documents_are_reported_with_their_place() {
    for (name, text, words) in [
        (
            "tasks.toml",
            "[[task]]\nname = \n",
            "line 2: found malformed TOML",
        ),
        (
            "tasks.toml",
            "[[tasks]]\nname = 'a'\n",
            "tasks: found an unknown field",
        ),
        ("tasks.toml", "", "no valid task"),
        (
            "tasks.toml",
            "task = 3",
            "task: found 3, expected a list of tasks",
        ),
        (
            "tasks.toml",
            "task = [3]",
            "task 1, task: found 3, expected a table of fields",
        ),
        (
            "tasks.toml",
            "curve = 'x'",
            "curve: found \"x\", expected curves by name",
        ),
        (
            "tasks.json",
            "{\"task\": [}",
            "line 1: found malformed JSON",
        ),
        ("tasks.json", "[]", "expected an object with a list `task`"),
        (
            "tasks.json",
            "{\"task\": [{\"name\": \"a\", \"name\": \"b\"}]}",
            "name: found the field a second time",
        ),
        ("tasks.json", "", "line 1: found malformed JSON"),
        ("tasks.csv", "", "min_nodes: found no such column"),
        (
            "tasks.csv",
            "name,name,minimum\n",
            "name: found 2 such columns",
        ),
        (
            "tasks.csv",
            "name,name,minimum\n",
            "minimum: found an unknown column, expected one of name, submit",
        ),
    ] {
        assert_has(&fault_of(read_text(name, text, false)), &[words]);
        fault_of(read_text(name, text, true));
    }
}

#[test]
fn faults_in_csv_name_the_line() {
    let header =
        "name,min_nodes,max_nodes,rescale_up,rescale_down,work,curve_nodes,curve_progress\n";
    let text = format!("{header}a,1,4,1,1,10,0;4,0;3\nb,one,4,1,1,10,0;4,0;x\nc,1,4\n");
    let words = [
        "line 3, min_nodes: found \"one\", expected a whole number of nodes",
        "line 3, curve_progress: found \"0;x\", expected a list of numbers",
        "line 4: found 3 fields, expected 8, as in the header",
    ];
    assert_has(&fault_of(read_text("tasks.csv", &text, false)), &words);
    let set = read_text("tasks.csv", &text, true).unwrap();
    assert_eq!(set.tasks.len(), 1);
    assert_has(&set.skipped.to_string(), &words);
}

#[test]
fn pickles_come_in_pairs_and_in_order() {
    let bounds = fixture("pickle/tasks-2.2.3-p5.pkl");
    let curves = fixture("pickle/curves-2.2.3-p5.pkl");
    let usage = |tasks: &Path, curves: Option<&Path>| {
        let error = read(tasks, curves, false).unwrap_err();
        assert!(matches!(error, Error::Usage(_)), "{error}");
        error.to_string()
    };
    assert_has(
        &usage(&bounds, None),
        &["pickle of their scaling curves", "-scfn"],
    );
    let (_folder, toml) = file("tasks.toml", toml_with("a", &[]));
    assert_has(&usage(&toml, Some(&curves)), &["omit the curves file"]);

    let swapped = fault_of(read(&curves, Some(&bounds), false));
    assert_has(&swapped, &["Jmin: found no such column", "swap the files"]);
    let events = fixture("pickle/events-2.2.3-p5.pkl");
    let message = fault_of(read(&bounds, Some(&events), false));
    assert_has(&message, &["Ns: found no such column"]);
}

/// A document with two tasks, `a` and `b`, followed by `rest`.
fn toml_and(rest: &str) -> String {
    [toml_with("a", &[]), toml_with("b", &[]), rest.to_owned()].concat()
}

#[test]
fn groups_name_their_faults() {
    for (rest, words) in [
        (
            "[[group]]\ntasks = ['a']\nmax_nodes = 1",
            "group 1, name: found nothing, expected a string",
        ),
        (
            "[[group]]\nname = 'g'\nmax_nodes = 1",
            "group 1 (\"g\"), tasks: found nothing, expected a list of task names",
        ),
        (
            "[[group]]\nname = 'g'\ntasks = [1, 2]\nmax_nodes = 1",
            "tasks: found a list of 2 values, expected a list of task names",
        ),
        (
            "[[group]]\nname = 'g'\ntasks = ['a', 2]\nmax_nodes = 1",
            "tasks: found 2, expected a list of task names",
        ),
        (
            "[[group]]\nname = 'g'\ntasks = ['c']\nmax_nodes = 1",
            "tasks: found \"c\", expected the name of a task",
        ),
        (
            "[[group]]\nname = 'g'\ntasks = ['a', 'a']\nmax_nodes = 1",
            "\"a\" a second time, expected each task only once",
        ),
        (
            "[[group]]\nname = 'g'\ntasks = ['a']",
            "found no limit, expected min_nodes, max_nodes or both",
        ),
        (
            "[[group]]\nname = 'g'\ntasks = ['a']\nmax_nodes = 1.5",
            "max_nodes: found 1.5, expected a whole number",
        ),
        (
            "[[group]]\nname = 'g'\ntasks = ['a']\nmin_nodes = 3\nmax_nodes = 2",
            "min_nodes: found 3, expected at most 2, which is max_nodes",
        ),
        (
            "[[group]]\nname = 'g'\ntasks = ['a']\nmax = 2\nmax_nodes = 1",
            "max: found an unknown field",
        ),
        (
            "[[group]]\nname = 'g'\ntasks = ['a']\nmax_nodes = 1\n[[group]]\nname = 'g'\ntasks = ['b']\nmax_nodes = 1",
            "group 2 (\"g\"), name: found \"g\", the name of an earlier group",
        ),
        ("group = 7", "group: found 7, expected a list of groups"),
    ] {
        let text = if rest.starts_with('[') {
            toml_and(rest)
        } else {
            format!("{rest}\n{}", toml_and(""))
        };
        assert_has(&fault_of(read_text("tasks.toml", &text, false)), &[words]);
    }
}

#[test]
fn groups_are_read_and_may_name_tasks_that_are_left_out() {
    let text = [
        toml_with("a", &[]),
        toml_with("b", &[("work", "0")]),
        "[[group]]\nname = 'g'\ntasks = ['a', 'b']\nmin_nodes = 1\nmax_nodes = 3".to_owned(),
    ]
    .concat();
    let set = read_text("tasks.toml", &text, true).unwrap();
    assert_eq!(set.tasks.len(), 1);
    let [group] = &set.groups[..] else {
        panic!("{:?}", set.groups)
    };
    assert_eq!((group.min_nodes, group.max_nodes), (Some(1), Some(3)));
    assert_eq!(group.tasks, ["a", "b"]);
    // Selecting tasks by the window does not change the groups.
    assert_eq!(
        set.clone().within_window(1000.0, true).unwrap().groups,
        set.groups
    );
}

#[test]
fn deadlines_come_after_submissions() {
    let due = |submit: &str, deadline: &str| {
        let changes = [("submit", submit), ("deadline", deadline)];
        read_text("tasks.toml", &toml_with("a", &changes), false)
    };
    let set = due("2026-01-01 00:00:00", "2026-01-01 00:00:01").unwrap();
    assert_eq!(
        set.tasks[0]
            .deadline
            .unwrap()
            .seconds_since(set.tasks[0].submit),
        1.0
    );
    for (submit, deadline, words) in [
        (
            "2026-01-01 00:00:00",
            "2026-01-01 00:00:00",
            "deadline: found 2026-01-01 00:00:00, expected a time after the submission, 2026-01-01 00:00:00",
        ),
        (
            "2026-01-01 00:00:00",
            "'soon'",
            "deadline: found \"soon\", expected a time such as",
        ),
        (
            "2026-01-01 00:00:00",
            "'2026-01-02 00:00:00+01:00'",
            "deadline: found 2026-01-02 00:00:00+01:00, expected a time without an offset",
        ),
    ] {
        assert_has(&fault_of(due(submit, deadline)), &[words]);
    }
}

const SEARCH: &str = "[search]\nalgorithm = 'asha'\ntrials = 9\nmax_resource = 9\n";

#[test]
fn searches_name_their_faults() {
    for (rest, words) in [
        (
            "[search]\nmax_resource = 9",
            "search, algorithm: found nothing, expected one of random, successive-halving",
        ),
        (
            "[search]\nalgorithm = 'grid'\nmax_resource = 9",
            "algorithm: found \"grid\", expected one of random, successive-halving, asha, hyperband, median, pbt, bohb",
        ),
        (
            "[search]\nalgorithm = 'asha'\nmax_resource = 9",
            "trials: found nothing, expected a number of at least 1",
        ),
        (
            "[search]\nalgorithm = 'asha'\ntrials = 9",
            "max_resource: found nothing, expected a number",
        ),
        (
            "[search]\nalgorithm = 'asha'\ntrials = 9\nmax_resource = 9\neta = 1",
            "eta: found 1, expected a number of at least 2",
        ),
        (
            "[search]\nalgorithm = 'asha'\ntrials = 9.5\nmax_resource = 9",
            "trials: found 9.5, expected a whole number",
        ),
        (
            "[search]\nalgorithm = 'hyperband'\ntrials = 9\nmax_resource = 9",
            "trials: found 9, expected nothing",
        ),
        (
            "[search]\nalgorithm = 'asha'\ntrials = 9\nmax_resource = 9\nstep = 2",
            "step: found an unknown field",
        ),
        ("search = 3", "search: found 3, expected a table of fields"),
    ] {
        let text = if rest.starts_with('[') {
            toml_and(rest)
        } else {
            format!("{rest}\n{}", toml_and(""))
        };
        assert_has(&fault_of(read_text("tasks.toml", &text, false)), &[words]);
    }
    for (curves, words) in [
        ("curves = 3", "curves: found 3, expected the name of a file"),
        (
            "curves = { flor = 3 }",
            "curves: found unknown field `flor`",
        ),
        (
            "curves = { noise = -1 }",
            "curves.noise: found -1, expected a number of at least 0",
        ),
        (
            "curves = { seed = 3 }",
            "curves.seed: found 3, expected no seed",
        ),
        (
            "curves = { floor = { uniform = { low = 2, high = 1 } } }",
            "curves.floor.uniform.high: found 1",
        ),
        (
            "losses = 'error'",
            "losses: found \"error\", expected a list of names",
        ),
        ("losses = ['a', 2]", "losses: found"),
        (
            "losses = []",
            "losses: found a list of 0 values, expected a list of names",
        ),
        (
            "losses = ['a', 'a']",
            "losses: found [\"a\", \"a\"], expected different names",
        ),
        (
            "losses = ['a', 'b', 'c', 'd', 'e']",
            "expected from 1 to 4 names",
        ),
        (
            "losses = ['a', 'b']\ncurves = 'losses.csv'",
            "curves: found \"losses.csv\", expected a table with the entries a, b",
        ),
        (
            "losses = ['a', 'b']\ncurves = { c = { noise = 0 } }",
            "curves: found an entry \"c\", expected only entries for the losses a, b",
        ),
        (
            "losses = ['a', 'b']\ncurves = { b = { noise = -1 } }",
            "curves.b.noise: found -1",
        ),
        (
            "losses = ['a', 'b']\ncurves = { b = 3 }",
            "curves.b: found 3, expected the name of a file",
        ),
    ] {
        let text = toml_and(&format!("{SEARCH}{curves}"));
        assert_has(&fault_of(read_text("tasks.toml", &text, false)), &[words]);
    }
    for (change, words) in [
        (
            ("work", "'endless'"),
            "work: found endless, expected the work of a complete training run",
        ),
        (
            ("submit", "2026-01-01 00:00:00"),
            "submit: found a time, expected no time",
        ),
        (
            ("deadline", "2026-01-01 00:00:00"),
            "deadline: found a time, expected no time",
        ),
    ] {
        let text = [toml_with("a", &[change]), SEARCH.to_owned()].concat();
        assert_has(
            &fault_of(read_text("tasks.toml", &text, false)),
            &["task 1", words],
        );
    }
}

#[test]
fn each_loss_has_its_own_learning_curves() {
    let read = |of_latency: &str| {
        let curves = "losses = ['error', 'latency', 'size']\n\
                      curves = { latency = 'latency.csv', error = 'error.csv', size = { noise = 0 } }";
        let (folder, path) = file("tasks.toml", toml_and(&format!("{SEARCH}{curves}")));
        let rows = |from: u32, task: &str| -> String {
            let row = |trial: u32| format!("{trial},1,{}{task}\n", from + trial);
            (0..9).map(row).collect()
        };
        let error = format!("trial,resource,loss,task\n{}", rows(10, ",a"));
        std::fs::write(folder.path().join("error.csv"), error).unwrap();
        let column = if of_latency.is_empty() { "" } else { ",task" };
        let latency = format!("trial,resource,loss{column}\n{}", rows(20, of_latency));
        std::fs::write(folder.path().join("latency.csv"), latency).unwrap();
        read(&path, None, false)
    };
    let loaded = read("").unwrap();
    let search = loaded.value.search.unwrap();
    let names: Vec<&str> = search
        .losses
        .iter()
        .map(|loss| loss.name.as_str())
        .collect();
    assert_eq!(names, ["error", "latency", "size"]);
    let of_trial_3 = |place: usize| search.losses[place].curves.loss(3, 9.0);
    assert_eq!((of_trial_3(0), of_trial_3(1)), (13.0, 23.0));
    assert_eq!((loaded.sources.len(), search.tasks), (3, vec![0; 9]));
    assert_has(
        &fault_of(read(",c")),
        &["task \"c\" of trial 0", "the name of a task in the file"],
    );
}

#[test]
fn learning_curves_name_their_faults() {
    let read = |csv: &str| {
        let (folder, path) = file(
            "tasks.toml",
            toml_and(&format!("{SEARCH}curves = 'losses.csv'")),
        );
        std::fs::write(folder.path().join("losses.csv"), csv).unwrap();
        read(&path, None, false)
    };
    let whole: String = (0..9)
        .map(|trial| format!("{trial},1,2,a\n{trial},9,{trial},b\n"))
        .collect();
    let whole = whole.replace(",b\n", ",a\n");
    let loaded = read(&format!("trial,resource,loss,task\n{whole}")).unwrap();
    let search = loaded.value.search.unwrap();
    assert_eq!((loaded.sources.len(), search.trials()), (2, 9));
    assert_eq!(search.tasks, [0; 9]);
    assert_eq!(search.losses[0].curves.loss(8, 5.0), 5.0);
    assert!(loaded.notes.is_empty());
    // Curves of trials that diverged, marked by text or empty cells, and curves that start after the first rung, which
    // is at resource 1.
    let late = whole
        .replace("3,1,2,a", "3,1,nan,a")
        .replace("4,1,2,a", "4,1,,a")
        .replace("5,1,2,a", "5,1.5,2,a")
        .replace("7,1,2,a", "7,2,2,a");
    let loaded = read(&format!("trial,resource,loss,task\n{late}")).unwrap();
    let curves = &loaded.value.search.unwrap().losses[0].curves;
    assert_eq!(
        [3, 4, 5].map(|t| curves.loss(t, 1.0)),
        [f64::INFINITY, f64::INFINITY, 2.0]
    );
    assert_eq!(
        loaded.notes,
        [
            "the first rung is before the start of 2 learning curves, so the loss of the first point is used at that \
             rung: the curve of trial 5 starts at 1.5, and its first rung is at 1"
        ]
    );
    for (csv, words) in [
        ("trial,resource\n0,1\n", "loss"),
        ("trial,resource,loss\n0,1,x\n", "line 2, loss: found"),
        (
            "trial,resource,loss\n0,1,2\n0,1,1\n",
            "line 3, resource: found \"1\", expected more than 1",
        ),
        (
            "trial,resource,loss\n0,-1,2\n",
            "line 2, resource: found \"-1\", expected a finite number of at least 0",
        ),
        (
            "trial,resource,loss\n-1,1,2\n",
            "line 2, trial: found \"-1\"",
        ),
        (
            "trial,resource,loss\n1,1,2\n",
            "trial 0: trials are numbered 0, 1, 2",
        ),
        (
            "trial,resource,loss\n0,1,2\n",
            "curves: found learning curves of 1 trials, expected curves of all 9",
        ),
        (
            "trial,resource,loss,task\n0,1,2,a\n0,2,2,b\n",
            "line 3, task: found \"b\", expected \"a\"",
        ),
        (
            "trial,resource,loss,task\n0,1,2,c\n",
            "task \"c\" of trial 0",
        ),
        ("trial,resource,loss\n", "trial"),
    ] {
        assert_has(&fault_of(read(csv).map(|loaded| loaded.value)), &[words]);
    }
}

#[test]
fn work_may_be_endless_in_every_format() {
    let toml = toml_with("a", &[("work", "'endless'")]);
    let csv = "name,min_nodes,max_nodes,rescale_up,rescale_down,work,curve_nodes,curve_progress\n\
               a,1,2,1,1,endless,0 1 2,0 1 2\n";
    let json = r#"{"task": [{"name": "a", "min_nodes": 1, "max_nodes": 2, "rescale_up": 1, "rescale_down": 1,
        "work": "endless", "curve": {"nodes": [0, 1, 2], "progress": [0, 1, 2]}}]}"#;
    for (name, text) in [("t.toml", toml.as_str()), ("t.csv", csv), ("t.json", json)] {
        let set = read_text(name, text, false).unwrap();
        assert!(set.tasks[0].is_endless(), "{name}");
    }
}
