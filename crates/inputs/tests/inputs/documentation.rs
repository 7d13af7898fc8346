//! Tests that the examples in dataset/README.md can be read, and that all examples of the same kind of input have the
//! same content. Also tests that the tables on that page match the declared columns and fields.

use gleaner_driple::dataset::job::JobName;
use gleaner_inputs::driple::table;
use gleaner_inputs::{InputColumn, Need};
use gleaner_inputs::{events, jobs, learning_curves, node_classes, tasks};

use gleaner_testing::Example;

use super::support::{file, log};

fn examples() -> Vec<Example> {
    gleaner_testing::examples("dataset/README.md")
}

#[test]
fn examples_of_event_logs_are_the_same_log() {
    const START: f64 = 1_612_915_732.0;
    let expected = log(
        &["a01", "a02"],
        &[
            (START, &[(0, true)]),
            (START + 2396.0, &[(1, true)]),
            (START + 2598.0, &[]),
            (START + 2768.25, &[(0, false)]),
        ],
    );
    let mut found = 0;
    for example in examples().iter().filter(|example| example.kind == "events") {
        let (_folder, path) = file(&format!("log.{}", example.extension), &example.text);
        assert_eq!(events::read(&path).unwrap().value, expected);
        found += 1;
    }
    assert_eq!(found, 2);
}

#[test]
fn examples_of_classes_state_the_same_classes() {
    let nodes = ["c1", "g1", "a01", "b7"].map(str::to_owned);
    let features = ["v100", "skylake", "cpu"].map(str::to_owned);
    let choice = node_classes::Choice {
        features: &features,
        resource: Some("gputype"),
    };
    let mut found = 0;
    for example in examples()
        .iter()
        .filter(|example| example.kind == "classes")
    {
        let (_folder, path) = file(&format!("classes.{}", example.extension), &example.text);
        let classes = node_classes::read(&path, &choice, &nodes).unwrap().value;
        assert_eq!(classes.names(), ["cpu", "v100", "a100"], "{}", example.text);
        assert_eq!(classes.of_nodes(), [0, 1, 2, 2], "{}", example.text);
        found += 1;
    }
    assert_eq!(found, 4);
}

#[test]
fn the_example_of_a_log_with_classes_is_valid() {
    let examples = examples();
    let example = examples.iter().find(|example| example.kind == "mixed");
    let (_folder, path) = file("log.csv", &example.unwrap().text);
    let log = events::read(&path).unwrap().value;
    assert_eq!(log.classes().unwrap().names(), ["a100", "v100"]);
}

#[test]
fn the_sample_of_classes_fits_the_sample_log() {
    let dataset = gleaner_testing::workspace().join("dataset");
    let log = events::read(&dataset.join("idle.csv")).unwrap().value;
    let choice = node_classes::Choice::default();
    let read = node_classes::read(&dataset.join("classes.toml"), &choice, log.nodes()).unwrap();
    assert_eq!(read.notes, Vec::<String>::new());
    assert_eq!(read.value.names(), ["v100", "a100", "h100"]);
    assert_eq!(read.value.sizes(), [60, 30, 10]);
}

#[test]
fn examples_of_tasks_are_the_same_tasks() {
    let mut read = Vec::new();
    for example in examples().iter().filter(|example| example.kind == "tasks") {
        let (_folder, path) = file(&format!("tasks.{}", example.extension), &example.text);
        read.push(tasks::read(&path, None, false).unwrap().value.tasks);
    }
    assert_eq!(read.len(), 3);
    assert_eq!(read[0].len(), 2);
    assert!(read.iter().all(|tasks| *tasks == read[0]));
    let priorities = [read[0][0].priority, read[0][1].priority];
    assert_eq!(priorities, [1.0, 2.0]);
}

