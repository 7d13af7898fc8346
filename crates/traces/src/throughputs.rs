//! Reads Gavel's throughputs: the steps per second of every job type, measured on several GPU
//! types.

use std::collections::BTreeMap;
use std::path::Path;

use super::Options;
use gleaner_domain::error::{Error, Fault, Result};
use gleaner_io::Gatherer;
use gleaner_io::json;
use gleaner_logs::scheduler::{Input, shown};

/// The file of throughputs and its source, for messages.
const WHERE: &str = "simulation_throughputs.json from https://github.com/stanford-futuredata/gavel";

/// The speeds of jobs in steps per second.
#[derive(Debug)]
pub(super) enum Speeds {
    /// Speeds by job type and number of GPUs. The speed is `None` if the measured throughput is 0.
    Measured(BTreeMap<(String, u64), Option<f64>>),
    /// The same speed for all jobs.
    Same(f64),
}

impl Speeds {
    /// The speeds set by the options.
    ///
    /// # Errors
    /// The options set no speeds, or the file of throughputs cannot be read or has faults.
    pub fn of(options: &Options) -> Result<Self> {
        match (&options.throughputs, options.steps_per_second) {
            (Some(path), _) => read(path, &options.worker),
            (None, Some(speed)) => Ok(Speeds::Same(speed)),
            (None, None) => Err(Error::Usage(format!(
                "a Gavel trace contains steps, not durations: pass --throughputs FILE ({WHERE}) or \
                 --steps-per-second"
            ))),
        }
    }

    /// Steps per second of a job. The error states why the speed is unknown.
    pub fn of_job(&self, kind: &str, gpus: u64) -> Result<f64, &'static str> {
        match self {
            Speeds::Same(speed) => Ok(*speed),
            Speeds::Measured(speeds) => {
                let found = speeds.get(&(kind.to_owned(), gpus));
                let speed = found.ok_or("no throughput was measured")?;
                speed.ok_or("a throughput of 0 was measured")
            }
        }
    }
}

/// Reads the throughputs that were measured on one type of GPU.
fn read(path: &Path, worker: &str) -> Result<Speeds> {
    let mut speeds = BTreeMap::new();
    let mut faults = Gatherer::default();
    let expected = format!("{WHERE}, with throughputs by GPU type and job type");
    json::pieces(
        &mut Input::open(path)?,
        &[worker],
        &expected,
        |file, piece| {
            let alone = piece.value.get("null").unwrap_or(&piece.value);
            let speed = alone.as_f64().filter(|speed| *speed >= 0.0);
            match (key(piece.name), speed) {
                (Some(key), Some(speed)) => {
                    speeds.insert(key, Some(speed).filter(|speed| *speed > 0.0));
                    Ok(())
                }
                _ => {
                    let found = format!("{} of {:?}", shown(alone), piece.name);
                    let expected = "steps per second of a job type, such as ('ResNet-18 (batch \
                                size 64)', 1)";
                    faults.add(Fault::of(file, found, expected).field(worker))
                }
            }
        },
    )?;
    if speeds.is_empty() && faults.is_empty() {
        let found = format!("no throughputs of {worker}");
        let fault = Fault::of(path, found, "throughputs of this GPU type");
        faults
            .add(fault.remedy("set another type with --worker-type, such as v100, p100 or k80"))?;
    }
    faults.finish(Speeds::Measured(speeds))
}

/// Parses a job's type and number of GPUs: `('LM (batch size 5)', 2)`, or `LM (batch size 5)`
/// for one GPU.
fn key(name: &str) -> Option<(String, u64)> {
    let Some(inner) = name
        .strip_prefix("('")
        .and_then(|name| name.strip_suffix(')'))
    else {
        return (!name.is_empty()).then(|| (name.to_owned(), 1));
    };
    let (kind, gpus) = inner.rsplit_once("', ")?;
    Some((kind.to_owned(), gpus.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_gpu_count_is_parsed_from_the_kind_of_job() {
        let lm = "LM (batch size 5)".to_owned();
        assert_eq!(key("('LM (batch size 5)', 2)"), Some((lm.clone(), 2)));
        assert_eq!(key("LM (batch size 5)"), Some((lm, 1)));
        assert_eq!(key("('LM', x)"), None);
        assert_eq!(key(""), None);
    }
}
