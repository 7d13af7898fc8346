//! Makes one measurement: starts one or two workloads, waits until they are warm, lets them run through the window, and
//! stops them.

use std::thread;
use std::time::{Duration, Instant};

use gleaner_domain::Observer;
use gleaner_domain::words::printable;
use gleaner_process::Cgroups;
use serde::{Deserialize, Serialize};

use crate::failure::{Failed, Problem};
use crate::plan::{Config, Plan};
use crate::running::Running;
use crate::sampler::{Reading, Sampler, Watched};

/// Time between two checks of the workloads.
const LOOK: Duration = Duration::from_millis(10);

/// Time between two polls of the sampler.
const POLL: Duration = Duration::from_millis(200);

/// Time allowed for reading the remaining output of a workload that has ended.
const LAST_WORDS: Duration = Duration::from_millis(50);

/// The results of a measurement.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Measured {
    /// Length of the window in seconds.
    pub seconds: f64,
    /// Utilisation of the devices or cores, in percent; `None` if the device does not report it.
    pub util: Option<f64>,
    /// Memory utilisation of the devices or cores, in percent; `None` if the device does not report it.
    pub memory_util: Option<f64>,
    /// Peak memory, in MiB.
    pub memory: f64,
    /// The workloads: a single workload, or both workloads of a pair.
    pub parts: Vec<Part>,
}

/// The results for one workload.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Part {
    /// Samples per second.
    pub speed: f64,
    /// The workload's share of the utilisation, in percent; `None` if unknown.
    pub util: Option<f64>,
    /// Seconds from the workload's start until it was warm.
    pub warm: f64,
}

/// The result of a measurement, or the reason why there is none.
#[derive(Debug)]
pub(crate) enum Outcome {
    Measured(Measured),
    Failed(Failed),
    /// The observer stopped the measurement.
    Stopped,
}

/// The context of a measurement: the plan, the control groups, the sampler and the observer.
pub(crate) struct Bench<'a> {
    pub plan: &'a Plan,
    pub cgroups: Option<&'a Cgroups>,
    pub sampler: &'a mut dyn Sampler,
    /// The observer, which can stop the measurement.
    pub observer: &'a dyn Observer,
}

/// The reason why a measurement ends early.
enum Halt {
    Failed(Failed),
    Stopped,
}

/// Measures one workload alone, or two workloads at the same time, each with the given number of processes.
pub(crate) fn measure(bench: &mut Bench<'_>, configs: &[Config], processes: u32) -> Outcome {
    match attempt(bench, configs, processes) {
        Ok(measured) => Outcome::Measured(measured),
        Err(Halt::Failed(failed)) => Outcome::Failed(failed),
        Err(Halt::Stopped) => Outcome::Stopped,
    }
}

fn attempt(bench: &mut Bench<'_>, configs: &[Config], processes: u32) -> Result<Measured, Halt> {
    let mut running = Vec::new();
    for (which, &config) in configs.iter().enumerate() {
        let started = Running::start(bench.plan, config, processes, bench.cgroups);
        running.push(started.map_err(|error| {
            Halt::Failed(Failed {
                problem: Problem::NotStarted(error.to_string()),
                which: Some(which),
                output: String::new(),
            })
        })?);
    }
    let warm = wait_until_warm(bench, &mut running)?;
    let window = run_window(bench, &mut running)?;
    let end = window.end;
    running.iter_mut().for_each(Running::stop);
    let mut parts = Vec::new();
    for (which, workload) in running.iter().enumerate() {
        let reports = window.reports[which];
        let speed = reports
            .speed(end)
            .map_err(|why| failed(workload, which, Problem::NoSpeed(why)))?;
        parts.push(Part {
            speed,
            util: window.reading.parts.get(which).copied().flatten(),
            warm: warm[which],
        });
    }
    Ok(Measured {
        seconds: window.seconds,
        util: window.reading.util,
        memory_util: window.reading.memory_util,
        memory: window.reading.memory,
        parts,
    })
}

/// The failure of a workload, with the last lines of its output.
fn failed(workload: &Running, which: usize, problem: Problem) -> Halt {
    Halt::Failed(Failed {
        problem,
        which: Some(which),
        output: workload.log.last_lines(),
    })
}

