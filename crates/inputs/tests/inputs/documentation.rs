//! The examples in dataset/README.md can be read, and those of one kind are equal. Its tables are
//! those of the declared columns and fields.

use gleaner_driple::dataset::job::JobName;
use gleaner_inputs::driple::table;
use gleaner_inputs::{InputColumn, Need};
use gleaner_inputs::{events, jobs, learning_curves, tasks};

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

/// A table of columns for a page.
fn table_of(columns: &[InputColumn]) -> String {
    let rows = columns.iter().map(|column| {
        // pandas makes up names that begin with underscores.
        let names = column.names.iter().filter(|name| !name.starts_with('_'));
        let names = names.map(|name| match name.as_str() {
            "" => "a column without a name".to_owned(),
            name => format!("`{name}`"),
        });
        let names: Vec<String> = names.collect();
        let need = match column.need {
            Need::Required => "",
            Need::Optional => "; optional",
            Need::Together => "; all such columns or none",
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
    let mut placed = vec![("## Tasks".to_owned(), fields)];
    // What was submitted is read to train models; its table is not in a directory of data.
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
