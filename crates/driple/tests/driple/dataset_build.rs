//! Tests that job measurements are read correctly, and that jobs are split as the published builder
//! splits them.

use gleaner_driple::dataset::job::JobName;
use gleaner_driple::dataset::labels::Measurements;
use gleaner_driple::dataset::split::{Settings, Split, SplitError, split};
use proptest::prelude::*;

const HEADER: &str = "GPU,Model,Data Set,Sync/Async,Hyper-Parameter,Job Name,Resource,\
                      avg Idle time,avg Active time,avg Peak consumption,Notes";

/// The CSV rows of a job: one row for each `(resource, value)` pair.
fn rows(model: &str, resources: &[(&str, f64)]) -> String {
    let row = |&(resource, value): &(&str, f64)| {
        let (active, peak) = (value + 0.5, value + 0.25);
        format!("\nV100,{model},img,sync,32,w1,{resource},{value},{active},{peak},\"a,b\"")
    };
    resources.iter().map(row).collect()
}

const ALL: [(&str, f64); 4] = [
    ("Network_tx", 4.0),
    ("GPU util", 2.0),
    ("GPU MEM util", 1.0),
    ("Network_rx", 3.0),
];

fn job(model: &str) -> JobName {
    JobName::parse(&format!("V100_img_{model}_sync_32_w1")).unwrap()
}

// The labels of resource r are r, r + 0.5 and r + 0.25, where resources are numbered from 1.
#[test]
fn labels_are_ordered_by_resource_and_measure() {
    let text = format!(
        "\u{feff}{HEADER}{}{}",
        rows("vgg", &ALL),
        rows("vgg2", &[("CPU", 1.0)])
    );
    let measured = Measurements::from_csv(text.as_bytes()).unwrap();
    let labels = measured.labels(&job("vgg")).unwrap();
    let expected = [
        1.0, 1.5, 1.25, 2.0, 2.5, 2.25, 3.0, 3.5, 3.25, 4.0, 4.5, 4.25,
    ];
    assert_eq!(labels, expected);
    assert_eq!(measured.len(), 1);
}

#[test]
fn jobs_without_one_row_for_each_resource_have_no_labels() {
    let twice = [
        ("GPU util", 1.0),
        ("GPU util", 2.0),
        ("Network_rx", 1.0),
        ("Network_tx", 1.0),
    ];
    let five = [&ALL[..], &[("GPU util", 9.0)]].concat();
    let text = format!(
        "{HEADER}{}{}{}",
        rows("three", &ALL[..3]),
        rows("twice", &twice),
        rows("five", &five)
    );
    let measured = Measurements::from_csv(text.as_bytes()).unwrap();
    let fault = |model| measured.labels(&job(model)).unwrap_err().to_string();
    assert!(fault("none").starts_with(
        "the measurements have no rows for this job (rows are matched by GPU, Data Set"
    ));
    assert!(
        fault("three")
            .ends_with("found Network_tx in line 2, GPU util in line 3, GPU MEM util in line 4")
    );
    assert!(fault("twice").contains("found GPU util in line 5, GPU util in line 6"));
    assert!(fault("five").ends_with("GPU util in line 13"));
}

#[test]
fn faults_name_line_and_column() {
    let fault = |text: String| {
        Measurements::from_csv(text.as_bytes())
            .unwrap_err()
            .to_string()
    };
    let good = format!("{HEADER}{}", rows("vgg", &ALL));
    assert!(Measurements::from_csv(good.as_bytes()).is_ok());
    let bad = fault(good.replace("2.5", "").replace("4.25", "inf"));
    assert_eq!(
        bad,
        "line 2, column \"avg Peak consumption\": \"inf\" is not a finite number; line 3, column \
         \"avg Active time\": \"\" is not a finite number; correct these values, or leave out the \
         rows of their jobs"
    );
    assert!(
        fault(good.replace(",\"a,b\"", "")).starts_with("line 2: 10 fields, but the header has")
    );
    let columns = fault(good.replace("Model,", "").replace("Resource", "Resources"));
    assert!(columns.starts_with("line 1: missing columns: \"Model\", \"Resource\" (found \"GPU\""));
    assert!(fault(good.replace("Notes", "GPU")).contains("two columns \"GPU\""));
    assert!(fault(String::new()).contains("missing columns"));
    let many = format!("{HEADER}{}", rows("vgg", &[("GPU util", f64::NAN); 5]));
    assert!(fault(many).contains(
        "; line 5, column \"avg Idle time\": \"NaN\" is not a finite number, and 5 more;"
    ));
    let mut latin = good.clone().into_bytes();
    latin.extend(b"\nV100,\xe9");
    let error = Measurements::from_csv(&latin).unwrap_err().to_string();
    assert!(error.starts_with("line 6: "), "{error}");
}

