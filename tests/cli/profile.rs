//! Tests `gleaner profile` from the command line.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::runs::{command, gleaner};
use crate::support::{SIMULATE_MEASURED, cluster, dataset, json, train_and_simulate};

/// A directory with the sample plan; `None` without Python, which the plan needs.
fn sample() -> Option<TempDir> {
    let python = Command::new("python3").arg("--version").output();
    if python.is_err() {
        eprintln!("skipped: python3 is not installed");
        return None;
    }
    let directory = cluster();
    let at = directory.path();
    fs::create_dir(at.join("profile")).unwrap();
    let script = "profile/steps.py";
    fs::copy(dataset().join(script), at.join(script)).unwrap();
    fs::copy(dataset().join("profile.toml"), at.join("profile.toml")).unwrap();
    Some(directory)
}

fn read(directory: &Path, name: &str) -> String {
    fs::read_to_string(directory.join(name)).unwrap()
}

#[test]
fn the_tables_of_the_sample_plan_are_read_by_simulate_and_train() {
    let Some(directory) = sample() else { return };
    let at = directory.path();
    let run = gleaner(at, "profile profile.toml --dry-run").expect(0);
    assert_eq!(run.out.lines().count(), 14, "{}", run.out);
    assert!(
        run.out.contains("spin:32:0 beside copy:16:0, repeat 1"),
        "{}",
        run.out
    );
    let run = gleaner(at, "profile profile.toml -o measured --busy-ok").expect(0);
    assert!(
        run.out.contains("measurements  14, 0 of them already done"),
        "{}",
        run.out
    );
    let measured = at.join("measured");
    let singles = read(&measured, "single_data.csv");
    let start = "model,dataset,gpu_num,batchsize,amp,speed,gpu_util,gmem_util,gmem,label,time,";
    assert!(
        singles.starts_with(start) && singles.lines().count() == 5,
        "{singles}"
    );
    let pairs = read(&measured, "colocate_info.csv");
    let start = "model1,dataset1,gpu_num1,batchsize1,amp1,speed1,model2,dataset2,gpu_num2,\
                 batchsize2,amp2,speed2,gpu_util,gmem_util,gmem,";
    assert!(
        pairs.starts_with(start) && pairs.lines().count() == 11,
        "{pairs}"
    );
    assert!(!measured.join("errors.csv").exists());
    let info = json(&measured.join("run.json"));
    assert_eq!(
        (&info["complete"], &info["command"]),
        (&true.into(), &"profile".into())
    );
    assert!(info["measured_by"]["idle"]["util"].is_number(), "{info}");
    // `run.json` lists two inputs: the plan and the script.
    assert_eq!(info["inputs"].as_array().unwrap().len(), 2);
    let again = gleaner(at, "profile profile.toml -o measured").expect(0);
    assert!(
        again.out.contains("14 of them already done"),
        "{}",
        again.out
    );
    assert_eq!(read(&measured, "single_data.csv"), singles);
    assert_eq!(read(&measured, "colocate_info.csv"), pairs);
    let jobs = "1,u,vc1,a,8,4,COMPLETED,0,4000,Numbers,Spin,32,0\n\
                2,u,vc1,b,8,4,COMPLETED,10,5000,Bytes,Copy,16,0\n\
                3,u,vc1,c,8,4,COMPLETED,20,3000,Numbers,Wait,1,0\n";
    train_and_simulate(at, jobs);
    let other = gleaner(at, &format!("{SIMULATE_MEASURED} --out measured")).expect(2);
    other.says(&["holds the measurements"]);
}

#[test]
fn an_interrupted_run_is_resumed() {
    let Some(directory) = sample() else { return };
    let at = directory.path();
    let line = "profile profile.toml -o measured --busy-ok";
    let mut child = command(at, line);
    child
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let mut child = child.spawn().unwrap();
    let begun = Instant::now();
    while gleaner_testing::results(&at.join("measured")) < 5
        && begun.elapsed() < Duration::from_secs(120)
    {
        sleep(Duration::from_millis(5));
    }
    let pid = child.id().to_string();
    assert!(
        Command::new("kill")
            .args(["-INT", &pid])
            .status()
            .unwrap()
            .success()
    );
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let kept = gleaner_testing::results(&at.join("measured"));
    assert!((5..14).contains(&kept), "{kept}");
    assert_eq!(json(&at.join("measured/run.json"))["complete"], false);
    let singles = read(at, "measured/single_data.csv");
    let run = gleaner(at, line).expect(0);
    assert!(
        run.out.contains(&format!("{kept} of them already done")),
        "{}",
        run.out
    );
    assert_eq!(json(&at.join("measured/run.json"))["complete"], true);
    // The measured values remain unchanged. Only the labels may change, because they are derived from the pairs.
    let without_label = |text: &str| -> Vec<Vec<String>> {
        let cells = |line: &str| {
            let cells = line.split(',').enumerate().filter(|(place, _)| *place != 9);
            cells.map(|(_, cell)| cell.to_owned()).collect()
        };
        text.lines().map(cells).collect()
    };
    let whole = read(at, "measured/single_data.csv");
    assert_eq!(without_label(&whole), without_label(&singles));
}

