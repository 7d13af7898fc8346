//! Writes and prints what was simulated.

use std::collections::BTreeMap;
use std::time::Instant;

use rayon::prelude::*;
use serde::Serialize;

use super::Args;
use super::inputs::Inputs;
use super::estimated::EstimatesUsed;
use super::prepared::Learnt;
use crate::cli::print;
use crate::domain::Cluster;
use crate::error::{Error, Result};
use crate::lucid::Simulation;
use crate::lucid::idle::idle_log;
use crate::lucid::metrics::{Metrics, summarise};
use crate::lucid::policies::Needs;
use crate::lucid::profiler::Profiler;
use crate::lucid::result::PolicyRun;
use crate::models::Week;
use crate::output::events::{self, Layout};
use crate::output::run::{End, RunDir, Seconds};
use crate::output::simulate::{self as tables, Entry, Experiment};

/// Everything there is to report.
pub struct Results<'a> {
    pub args: &'a Args,
    pub learnt: &'a Learnt,
    /// Where estimates come from, where a policy uses them.
    pub estimates: Option<&'a EstimatesUsed>,
    pub simulation: Simulation<'a>,
    pub runs: &'a [PolicyRun],
    pub inputs: &'a Inputs,
    pub complete: bool,
}

/// What `run.json` says besides.
#[derive(Serialize)]
struct Info<'a> {
    /// The profiler's settings, `auto` resolved.
    profiler: Option<ProfilerInfo<'a>>,
    /// Where estimates come from; null where no policy uses them.
    estimates: Option<EstimatesInfo<'a>>,
    /// Second of the trace's clock at which the simulation starts.
    start: i64,
    corrections: Vec<CorrectionInfo<'a>>,
}

/// Where estimates come from.
#[derive(Serialize)]
struct EstimatesInfo<'a> {
    #[serde(flatten)]
    used: &'a EstimatesUsed,
    /// By policy, what was learnt for each week.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    weeks: &'a BTreeMap<&'static str, Vec<Week>>,
}

/// The profiler's settings, with names for indices.
#[derive(Serialize)]
struct ProfilerInfo<'a> {
    limit: i64,
    nodes: u32,
    factor: f64,
    lent: BTreeMap<&'a str, u32>,
    elastic: Option<&'a str>,
}

impl<'a> ProfilerInfo<'a> {
    fn new(profiler: &Profiler, cluster: &'a Cluster) -> Self {
        let name = |vc: usize| cluster.vcs[vc].name.as_str();
        let mut lent = BTreeMap::new();
        for &(vc, nodes) in &profiler.lent {
            *lent.entry(name(vc)).or_default() += nodes;
        }
        ProfilerInfo {
            limit: profiler.limit,
            nodes: profiler.nodes,
            factor: profiler.factor,
            lent,
            elastic: profiler.elastic.map(name),
        }
    }
}

/// A survivor set back to full speed that would have stayed slow.
#[derive(Serialize)]
struct CorrectionInfo<'a> {
    policy: &'a str,
    vc: &'a str,
    time: i64,
    ended: &'a str,
    survivor: &'a str,
}