#[test]
fn the_example_of_tasks_with_classes_is_valid() {
    let examples = examples();
    let mut examples = examples
        .iter()
        .filter(|example| example.kind == "class-tasks");
    let (_folder, path) = file("tasks.toml", &examples.next().unwrap().text);
    let tasks = tasks::read(&path, None, false).unwrap().value.tasks;
    assert_eq!(tasks.len(), 2);
    for task in &tasks {
        assert!(task.classes.by_name.keys().eq(["a100", "v100"]));
    }
    let fast = &tasks[1].classes.by_name["a100"];
    assert_eq!(fast.curve.progress_at(4), 750.0 * 2.4);
    assert!(examples.next().is_none());
}

#[test]
fn examples_of_tables_used_with_graphs_are_valid() {
    let of_kind = |kind: &str| {
        let examples = examples();
        let example = examples
            .iter()
            .find(|example| example.kind == kind)
            .unwrap();
        file(&format!("table.{}", example.extension), &example.text)
    };
    let (_folder, path) = of_kind("measurements");
    let measured = table::measurements(&path).unwrap().value;
    let job = JobName::parse("V100_Cifar10_ResNet18_Async_b192-momentum_job0001.pbtxt").unwrap();
    assert_eq!(measured.labels(&job).unwrap()[..3], [0.0056, 0.0015, 23.5]);
    let (_folder, path) = of_kind("frequencies");
    let frequencies = table::frequencies(&path).unwrap().value;
    assert_eq!(frequencies.get("MatMul"), Some(0.012));
}

/// Renders the documentation of columns as a Markdown table.
fn table_of(columns: &[InputColumn]) -> String {
    let rows = columns.iter().map(|column| {
        // Names that begin with an underscore are generated by pandas and are not documented.
        let names = column.names.iter().filter(|name| !name.starts_with('_'));
        let names = names.map(|name| match name.as_str() {
            "" => "a column without a name".to_owned(),
            name => format!("`{name}`"),
        });
        let names: Vec<String> = names.collect();
        let need = match column.need {
            Need::Required => "",
            Need::Optional => "; optional",
            Need::Together => "; give all columns with this note, or none of them",
        };
        let unit = if column.unit.is_empty() {
            String::new()
        } else {
            format!("{} ", column.unit)
        };
        let (names, holds, meaning) = (names.join(" or "), &column.holds, column.meaning);
        format!("| {names} | {holds}{need} | {unit}| {meaning} |\n")
    });
    format!(
        "| column | holds | unit | meaning |\n|---|---|---|---|\n{}",
        rows.collect::<String>()
    )
}

#[test]
fn documented_columns_are_those_that_are_read() {
    let fields = tasks::FIELDS.iter().map(|field| {
        let name = match field.name.split_once('.') {
            Some((table, name)) => format!("{table} `{name}`"),
            None => format!("`{}`", field.name),
        };
        let unit = if field.unit.is_empty() {
            String::new()
        } else {
            format!("{} ", field.unit)
        };
        format!("| {name} | {unit}| {} |\n", field.meaning)
    });
    let fields = format!(
        "| field | unit | meaning |\n|---|---|---|\n{}",
        fields.collect::<String>()
    );
    let classes = table_of(&node_classes::columns());
    let mut placed = vec![
        ("**CSV or Parquet** with".to_owned(), classes),
        ("## Tasks".to_owned(), fields),
    ];
    // `cluster_throughput` is used only to train models, and is not part of a data directory.
    let files = jobs::tables().into_iter();
    let files = files.filter(|(name, _)| *name != "cluster_throughput");
    placed.extend(files.map(|(name, columns)| (format!("**`{name}.csv`**"), table_of(&columns))));
    let placed: Vec<(&str, String)> = placed
        .iter()
        .map(|(before, table)| (before.as_str(), table.clone()))
        .collect();
    let command = "cargo test -p gleaner-inputs --test inputs documentation";
    gleaner_testing::check_tables("dataset/README.md", &placed, command);
    let losses = table_of(&learning_curves::columns());
    gleaner_testing::check_tables("docs/SEARCHES.md", &[("## Losses", losses)], command);
}