/// Waits until all workloads are warm. Returns the warm-up time of each workload in seconds.
fn wait_until_warm(bench: &Bench<'_>, running: &mut [Running]) -> Result<Vec<f64>, Halt> {
    let limit = bench.plan.settings.warm_limit();
    loop {
        let mut warm = Vec::new();
        for (which, workload) in running.iter_mut().enumerate() {
            let end = workload.ended();
            if end.is_some() {
                thread::sleep(LAST_WORDS);
            }
            let state = workload.log.state();
            let since = |at: Instant| at.saturating_duration_since(workload.started);
            warm.extend(state.warm.map(|at| since(at).as_secs_f64()));
            let is_late = state.warm.is_none() && workload.started.elapsed() >= limit;
            let problem = match (state.nonsense, end) {
                (Some(line), _) => Problem::Nonsense(line),
                (None, Some(end)) => ended_cold(&end.to_string(), state.warm.is_some()),
                (None, None) if is_late => Problem::NeverWarm(limit.as_secs_f64()),
                (None, None) => continue,
            };
            return Err(failed(workload, which, problem));
        }
        if warm.len() == running.len() {
            return Ok(warm);
        }
        pause(bench.observer)?;
    }
}

/// Returns the problem of a workload that ended before all workloads were warm.
fn ended_cold(end: &str, was_warm: bool) -> Problem {
    if was_warm {
        // This workload was warm, but the other workload of the pair was still warming up.
        Problem::EndedCold(format!(
            "{end}, while the other workload was still warming up"
        ))
    } else {
        Problem::EndedCold(end.to_owned())
    }
}

/// A completed window.
struct Window {
    reading: Reading,
    end: Instant,
    /// Reports of each workload up to the end of the window.
    reports: Vec<crate::reports::Reports>,
    seconds: f64,
}

/// Opens the window, and closes it after the plan's number of seconds or as soon as one of the workloads ends.
fn run_window(bench: &mut Bench<'_>, running: &mut [Running]) -> Result<Window, Halt> {
    let unsampled = |why: String| {
        Halt::Failed(Failed {
            problem: Problem::Sampler(printable(&why).into_owned()),
            which: None,
            output: String::new(),
        })
    };
    bench.sampler.open(&watched(running)).map_err(unsampled)?;
    let starts: Vec<Instant> = running.iter().map(|w| w.log.open_window()).collect();
    let begun = starts.first().copied().unwrap_or_else(Instant::now);
    let deadline = begun + bench.plan.settings.window();
    let mut next_poll = begun + POLL;
    loop {
        let is_over = any_ended(running)?;
        let now = Instant::now();
        if is_over || now >= deadline {
            break;
        }
        if now >= next_poll {
            bench.sampler.poll(&watched(running)).map_err(unsampled)?;
            next_poll = Instant::now() + POLL;
        }
        pause(bench.observer)?;
    }
    // The reports are copied now, because later reports do not belong to the window.
    let reports = running.iter().map(|w| w.log.state().reports).collect();
    let end = Instant::now();
    let reading = bench.sampler.close(&watched(running)).map_err(unsampled)?;
    Ok(Window {
        reading,
        end,
        reports,
        seconds: (end - begun).as_secs_f64(),
    })
}

/// Whether any workload has ended normally. Fails if a workload ended with an error or wrote an invalid report.
fn any_ended(running: &mut [Running]) -> Result<bool, Halt> {
    let mut is_over = false;
    for (which, workload) in running.iter_mut().enumerate() {
        let end = workload.ended();
        let died = end.filter(|end| !end.success());
        if died.is_some() {
            thread::sleep(LAST_WORDS);
        }
        let problem = match (workload.log.state().nonsense, died) {
            (Some(line), _) => Some(Problem::Nonsense(line)),
            (None, Some(end)) => Some(Problem::Died(end.to_string())),
            (None, None) => None,
        };
        if let Some(problem) = problem {
            return Err(failed(workload, which, problem));
        }
        is_over |= end.is_some();
    }
    Ok(is_over)
}

fn watched(running: &[Running]) -> Vec<Watched<'_>> {
    running.iter().map(Watched).collect()
}

/// Sleeps until the next check of the workloads. Fails if the observer has stopped the measurement.
fn pause(observer: &dyn Observer) -> Result<(), Halt> {
    if observer.is_stopped() {
        return Err(Halt::Stopped);
    }
    thread::sleep(LOOK);
    Ok(())
}

/// Measures the machine without workloads. Returns `None` if the observer stops the measurement.
///
/// # Errors
/// The device cannot be sampled. The error states the reason.
pub(crate) fn idle(
    sampler: &mut dyn Sampler,
    length: Duration,
    observer: &dyn Observer,
) -> Result<Option<Reading>, String> {
    sampler.open(&[])?;
    let end = Instant::now() + length;
    while Instant::now() < end {
        if observer.is_stopped() {
            return Ok(None);
        }
        thread::sleep(LOOK.max(POLL.min(end.saturating_duration_since(Instant::now()))));
        sampler.poll(&[])?;
    }
    sampler.close(&[]).map(Some)
}