impl Results<'_> {
    /// Writes the run directory and the idle log where asked for, and prints the summary.
    ///
    /// # Errors
    /// A file that cannot be written; [`Error::Interrupted`] where policies are missing.
    pub fn report(&self, directory: Option<RunDir>, mut seconds: Seconds) -> Result<()> {
        let clock = Instant::now();
        let metrics: Vec<Metrics> = self
            .runs
            .par_iter()
            .map(|run| self.summarise(run))
            .collect();
        let names = self.runs.iter().map(|run| run.policy);
        let entries: Vec<Entry<'_>> = names.zip(&metrics).collect();
        if let Some(directory) = &directory {
            self.write_tables(directory, &entries)?;
        }
        self.write_idle_events()?;
        seconds.write = clock.elapsed().as_secs_f64();
        if let Some(directory) = directory {
            let end = End {
                sources: &self.inputs.sources,
                complete: self.complete,
                seconds,
            };
            directory.finish_with(&end, &self.info())?;
        }
        self.print(&entries, seconds)?;
        if self.complete {
            Ok(())
        } else {
            Err(Error::Interrupted)
        }
    }

    fn summarise(&self, run: &PolicyRun) -> Metrics {
        summarise(self.simulation.trace, self.simulation.cluster, run)
    }

    fn write_tables(&self, directory: &RunDir, entries: &[Entry<'_>]) -> Result<()> {
        directory.write_skipped(&self.inputs.skipped)?;
        let placer = self.simulation.placer.original_name();
        let experiment = Experiment {
            trace: self.simulation.trace,
            cluster: self.simulation.cluster,
            placer,
            csv: self.args.output.csv,
        };
        self.runs.par_iter().try_for_each(|run| {
            tables::write_run(directory, experiment, run)?;
            if self.args.output.logs {
                let packing = self.simulation.packing.filter(|_| self.packs(run));
                tables::write_logs(directory, experiment, run, packing)?;
            }
            Ok::<_, Error>(())
        })?;
        if let Some(profiler) = self.runs.iter().find_map(|run| run.profiler.as_ref()) {
            tables::write_profiler(directory, experiment, profiler)?;
        }
        if let Some(learnt) = self.learnt.by_policy() {
            directory.write_table(&tables::estimates(experiment.trace, learnt))?;
        }
        tables::write_results(directory, placer, entries)
    }

    fn packs(&self, run: &PolicyRun) -> bool {
        let all = crate::lucid::policies::ALL;
        let mut packing = all.iter().filter(|entry| entry.needs == Needs::Packing);
        packing.any(|entry| run.policy.starts_with(entry.name))
    }

    fn write_idle_events(&self) -> Result<()> {
        let (Some(path), [run]) = (&self.args.output.idle_events, self.runs) else {
            return Ok(());
        };
        let Simulation {
            trace,
            cluster,
            start,
            ..
        } = self.simulation;
        let log = idle_log(trace, cluster, run, start);
        events::write(&log, path, Layout::Long, None)
    }

    fn info(&self) -> Info<'_> {
        Info {
            profiler: self
                .simulation
                .profiler
                .map(|profiler| ProfilerInfo::new(profiler, self.simulation.cluster)),
            estimates: self.estimates.map(|used| EstimatesInfo {
                used,
                weeks: &self.learnt.weeks,
            }),
            start: self.simulation.start,
            corrections: self.corrections(),
        }
    }

    fn corrections(&self) -> Vec<CorrectionInfo<'_>> {
        let Simulation { trace, cluster, .. } = self.simulation;
        let of_runs = self
            .runs
            .iter()
            .flat_map(|run| run.vcs.iter().map(move |vc| (run, vc)));
        let infos = of_runs.flat_map(|(run, vc)| {
            let id = |job: usize| trace.jobs[vc.jobs[job]].id.as_str();
            vc.schedule
                .corrections
                .iter()
                .map(move |correction| CorrectionInfo {
                    policy: run.policy,
                    vc: &cluster.vcs[vc.vc].name,
                    time: correction.time,
                    ended: id(correction.ended),
                    survivor: id(correction.survivor),
                })
        });
        infos.collect()
    }

    /// Which estimates policies used, and those learnt with the estimator of each week.
    fn estimates_line(&self) -> String {
        let Some(used) = self.estimates else {
            return String::new();
        };
        let weeks = |(policy, weeks): (&&str, &Vec<Week>)| match weeks.as_slice() {
            [] => format!(
                "; {policy} {} s for every job, as the trace ends in its first week or nothing \
                 had ended",
                self.args.models.first_estimate()
            ),
            weeks => {
                let names: Vec<&str> = weeks.iter().map(|week| week.estimator.name()).collect();
                format!("; {policy} by {}", names.join(", "))
            }
        };
        let weeks: String = self.learnt.weeks.iter().map(weeks).collect();
        format!("estimates: {used}{weeks}\n")
    }

    fn print(&self, entries: &[Entry<'_>], seconds: Seconds) -> Result<()> {
        if self.args.output.json {
            let summary = tables::summary(entries)?;
            let text = serde_json::to_string_pretty(&summary);
            let text = text.map_err(|e| Error::Run(e.to_string()))?;
            return print(&(text + "\n"));
        }
        let checked = match self.args.check {
            true => "every schedule passed the checker\n",
            false => "",
        };
        print(&format!(
            "{}\n{}{checked}{:.2} s reading, {:.2} s simulating, {:.2} s writing\n",
            tables::text(entries),
            self.estimates_line(),
            seconds.read,
            seconds.compute,
            seconds.write
        ))
    }
}
