//! Tests the flags of the original simulator, on directories with the original's layout.

use std::fs;
use std::path::Path;

use crate::support::{cluster, gleaner, json, stable_files};

/// Copies the sample cluster to the paths that the original simulator reads, and converts its submission times to civil
/// times.
fn lay_out(at: &Path) {
    let folders = [
        "data/Venus",
        "analyzer",
        "predictor",
        "estimator/ebm",
        "estimator/lgb",
    ];
    for folder in folders {
        fs::create_dir_all(at.join(folder)).unwrap();
    }
    for (from, to) in [
        ("vc_config.csv", "data/Venus/vc_config.csv"),
        ("colocate_info.csv", "data/colocate_info.csv"),
        ("single_data.csv", "analyzer/single_data.csv"),
        ("throughput_pred.csv", "predictor/Venus_throughput_pred.csv"),
        ("duration_estimate.csv", "estimator/ebm/Venus_Sept_ebm.csv"),
    ] {
        fs::copy(at.join("trace").join(from), at.join(to)).unwrap();
    }
    let jobs = fs::read_to_string(at.join("trace/jobs.csv")).unwrap();
    let mut lines = jobs.lines();
    let mut log = lines.next().unwrap().to_owned() + "\n";
    // The original's clock starts when the first job on or after 1 April is submitted. This additional job is submitted
    // in the first second of that day, so the clock starts at midnight.
    log += "0,u,vc1,,1,1,COMPLETED,2020-04-01 00:00:00,60,Tiles-10,GlyphNet,64,0,1,1,1,1\n";
    for line in lines {
        let mut cells: Vec<String> = line.split(',').map(str::to_owned).collect();
        cells[7] = civil(cells[7].parse().unwrap());
        log += &(cells.join(",") + "\n");
    }
    fs::write(at.join("data/Venus/cluster_full_log.csv"), log).unwrap();
}

/// Converts seconds since the start of 1 September 2020 to a civil time.
fn civil(second: i64) -> String {
    let (day, hour, minute) = (second / 86_400 + 1, second / 3600 % 24, second / 60 % 60);
    format!("2020-09-{day:02} {hour:02}:{minute:02}:{:02}", second % 60)
}

#[test]
fn the_originals_flags_do_the_same() {
    let directory = cluster();
    let at = directory.path();
    let theirs = "simulate -e Venus_Sept -t trace -l log -s tiresias -p consolidate -j 2";
    gleaner(at, theirs).expect(0);
    gleaner(at, "simulate --data trace --policy tiresias --out ours").expect(0);
    let [ours, theirs] = ["ours", "log/Venus_Sept"].map(|out| stable_files(&at.join(out)));
    assert!(!ours.is_empty() && ours == theirs);
}

#[test]
fn long_names_of_the_originals_flags_do_too() {
    let directory = cluster();
    let line = "simulate --experiment-name Venus_Sept --trace-dir trace --log-dir log \
                --scheduler sjf --placer consolidateFirst --processes 1 --num_gpus_per_node 8";
    gleaner(directory.path(), line).expect(0);
    assert!(
        directory
            .path()
            .join("log/Venus_Sept/sjf_jobs.parquet")
            .is_file()
    );
}

#[test]
fn a_sweep_runs_five_policies() {
    let directory = cluster();
    let at = directory.path();
    gleaner(at, "simulate -e Venus_Sept -t trace -l log --sweep").expect(0);
    let averages = fs::read_to_string(at.join("log/Venus_Sept/jct_avg.csv")).unwrap();
    let header = ",fifo_consolidate,sjf_consolidate,srtf_consolidate,qssf_consolidate,\
                  tiresias_consolidate\n";
    assert!(averages.starts_with(header), "{averages}");
}

#[test]
fn the_originals_directories_and_times_are_understood() {
    let directory = cluster();
    let at = directory.path();
    lay_out(at);
    let line = "simulate -e Venus_Sept -t data/Venus -l log -s lucid --profiler 120,1,4";
    gleaner(at, line).expect(0);
    let ours = "simulate --data trace --policy lucid --profiler 120,1,4 --corrected=no --out ours";
    gleaner(at, ours).expect(0);
    let [ours, theirs] = ["ours", "log/Venus_Sept"].map(|out| {
        let mut summary = json(&at.join(out).join("summary.json"));
        let figures = summary["policies"]["lucid"].as_object_mut().unwrap();
        // These fields differ, because in the original's layout, the file of the estimates has another name, and the
        // trace has another clock.
        for field in ["estimates", "warm_up_until"] {
            assert!(!figures.remove(field).unwrap().is_null(), "{field}");
        }
        summary["policies"].take()
    });
    assert_eq!(ours, theirs);
    for table in ["jct_avg.csv", "que_avg.csv", "que_p999.csv"] {
        let [ours, theirs] = ["ours", "log/Venus_Sept"]
            .map(|out| fs::read_to_string(at.join(out).join(table)).unwrap());
        assert_eq!(ours, theirs, "{table}");
    }
}
