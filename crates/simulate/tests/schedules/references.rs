//! Compares the product with all published results (golden values).

use gleaner_domain::inputs::PackingTable;
use gleaner_domain::results::policy_run::PolicyRun;
use gleaner_runs::simulate::Figure;
use gleaner_simulate::Simulation;
use gleaner_simulate::metrics::summarise;
use gleaner_simulate::policies::Without;

use crate::published::{assert_minutes, outcome, outcomes};
use crate::table::Table;
use crate::venus::{Venus, nodes_text, path, run_one, venus};

const AS_IS: Without = Without {
    packing: false,
    throughput: false,
    estimate: false,
};

/// Fails if a job's outcome differs from the reference.
fn assert_jobs(venus: &Venus, run: &PolicyRun, reference: &str) {
    let table = Table::read(&format!("{reference}_jobs"));
    let finished = run.finished();
    assert_eq!(finished.len(), 23_859, "{reference}");
    let mut expected = outcomes(&table);
    for job in finished {
        let id = &venus.trace.jobs[job.job].id;
        let found = outcome(job.outcome);
        assert_eq!(Some(found), expected.remove(id), "{reference}, job {id}");
    }
    assert!(expected.is_empty(), "{reference}");
}

#[test]
fn every_job_of_the_six_policies_is_as_published() {
    let Some(venus) = venus() else { return };
    let figures = [
        ("fifo", [65720, 53951, 587_040]),
        ("sjf", [21095, 9325, 322_076]),
        ("srtf", [12609, 829, 126_901]),
        ("qssf", [15548, 3779, 214_309]),
        ("tiresias", [14700, 2915, 195_846]),
        ("lucid", [12886, 915, 93756]),
    ];
    for (name, expected) in figures {
        let run = venus.run(name);
        assert_jobs(venus, run, name);
        assert_eq!(self::figures(venus, run), expected, "{name}");
    }
}

#[test]
fn every_job_of_the_variants_is_as_published() {
    let Some(venus) = venus() else { return };
    let simulation = venus.simulation();
    let lgb = Simulation {
        estimates: Some(&venus.lgb),
        ..simulation
    };
    let throughput = Without {
        throughput: true,
        ..AS_IS
    };
    let estimate = Without {
        estimate: true,
        ..AS_IS
    };
    let without = |without| Simulation {
        without,
        ..simulation
    };
    let variants = [
        ("qssf_lgb", lgb, [18797, 7028, 690_767]),
        (
            "lucid_no_throughput",
            without(throughput),
            [15098, 3387, 193_383],
        ),
        (
            "lucid_no_estimate",
            without(estimate),
            [16080, 4369, 221_435],
        ),
    ];
    for (name, simulation, expected) in variants {
        let policy = name.split('_').next().unwrap();
        let run = run_one(&simulation, policy);
        assert_jobs(venus, &run, name);
        assert_eq!(figures(venus, &run), expected, "{name}");
    }
}

#[test]
fn the_profiler_is_as_published() {
    let Some(venus) = venus() else { return };
    let profiler = venus.run("lucid").profiler.as_ref().unwrap();
    let table = Table::read("profiler_jobs");
    let [ids, profiled, start, end, queue, ended] = [
        "job_id",
        "profiled",
        "start_time",
        "end_time",
        "profqueue",
        "toskip",
    ]
    .map(|column| table.integers(column));
    let nodes = table.texts("nodes");
    for (row, job) in venus.trace.jobs.iter().enumerate() {
        assert_eq!(job.id, ids[row].to_string());
        assert_eq!(profiler.ended(row, job), ended[row] == 1, "job {}", job.id);
        let outcome = profiler.position(row).map(|at| &profiler.schedule.jobs[at]);
        let found = outcome.map(|o| (o.start, o.end, o.queue, nodes_text(&o.nodes)));
        let expected = (start[row], end[row], queue[row], nodes[row].to_owned());
        let expected = (profiled[row] == 1).then_some(expected);
        assert_eq!(found, expected, "job {}", job.id);
    }
    assert_minutes(&profiler.schedule, "profiler_seq");
}

#[test]
fn the_profilers_scaling_is_as_published() {
    let Some(venus) = venus() else { return };
    let mut reader = csv::Reader::from_path(path("reference/profiler_scaling.csv").unwrap());
    let rows = reader.as_mut().unwrap().deserialize::<(f64, i32)>();
    let expected: Vec<(i64, i32)> = rows
        .map(Result::unwrap)
        .map(|(time, step)| (time as i64, step))
        .collect();
    let run = venus.run("lucid");
    assert_eq!(run.profiler.as_ref().unwrap().schedule.scaling, expected);
}

#[test]
fn every_minute_is_as_published() {
    let Some(venus) = venus() else { return };
    for run in venus.published() {
        for name in ["vcvlY", "vchbv"] {
            let vc = &run.vcs[venus.cluster.vc(name).unwrap()];
            assert_minutes(&vc.schedule, &format!("{}_{name}_seq", run.policy));
        }
    }
}

/// Average job completion time, average queuing time and 99.9th percentile of the queuing time, in
/// seconds.
fn figures(venus: &Venus, run: &PolicyRun) -> [i64; 3] {
    let metrics = summarise(&venus.trace, &venus.cluster, run);
    Figure::ALL.map(|figure| figure.of(&metrics.all) as i64)
}

/// The figures of Lucid without packing analysis, under the rule that Gleaner uses and under two
/// other interpretations. The first interpretation omits only the scores. The second omits sharing
/// but still tries all jobs.
#[test]
fn the_figures_without_packing_are_as_described() {
    let Some(venus) = venus() else { return };
    let rule = Simulation {
        without: Without {
            packing: true,
            ..AS_IS
        },
        ..venus.simulation()
    };
    let expected = [12880, 926, 109_551];
    assert_eq!(figures(venus, &run_one(&rule, "lucid")), expected);
    for (score, expected) in [(Some(0), [12868, 875]), (None, [14512, 2801])] {
        let packing = PackingTable {
            scores: vec![score; venus.packing.scores.len()],
            ..venus.packing.clone()
        };
        let simulation = Simulation {
            packing: Some(&packing),
            ..venus.simulation()
        };
        let found = figures(venus, &run_one(&simulation, "lucid"));
        assert_eq!(found[..2], expected, "all scores {score:?}");
    }
}
