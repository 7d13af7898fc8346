//! Tests names that contain control characters for terminals. No message or page may contain an escape byte or a
//! direction mark.

use std::fs;
use std::path::Path;

use crate::support::{attack, samples};

/// Names that clear the screen, set the title, ring the bell, change the direction of text, or
/// contain other control characters.
const NAMES: [&str; 3] = [
    "\u{1b}[2J\u{1b}]0;x\u{7}",
    "a\u{202e}b\u{2066}c\u{2028}d",
    "\u{9b}31m\u{7f}",
];

fn replace(at: &Path, file: &str, from: &str, to: &str) {
    let text = fs::read_to_string(at.join(file)).unwrap();
    assert!(text.contains(from), "no {from} in {file}");
    fs::write(at.join(file), text.replace(from, to)).unwrap();
}

/// A name as a TOML string. TOML allows control characters only as escapes.
fn in_toml(name: &str) -> String {
    let escaped = name.chars().map(|c| {
        if c.is_ascii_graphic() && c != '\\' && c != '"' {
            c.to_string()
        } else {
            format!("\\u{:04x}", c as u32)
        }
    });
    escaped.collect()
}

/// Asserts that a page contains no control character. HTML does not allow such characters either.
#[track_caller]
fn assert_plain(page: &Path) {
    let text = fs::read_to_string(page).unwrap();
    let found = text.chars().find(|c| {
        [
            '\u{1b}', '\u{7}', '\u{7f}', '\u{9b}', '\u{202e}', '\u{2066}',
        ]
        .contains(c)
    });
    assert_eq!(found, None, "{}", page.display());
}

#[test]
fn names_of_replays_are_escaped() {
    for name in NAMES {
        let directory = samples();
        let at = directory.path();
        replace(at, "tasks.toml", "task0000", &in_toml(name));
        replace(at, "idle.csv", ",n00,", &format!(",{name},"));
        let tasks = "--events idle.csv --tasks tasks.toml";
        assert_eq!(attack(at, &format!("replay {tasks} --out run")).code, 0);
        assert_eq!(attack(at, "report run -o page.html --svg svg").code, 0);
        assert_plain(&at.join("page.html"));
        attack(at, "inspect idle.csv");
        attack(at, "convert idle.csv -o log.gev");
        // Messages about faults contain the names.
        let faulty = fs::read_to_string(at.join("tasks.toml")).unwrap();
        fs::write(
            at.join("faulty.toml"),
            faulty.replace("min_nodes = ", "min_nodes = 0 # "),
        )
        .unwrap();
        assert_eq!(
            attack(at, "replay --events idle.csv --tasks faulty.toml").code,
            3
        );
        attack(
            at,
            "replay --events idle.csv --tasks faulty.toml --skip-invalid",
        );
        fs::write(
            at.join("twice.csv"),
            format!("time,{name},{name}\n2026-01-01,1,0\n"),
        )
        .unwrap();
        assert_eq!(attack(at, "inspect twice.csv").code, 3);
        fs::write(
            at.join("plan.toml"),
            format!("[replay]\nevents = 'idle.csv' {name}\n"),
        )
        .unwrap();
        assert_eq!(attack(at, "sweep plan.toml --out swept").code, 3);
        fs::write(
            at.join("plan.toml"),
            format!("[replay]\nevents = \"{}\"\ntasks = \"t\"\n", in_toml(name)),
        )
        .unwrap();
        attack(at, "sweep plan.toml --out swept");
        let problems = fs::read_to_string(at.join("problems.jsonl")).unwrap();
        let id = serde_json::to_string(name).unwrap();
        let problem =
            problems
                .lines()
                .next()
                .unwrap()
                .replacen("\"id\":", &format!("\"id\":{id},\"x\":"), 1);
        fs::write(at.join("p.jsonl"), problem).unwrap();
        attack(at, "solve p.jsonl");
    }
}