fn names(count: usize) -> Vec<String> {
    (0..count).map(|job| format!("job{job:03}")).collect()
}

fn cut(count: usize, settings: &Settings) -> Split<String> {
    split(names(count), |name| name, settings).unwrap()
}

fn sizes(split: &Split<String>) -> [Vec<usize>; 3] {
    let sizes = |batches: &[Vec<String>]| batches.iter().map(Vec::len).collect();
    [&split.train, &split.val, &split.test].map(|part| sizes(part))
}

// Golden values: CPython 3.11, `random.seed(42); random.shuffle(names)` of ten sorted names.
#[test]
fn jobs_are_shuffled_as_by_python() {
    let split = cut(10, &Settings::default());
    let numbers = |jobs: &[Vec<String>]| -> Vec<usize> {
        jobs.concat()
            .iter()
            .map(|name| name[3..].parse().unwrap())
            .collect()
    };
    assert_eq!(numbers(&split.train), [7, 3, 2, 8, 5, 6]);
    assert_eq!(numbers(&split.val), [9, 4]);
    assert_eq!(numbers(&split.test), [0, 1]);
    let mut backwards = names(10);
    backwards.reverse();
    let backwards =
        gleaner_driple::dataset::split::split(backwards, |name| name, &Settings::default());
    assert_eq!(backwards.unwrap(), split);
}

// The published data sets have 320 jobs, divided into 192, 64 and 64, in batches of 32.
#[test]
fn batches_are_those_of_the_published_data() {
    let published = Settings {
        graphs: Some(320),
        drop_remainder: true,
        ..Settings::default()
    };
    let split = cut(400, &published);
    assert_eq!(sizes(&split), [vec![32; 6], vec![32; 2], vec![32; 2]]);
    assert_eq!(split.unused.len(), 80);
    assert_eq!(
        sizes(&cut(50, &published)),
        [const { Vec::<usize>::new() }; 3]
    );
}

#[test]
fn a_remainder_is_a_smaller_batch() {
    let cut = |count| sizes(&cut(count, &Settings::default()));
    assert_eq!(cut(60), [vec![32, 4], vec![12], vec![12]]);
    assert_eq!(cut(5), [vec![3], vec![1], vec![1]]);
    assert_eq!(cut(4), [vec![2], vec![1], vec![1]]);
    assert_eq!(cut(3), [vec![1], vec![1], vec![1]]);
    assert_eq!(cut(2), [vec![1], vec![], vec![1]]);
    assert_eq!(cut(1), [vec![], vec![], vec![1]]);
    assert_eq!(cut(0), [const { Vec::<usize>::new() }; 3]);
}

#[test]
fn equal_names_and_empty_batches_are_refused() {
    let twice = split(vec!["a", "b", "a"], |name| name, &Settings::default());
    assert_eq!(twice, Err(SplitError::Twice("a".to_owned())));
    let none = Settings {
        batch: 0,
        ..Settings::default()
    };
    assert_eq!(
        split(vec!["a"], |name| name, &none),
        Err(SplitError::NoBatch)
    );
}

proptest! {
    #![proptest_config(gleaner_testing::cases(256))]

    #[test]
    fn every_job_is_in_one_part_or_unused(
        count in 0usize..200,
        graphs in prop::option::of(0usize..220),
        batch in 1usize..40,
        drop_remainder: bool,
        seed: u64,
    ) {
        let settings = Settings { graphs, batch, drop_remainder, seed };
        let split = cut(count, &settings);
        let parts = [&split.train, &split.val, &split.test];
        for part in parts {
            let full = part.iter().filter(|jobs| jobs.len() == batch).count();
            prop_assert!(full + usize::from(!drop_remainder) >= part.len());
            prop_assert!(part.iter().all(|jobs| !jobs.is_empty()));
        }
        let mut all: Vec<String> = parts.into_iter().flatten().flatten().cloned().collect();
        if !drop_remainder {
            prop_assert_eq!(all.len(), graphs.unwrap_or(count).min(count));
        }
        all.extend(split.unused);
        all.sort_unstable();
        prop_assert_eq!(all, names(count));
    }
}
