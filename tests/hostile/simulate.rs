//! Puts extreme numbers into every field of every input of `gleaner simulate`. Each run must give a result or a fault,
//! and must never crash. Most runs call the library, because this is faster than starting the program.

use std::fs;
use std::path::Path;

use gleaner::Simulation;
use proptest::prelude::*;
use proptest::sample::select;
use tempfile::TempDir;

use crate::support::attack;

/// The files of a small experiment, by name.
const FILES: [(&str, &str); 6] = [
    (
        "jobs.csv",
        "job_id,user,vc,gpu_num,cpu_num,submit_time,duration,dataset,model,batchsize,amp,speed,gpu_util,gmem_util,gmem\n\
         1,u,a,1,4,0,500,D,M,64,0,10,50,20,2000\n2,u,a,8,4,10,700,D,M,64,0,10,50,20,2000\n\
         3,v,b,1,4,20,90,D,N,64,1,10,50,20,2000\n4,v,a,16,4,30,300,D,N,64,1,10,50,20,2000\n\
         5,w,b,2,4,40,1000,D,M,64,0,10,50,20,2000\n6,w,a,1,4,50,250,D,N,64,1,10,50,20,2000\n",
    ),
    ("vc_config.csv", "vc,num\na,3\nb,1\n"),
    (
        "single_data.csv",
        "model,dataset,batchsize,amp,speed,gpu_util,gmem_util,gmem,label\n\
         M,D,64,0,10,50,20,2000,0\nN,D,64,1,20,60,30,3000,1\n",
    ),
    (
        "colocate_info.csv",
        "model1,dataset1,batchsize1,amp1,speed1,model2,dataset2,batchsize2,amp2,speed2,gpu_util,gmem\n\
         M,D,64,0,0.9,M,D,64,0,0.9,90,4000\nM,D,64,0,0.8,N,D,64,1,0.9,95,5000\n\
         N,D,64,1,0.7,N,D,64,1,0.8,99,6000\n",
    ),
    (
        "throughput_pred.csv",
        "time,pred_gpu_job,pred_gpu_num\n0,3,8\n600,5,9\n1200,0,0\n",
    ),
    (
        "duration_estimate.csv",
        "job_id,priority\n1,400\n2,800\n3,100\n4,-5\n5,900\n6,300\n",
    ),
];

/// Extreme values. Each of them is put into every field. In an earlier attack, EASY added an estimate of 1e19 to the
/// current time.
const EXTREMES: [&str; 18] = [
    "",
    "-1",
    "0",
    "1e-320",
    "1000000000",
    "1000000000000",
    "1e19",
    "-1e19",
    "1e25",
    "1e308",
    "-1e308",
    "9223372036854775807",
    "9223372036854775808",
    "-9223372036854775808",
    "18446744073709551616",
    "inf",
    "nan",
    "2262-04-11 23:47:16",
];

fn experiment() -> TempDir {
    let directory = tempfile::tempdir().unwrap();
    for (name, text) in FILES {
        fs::write(directory.path().join(name), text).unwrap();
    }
    directory
}

/// The cells of a table, with the header as the first row.
fn cells(text: &str) -> Vec<Vec<String>> {
    let row = |line: &str| line.split(',').map(str::to_owned).collect();
    text.lines().map(row).collect()
}

fn write(file: &Path, rows: &[Vec<String>]) {
    let lines: Vec<String> = rows.iter().map(|row| row.join(",")).collect();
    fs::write(file, lines.join("\n") + "\n").unwrap();
}

/// The largest values that some fields accept, which must not lead to large result tables.
const LARGEST: [&str; 2] = ["1000000000", "1000000000000"];

/// Runs every policy in bounded memory and checks each schedule. The run must succeed or report faults of the data.
fn survives(at: &Path, what: &str) {
    let line = "simulate --data . --policy all,easy --profiler 100,1,4 --elastic a --check --quiet";
    let run = attack(at, line);
    assert!(
        [0, 3].contains(&run.code),
        "{} {what}\n{}",
        run.code,
        run.err
    );
}