#[test]
fn names_of_simulations_are_escaped() {
    for name in NAMES {
        let directory = samples();
        let at = directory.path();
        let vc = fs::read_to_string(at.join("trace/vc_config.csv")).unwrap();
        let first = vc
            .lines()
            .nth(1)
            .unwrap()
            .split(',')
            .next()
            .unwrap()
            .to_owned();
        replace(at, "trace/vc_config.csv", &first, name);
        let jobs = fs::read_to_string(at.join("trace/jobs.csv")).unwrap();
        let head: Vec<&str> = jobs.lines().next().unwrap().split(',').collect();
        let column = |wanted: &str| head.iter().position(|name| *name == wanted);
        let rows = jobs.lines().skip(1).map(|line| {
            let mut cells: Vec<&str> = line.split(',').collect();
            for hostile in [column("user"), column("jobname")].into_iter().flatten() {
                cells[hostile] = name;
            }
            let vc = column("vc").unwrap();
            cells[vc] = if cells[vc] == first { name } else { cells[vc] };
            cells.join(",") + "\n"
        });
        let rows: String = rows.collect();
        fs::write(at.join("trace/jobs.csv"), head.join(",") + "\n" + &rows).unwrap();
        let line = "simulate --data trace --policy fifo,qssf,lucid --profiler off";
        assert_eq!(attack(at, &format!("{line} --out run")).code, 0);
        attack(at, &format!("{line} --csv --logs --out logs"));
        attack(
            at,
            "simulate --data trace --policy lucid --profiler 200,1,4 --lend auto --check",
        );
        assert_eq!(attack(at, "report run -o page.html").code, 0);
        assert_plain(&at.join("page.html"));
        assert_eq!(
            attack(at, "train workload --data trace --out models").code,
            0
        );
        assert_eq!(
            attack(at, "explain models/workload.json --job 1 --data trace").code,
            0
        );
        attack(at, "explain models/workload.json --term user");
        attack(at, "explain models/workload.json -o model.html");
        assert_plain(&at.join("model.html"));
        // The messages of the next commands contain the name: as a job without an estimate, as a workload without a
        // profile, and as the content of invalid cells.
        let jobs = fs::read_to_string(at.join("trace/jobs.csv")).unwrap();
        fs::write(
            at.join("named.csv"),
            jobs.replacen("\n1,", &format!("\n{name},"), 1),
        )
        .unwrap();
        replace(at, "trace/jobs.csv", "SparrowNet", name);
        for files in [
            "--trace named.csv --policy qssf",
            "--policy lucid --estimates oracle",
        ] {
            let found = attack(at, &format!("simulate --data trace {files}"));
            assert_eq!(found.code, 3, "{}", found.err);
        }
        fs::write(
            at.join("bad.csv"),
            format!("job_id,vc,gpu_num,submit_time,duration\n{name},{name},{name},{name},{name}\n"),
        )
        .unwrap();
        assert_eq!(
            attack(
                at,
                "simulate --trace bad.csv --cluster trace/vc_config.csv --policy fifo"
            )
            .code,
            3
        );
    }
}

#[test]
fn names_of_schedulers_logs_are_escaped() {
    let directory = samples();
    let at = directory.path();
    for name in NAMES {
        let head = "JobIDRaw|State|Submit|Start|End|NNodes|NodeList\n";
        let cells = [name; 7].join("|");
        fs::write(at.join("all.txt"), format!("{head}{cells}\n")).unwrap();
        assert_eq!(attack(at, "ingest slurm all.txt -o x.gev").code, 3);
        let job = "2|COMPLETED|2026-01-01T00:00:00|2026-01-01T00:01:00|2026-01-01T00:02:00|1|";
        fs::write(
            at.join("node.txt"),
            format!("{head}{job}{name}\n{job}n1\n{cells}\n"),
        )
        .unwrap();
        attack(at, "ingest slurm node.txt -o x.gev");
        for format in [
            "pbs", "cobalt", "djc", "swf", "sinfo", "spot", "table", "helios", "batsim", "philly",
        ] {
            fs::write(
                at.join("text.txt"),
                format!("{name}\n{name},{name}\n{{\"{name}\": 1}}\n"),
            )
            .unwrap();
            assert_eq!(
                attack(at, &format!("ingest {format} text.txt -o y.csv")).code,
                3
            );
        }
    }
}

#[test]
fn arguments_are_escaped_and_messages_are_bounded() {
    let directory = samples();
    let at = directory.path();
    for (line, code) in [
        ("simulate --poli\u{202e}cy fifo", 2),
        (
            "replay --events idle.csv --tasks tasks.toml --solver \u{202e}ylno",
            2,
        ),
        ("solver-check exec:no\u{202e}such", 1),
        ("\u{202e}yalper", 2),
    ] {
        assert_eq!(attack(at, line).code, code, "{line:?}");
    }
    // Escaping makes a name up to eight times as long, but messages about long names must stay short.
    for name in ["x", "\\u202e"] {
        let plan = format!("[replay]\nsolver = [\"{}\"]\n", name.repeat(1 << 20));
        fs::write(at.join("plan.toml"), plan).unwrap();
        let refused = attack(at, "sweep plan.toml -o swept");
        assert_ne!(refused.code, 0);
        assert!(refused.err.len() < 1 << 16, "{} bytes", refused.err.len());
    }
}
