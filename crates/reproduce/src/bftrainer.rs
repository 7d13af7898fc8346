//! BFTrainer: replays of Summit's idle nodes with the published tasks.

mod problems;
mod recorded;
mod replays;

use gleaner_domain::Observer;
use gleaner_domain::error::Result;
use gleaner_domain::results::reproduce::System;
use gleaner_solvers::SolverKind;

use crate::Part;
use crate::files::Data;
use crate::filled::Values;
use replays::{Replayed, Replays, Setting, TaskFiles};

/// The task sets that are large enough to fill the machine.
const SETS: [TaskFiles; 3] = [
    TaskFiles::new("ShuffleNet, 1,000 tasks", "hps-shufflenet", "1000J"),
    TaskFiles::new("ImageNet by images per second", "ImageNet-imgps", "1001J"),
    TaskFiles::new("ImageNet by speed-up", "ImageNet-spdup", "1001J"),
];

/// The compared limits on the number of concurrent tasks.
const AT_ONCE: [usize; 6] = [5, 10, 20, 50, 100, 200];
/// The compared forward windows, in seconds.
const WINDOWS: [f64; 6] = [10.0, 30.0, 60.0, 120.0, 300.0, 600.0];

/// The base setting. All other settings differ from the base setting in one or two values.
const BASE: Setting = Setting {
    t_fwd: 120.0,
    max_tasks: 100,
    objective: "file",
    solver: SolverKind::Exact,
};

/// Reproduces BFTrainer's replays.
pub(super) fn reproduce<'c>(data: Data<'_>, observer: &'c dyn Observer) -> Result<Part<'c>> {
    let mut part = Part::new(System::Bftrainer, observer)?;
    let replays = Replays::open(&mut part, data)?;
    let by_tasks = by_tasks(&replays)?;
    let best = by_tasks
        .iter()
        .flat_map(|(_, runs)| runs)
        .map(|(_, run)| run.efficiency);
    let mut claim = Values::default();
    claim.set(
        "highest efficiency of the replays below",
        "efficiency",
        best.fold(0.0, f64::max),
    );
    part.add("bftrainer-abstract", &claim)?;
    recorded::add(&mut part, data, &replays)?;
    problems::add(&mut part, data)?;
    let mut efficiency = Values::default();
    for (row, runs) in &by_tasks {
        for (at_once, run) in runs {
            efficiency.set(row, &at_once.to_string(), run.efficiency);
        }
    }
    part.add("bftrainer-tasks", &efficiency)?;
    by_window(&mut part, &replays)?;
    by_objective(&mut part, &replays)?;
    by_solver(&mut part, &replays)?;
    part.finish()
}

/// For each task set, its name and its runs. Each run is paired with its maximum number of concurrent tasks.
type ByTasks = Vec<(&'static str, Vec<(usize, Replayed)>)>;

fn by_tasks(replays: &Replays<'_>) -> Result<ByTasks> {
    let settings = AT_ONCE.map(|max_tasks| Setting { max_tasks, ..BASE });
    let of = |files: TaskFiles| {
        let runs = replays.run_all(files, &settings)?;
        Ok((files.name, AT_ONCE.into_iter().zip(runs).collect()))
    };
    SETS.into_iter().map(of).collect()
}

/// Reproduces the efficiency by forward window.
fn by_window(part: &mut Part<'_>, replays: &Replays<'_>) -> Result<()> {
    let settings = WINDOWS.map(|t_fwd| Setting { t_fwd, ..BASE });
    let mut ours = Values::default();
    for files in SETS {
        let runs = replays.run_all(files, &settings)?;
        for (window, run) in WINDOWS.into_iter().zip(runs) {
            ours.set(files.name, &window.to_string(), run.efficiency);
        }
    }
    part.add("bftrainer-window", &ours)?;
    Ok(())
}

/// Reproduces efficiency, completion and fairness by objective.
fn by_objective(part: &mut Part<'_>, replays: &Replays<'_>) -> Result<()> {
    let of = |row, files, objective| (row, files, Setting { objective, ..BASE });
    let runs = [
        of("images per second, as published", SETS[1], "file"),
        of(
            "images per second, our objective \"throughput\"",
            SETS[1],
            "throughput",
        ),
        of("speed-up, as published", SETS[2], "file"),
        of("speed-up, our objective \"speedup\"", SETS[1], "speedup"),
        of(
            "fair shares, our objective \"share-fair\"",
            SETS[1],
            "share-fair",
        ),
    ];
    let mut ours = Values::default();
    for (row, files, setting) in runs {
        let run = replays.run_all(files, &[setting])?;
        set_all(&mut ours, row, &run);
    }
    part.add("bftrainer-objective", &ours)?;
    Ok(())
}

/// Compares the exact solver with equal shares.
fn by_solver(part: &mut Part<'_>, replays: &Replays<'_>) -> Result<()> {
    let mut ours = Values::default();
    for files in SETS {
        for max_tasks in [10, 100] {
            for (solver, name) in [
                (SolverKind::Exact, "optimum"),
                (SolverKind::EqualShare, "equal shares"),
            ] {
                let setting = Setting {
                    max_tasks,
                    solver,
                    ..BASE
                };
                let row = format!("{}, {max_tasks} concurrent: {name}", files.name);
                set_all(&mut ours, &row, &replays.run_all(files, &[setting])?);
            }
        }
    }
    part.add("bftrainer-equal-share", &ours)?;
    Ok(())
}

/// Fills the row `row` with all figures of the runs.
fn set_all(ours: &mut Values, row: &str, runs: &[Replayed]) {
    for run in runs {
        ours.set(row, "efficiency", run.efficiency);
        ours.set(row, "relative to the fluid bound", run.fluid);
        ours.set(row, "mean completion", run.completion_hours);
        ours.set(row, "least share", run.fairness);
    }
}
