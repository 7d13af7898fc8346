//! Tests that tasks with the same curve share it instead of copying it.

use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use parquet::basic::{Compression, ZstdLevel};
use parquet::data_type::{ByteArray, ByteArrayType, DoubleType};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;

use crate::support::{Run, command, samples};

const POINTS: u32 = 200_000;
const TASKS: u32 = 2_000;

/// A task file of 2,000 tasks that share a curve of 200,000 points. If each task had its own copy of the curve, the
/// copies would take 8 GB.
fn tasks() -> String {
    let nodes: Vec<String> = (0..POINTS).map(|n| n.to_string()).collect();
    let progress: Vec<String> = (0..POINTS).map(|n| format!("{}", 10 * n)).collect();
    let mut text = format!(
        "[curve.c]\nnodes = [{}]\nprogress = [{}]\n",
        nodes.join(","),
        progress.join(",")
    );
    for i in 0..TASKS {
        let _ = write!(
            text,
            "[[task]]\nname = 't{i}'\nmin_nodes = 1\nmax_nodes = {}\nrescale_up = 20\n\
             rescale_down = 10\nwork = 1e7\npriority = {}\ncurve = 'c'\n",
            POINTS - 1,
            1 + i
        );
    }
    text
}

/// Runs the program with a gigabyte of address space.
fn run_in_a_gigabyte(directory: &Path, line: &str) {
    let run = command(directory, line);
    let mut limited = Command::new("sh");
    limited
        .args(["-c", "ulimit -v 1000000 && exec \"$0\" \"$@\""])
        .arg(run.get_program())
        .args(run.get_args())
        .current_dir(directory)
        // The number of threads is limited, because each thread takes additional address space.
        .env("RAYON_NUM_THREADS", "2");
    Run::from(limited.output().unwrap()).expect(0);
}

fn memory_can_be_bounded() -> bool {
    let can = cfg!(target_os = "linux");
    if !can {
        eprintln!("skipped: ulimit -v bounds memory on Linux alone");
    }
    can
}

#[test]
fn two_thousand_tasks_of_one_curve_fit_into_a_gigabyte() {
    if !memory_can_be_bounded() {
        return;
    }
    let directory = samples();
    fs::write(directory.path().join("many.toml"), tasks()).unwrap();
    for line in [
        "replay --events idle.csv --tasks many.toml --t-fwd 120 --objective file",
        "replay --events idle.csv --tasks many.toml --t-fwd 120 --objective priority-weighted \
         --max-tasks 2000 --check",
        "inspect idle.csv --tasks many.toml",
    ] {
        run_in_a_gigabyte(directory.path(), line);
    }
}

/// Writes a Parquet file with `tasks` tasks, which all have the same curve of `points` points. In each of the two curve
/// columns, all rows contain the same string, which the column's dictionary stores once.
fn write_parquet(path: &Path, tasks: usize, points: u32) {
    let schema = "message tasks { required binary name (UTF8); required double min_nodes; \
                  required double max_nodes; required double rescale_up; \
                  required double rescale_down; required double work; \
                  required binary curve_nodes (UTF8); required binary curve_progress (UTF8); }";
    let properties = WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::default()))
        .set_dictionary_page_size_limit(32 << 20)
        .build();
    let mut file = SerializedFileWriter::new(
        fs::File::create(path).unwrap(),
        Arc::new(parse_message_type(schema).unwrap()),
        Arc::new(properties),
    )
    .unwrap();
    let curve: Vec<String> = (0..points).map(|n| n.to_string()).collect();
    let curve = ByteArray::from(curve.join(";").into_bytes());
    let mut group = file.next_row_group().unwrap();
    for column in 0..8 {
        let mut writer = group.next_column().unwrap().unwrap();
        let names = (0..tasks).map(|i| ByteArray::from(format!("t{i}").into_bytes()));
        let texts: Vec<ByteArray> = match column {
            0 => names.collect(),
            _ => vec![curve.clone(); tasks],
        };
        let written = match column {
            0 | 6 | 7 => writer
                .typed::<ByteArrayType>()
                .write_batch(&texts, None, None),
            _ => writer
                .typed::<DoubleType>()
                .write_batch(&vec![1.0; tasks], None, None),
        };
        assert_eq!(written.unwrap(), tasks);
        writer.close().unwrap();
    }
    group.close().unwrap();
    file.close().unwrap();
}

#[test]
fn a_small_parquet_file_of_equal_curves_fits_into_a_gigabyte() {
    if !memory_can_be_bounded() {
        return;
    }
    let directory = samples();
    let path = directory.path().join("many.parquet");
    write_parquet(&path, 500, 100_000);
    assert!(fs::metadata(&path).unwrap().len() < 4 << 20);
    run_in_a_gigabyte(directory.path(), "inspect idle.csv --tasks many.parquet");
}