/// Like [`survives`], but calls the library.
fn is_simulated(at: &Path, what: &str) {
    let simulation = Simulation::of_directory(at)
        .policies(["all", "easy"])
        .setting(|settings| {
            settings.check = true;
            settings.profiler.profiler = "100,1,4".parse().unwrap();
            settings.profiler.elastic = Some("a".to_owned());
        });
    match simulation.run() {
        Ok(simulated) => drop(simulated.summary().unwrap()),
        Err(error) => assert_eq!(error.exit_code(), 3, "{what}: {error}"),
    }
}

/// For each column of a file, simulates with each extreme value, both in all cells of the column and in only the first
/// cell.
fn columns_survive(name: &str) {
    let directory = experiment();
    let at = directory.path();
    let text = FILES.iter().find(|(file, _)| *file == name).unwrap().1;
    let sound = cells(text);
    is_simulated(at, "nothing");
    for column in 0..sound[0].len() {
        for extreme in EXTREMES {
            for last in [2, sound.len()] {
                let mut rows = sound.clone();
                for row in &mut rows[1..last] {
                    extreme.clone_into(&mut row[column]);
                }
                write(&at.join(name), &rows);
                let what = format!("{name}, {}: {extreme:?}", sound[0][column]);
                is_simulated(at, &what);
                if last > 2 && LARGEST.contains(&extreme) {
                    survives(at, &what);
                }
            }
        }
    }
}

#[test]
fn jobs() {
    columns_survive("jobs.csv");
}

#[test]
fn clusters() {
    columns_survive("vc_config.csv");
}

#[test]
fn profiles() {
    columns_survive("single_data.csv");
}

#[test]
fn pairs() {
    columns_survive("colocate_info.csv");
}

#[test]
fn forecasts() {
    columns_survive("throughput_pred.csv");
}

#[test]
fn estimates() {
    columns_survive("duration_estimate.csv");
}

#[test]
fn options() {
    let directory = experiment();
    let at = directory.path();
    for arguments in [
        "--policy easy --estimates 1e19",
        "--policy easy --estimates 1e12",
        "--policy easy --estimates -1e300",
        "--policy easy --models train --first-estimate 1e300",
        "--policy lucid --profiler 9223372036854775807,1,4",
        "--policy lucid --profiler 1,1000000,1e-300",
        "--policy lucid --profiler 1,1,1e300",
        "--policy lucid --profiler 1,1,4 --lend a=4294967295",
        "--policy lucid --profiler 1,1000000,0.1 --lend auto",
        "--policy lucid --forecast 1e308 --profiler 10,1,4 --elastic a",
        "--policy fifo --epoch 2262-04-11 --idle-events idle.csv",
        "--policy fifo --epoch 1677-09-22 --idle-events idle.csv",
        "--policy lucid --epoch 2262-04-11 --models train",
        "--policy fifo --gpus-per-node 1",
    ] {
        let run = attack(at, &format!("simulate --data . --quiet {arguments}"));
        assert_ne!(run.code, 1, "{arguments}\n{}", run.err);
    }
}

/// A random change of a cell: the file, the row (the header is row 0), the column, and the new value.
fn change() -> impl Strategy<Value = (usize, usize, usize, &'static str)> {
    (
        0..FILES.len(),
        any::<prop::sample::Index>(),
        any::<prop::sample::Index>(),
    )
        .prop_flat_map(|(file, row, column)| {
            let rows = cells(FILES[file].1);
            let (row, column) = (1 + row.index(rows.len() - 1), column.index(rows[0].len()));
            (Just(file), Just(row), Just(column), select(&EXTREMES[..]))
        })
}

proptest! {
    #![proptest_config(gleaner_testing::slow_cases(100, 40))]

    #[test]
    fn several_extreme_values_at_once(changes in prop::collection::vec(change(), 2..6)) {
        let directory = experiment();
        for (file, row, column, extreme) in &changes {
            let path = directory.path().join(FILES[*file].0);
            let mut rows = cells(&fs::read_to_string(&path).unwrap());
            (*extreme).clone_into(&mut rows[*row][*column]);
            write(&path, &rows);
        }
        survives(directory.path(), &format!("{changes:?}"));
    }
}