#[test]
fn curves_are_replayed() {
    let Some(directory) = sample() else { return };
    let at = directory.path();
    gleaner(at, "profile --scaling profile.toml -o tasks.yaml")
        .expect(2)
        .says(&["tasks.yaml"]);
    let run = gleaner(at, "profile --scaling profile.toml -o tasks.toml --busy-ok").expect(0);
    run.says(&["tasks.toml: 4 tasks"]);
    let tasks = read(at, "tasks.toml");
    assert!(
        tasks.contains("nodes = [0, 1, 2]") && tasks.contains("spin:32:0"),
        "{tasks}"
    );
    fs::copy(dataset().join("idle.csv"), at.join("idle.csv")).unwrap();
    gleaner(
        at,
        "replay --events idle.csv --tasks tasks.toml --check --out run",
    )
    .expect(0);
    let plan = read(at, "profile.toml").replace("\"--processes\", \"{processes}\"", "\"-h\"");
    fs::write(at.join("fixed.toml"), plan).unwrap();
    let fixed = gleaner(at, "profile --scaling fixed.toml -o never.toml --busy-ok").expect(2);
    fixed.says(&["\"spin\"", "{processes}"]);
}

#[test]
fn failures_are_listed_and_faulty_plans_are_refused() {
    let directory = tempfile::tempdir().unwrap();
    let at = directory.path();
    let workload = |name: &str, line: &str| {
        format!(
            "[[workload]]\nname = \"{name}\"\nmodel = \"{name}\"\ndataset = \"d\"\n\
             command = [\"sh\", \"-c\", \"{line}\"]\n"
        )
    };
    let sound = "echo gleaner warm; i=0; while :; do i=$((i+1)); echo gleaner samples $i; \
                 sleep 0.01; done";
    let plan = format!(
        "seconds = 0.5\nidle_seconds = 0.5\n{}{}",
        workload("bad", "echo no data; exit 4"),
        workload("good", sound)
    );
    fs::write(at.join("plan.toml"), plan).unwrap();
    let run = gleaner(at, "profile plan.toml -o out --busy-ok").expect(1);
    run.says(&[
        "3 measurements failed",
        "bad:1:0: it ended before",
        "exit status: 4",
    ]);
    let errors = read(at, "out/errors.csv");
    assert!(
        errors.starts_with("first,second,repeat,problem,output\nbad:1:0,,1,"),
        "{errors}"
    );
    assert!(
        errors.contains("no data") && errors.contains("bad:1:0,good:1:0,1,"),
        "{errors}"
    );
    assert_eq!(read(at, "out/single_data.csv").lines().count(), 2);
    assert_eq!(read(at, "out/colocate_info.csv").lines().count(), 2);
    assert_eq!(json(&at.join("out/run.json"))["complete"], false);
    fs::write(at.join("plan.toml"), "seconds = 0\n").unwrap();
    let run = gleaner(at, "profile plan.toml -o never").expect(3);
    run.says(&["plan.toml, line 1, seconds: found 0.0", "[[workload]]"]);
    assert!(!at.join("never").exists());
    gleaner(at, "profile plan.toml").expect(2).says(&["--out"]);
}

#[test]
fn without_a_driver_nvml_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let at = directory.path();
    let plan = "sampler = \"nvml\"\n[[workload]]\nname = \"a\"\nmodel = \"A\"\ndataset = \"d\"\n\
                command = [\"sh\"]\n";
    fs::write(at.join("plan.toml"), plan).unwrap();
    let line = "profile plan.toml -o out --nvml-library ./no-such.so";
    gleaner(at, line).expect(1).says(&["NVML", "no-such.so"]);
}
