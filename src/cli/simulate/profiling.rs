//! Arguments of Lucid's profiler.

use std::str::FromStr;

use clap::Args;
use serde::Serialize;

use super::inputs::Inputs;
use crate::domain::Cluster;
use crate::error::{Error, Fault, Faults, Result};
use crate::lucid::Request;
use crate::lucid::profiler::Profiler;

/// How Lucid profiles.
#[derive(Debug, Args, Serialize)]
#[command(next_help_heading = "Lucid's profiler")]
pub struct ProfilerArgs {
    /// `auto` (as published, for the clusters Venus and Philly), `off`, or
    /// TIME,NODES,FACTOR: seconds for each job of up to NODES times FACTOR GPUs.
    #[arg(long, value_name = "SETTING", default_value = "auto")]
    profiler: Setting,
    /// Virtual clusters that lend the profiler nodes for good, as VC=NODES, separated by
    /// commas [default: as published with `auto`, else none: its nodes are extra].
    #[arg(long, value_name = "VC=NODES", value_delimiter = ',')]
    lend: Vec<Loan>,
    /// Virtual cluster that lends one more node while many jobs queue; needs --forecast.
    #[arg(long, value_name = "VC")]
    elastic: Option<String>,
}

/// The profiler's setting.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
enum Setting {
    Auto,
    Off,
    Manual { time: i64, nodes: u32, factor: f64 },
}

impl FromStr for Setting {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "auto" => return Ok(Setting::Auto),
            "off" => return Ok(Setting::Off),
            _ => {}
        }
        let manual = || {
            let mut parts = text.split(',').map(str::trim);
            let time = parts.next()?.parse().ok().filter(|time| *time >= 1)?;
            let nodes = parts
                .next()?
                .parse()
                .ok()
                .filter(|nodes| (1..=1_000_000).contains(nodes))?;
            let factor: f64 = parts.next()?.parse().ok()?;
            let sound = factor > 0.0 && factor.is_finite() && parts.next().is_none();
            sound.then_some(Setting::Manual {
                time,
                nodes,
                factor,
            })
        };
        manual().ok_or_else(|| {
            "expected auto, off, or TIME,NODES,FACTOR such as 200,2,4 (all above 0)".to_owned()
        })
    }
}

/// Nodes that a virtual cluster lends.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
struct Loan {
    vc: String,
    nodes: u32,
}

impl FromStr for Loan {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let parse = || {
            let (vc, nodes) = text.rsplit_once('=')?;
            let vc = vc.to_owned();
            Some(Loan {
                vc,
                nodes: nodes.parse().ok()?,
            })
        };
        parse().ok_or_else(|| "expected VC=NODES, such as vcefl=1".to_owned())
    }
}

impl ProfilerArgs {
    /// The profiler's settings, where a policy has a profiler and it is not off. Jobs that
    /// then do not fit their virtual cluster are faults, or left out where that is asked for.
    ///
    /// # Errors
    /// [`Error::Usage`] for settings that do not go with the cluster; faults of jobs.
    pub fn settings(&self, inputs: &mut Inputs, requests: &[Request]) -> Result<Option<Profiler>> {
        let profiled = requests.iter().any(|request| request.policy.profiled);
        if !profiled || self.profiler == Setting::Off {
            return Ok(None);
        }
        let mut profiler = match self.profiler {
            Setting::Manual {
                time,
                nodes,
                factor,
            } => manual(time, nodes, factor),
            _ => published(&inputs.cluster).ok_or_else(unknown_cluster)?,
        };
        if self.elastic.is_some() && inputs.forecast.is_none() {
            return Err(Error::Usage(
                "--elastic: the node is returned by the forecast; name one with --forecast".into(),
            ));
        }
        self.apply_loans(&mut profiler, &inputs.cluster)?;
        check(&profiler, &inputs.cluster)?;
        refuse_large_jobs(&profiler, inputs)?;
        Ok(Some(profiler))
    }

    fn apply_loans(&self, profiler: &mut Profiler, cluster: &Cluster) -> Result<()> {
        let find = |flag: &str, name: &str| {
            let missing = || Error::Usage(format!("{flag}: the cluster has no VC {name:?}"));
            cluster.vc(name).ok_or_else(missing)
        };
        if !self.lend.is_empty() {
            profiler.lent = Vec::new();
        }
        for loan in &self.lend {
            profiler.lent.push((find("--lend", &loan.vc)?, loan.nodes));
        }
        if let Some(name) = &self.elastic {
            profiler.elastic = Some(find("--elastic", name)?);
        }
        Ok(())
    }
}

fn manual(limit: i64, nodes: u32, factor: f64) -> Profiler {
    Profiler {
        limit,
        nodes,
        factor,
        lent: Vec::new(),
        elastic: None,
    }
}

/// The published settings, told by the names of the virtual clusters.
fn published(cluster: &Cluster) -> Option<Profiler> {
    if let (Some(first), Some(second), Some(elastic)) = (
        cluster.vc("vc8Gr"),
        cluster.vc("vcefl"),
        cluster.vc("vcYVn"),
    ) {
        return Some(Profiler {
            lent: vec![(first, 1), (second, 1)],
            elastic: Some(elastic),
            ..manual(200, 2, 4.0)
        });
    }
    let philly = cluster.vc("philly")?;
    Some(Profiler {
        lent: vec![(philly, 2)],
        ..manual(80, 2, 2.0)
    })
}

fn unknown_cluster() -> Error {
    Error::Usage(
        "--profiler auto knows the clusters Venus and Philly only; for this one say \
         --profiler TIME,NODES,FACTOR such as 200,2,4, with --lend VC=NODES if virtual clusters \
         lend the nodes, or --profiler off"
            .into(),
    )
}

fn check(profiler: &Profiler, cluster: &Cluster) -> Result<()> {
    let gpus = u64::from(profiler.nodes) * u64::from(cluster.gpus_per_node);
    if u64::from(profiler.most_gpus()) > gpus {
        return Err(Error::Usage(format!(
            "--profiler: jobs of up to {} GPUs do not fit on {} GPUs, {} a node; lower the factor",
            profiler.most_gpus(),
            gpus,
            cluster.gpus_per_node
        )));
    }
    for (index, vc) in cluster.vcs.iter().enumerate() {
        let lent: u32 = vc.nodes - profiler.kept(index, vc.nodes);
        if lent >= vc.nodes && lent > 0 {
            return Err(Error::Usage(format!(
                "--lend: {} would lend all of its {} nodes",
                vc.name, vc.nodes
            )));
        }
    }
    Ok(())
}

/// Jobs that fit their virtual cluster only with the nodes it lends.
fn refuse_large_jobs(profiler: &Profiler, inputs: &mut Inputs) -> Result<()> {
    let cluster = &inputs.cluster;
    let kept = |vc: usize| {
        let nodes = profiler.kept(vc, cluster.vcs[vc].nodes);
        u64::from(nodes) * u64::from(cluster.gpus_per_node)
    };
    let mut faults = Faults::default();
    inputs.trace.jobs.retain(|job| {
        let fits = u64::from(job.gpus) <= kept(job.vc);
        if !fits {
            let found = format!("job {} with {} GPUs", job.id, job.gpus);
            let vc = &cluster.vcs[job.vc].name;
            let expected = format!(
                "at most {}, all that {vc} has with nodes lent",
                kept(job.vc)
            );
            let fault = Fault::of(&inputs.trace_path, found, expected).field("gpu_num");
            faults.push(
                fault.remedy("lend other nodes (--lend), or leave the job out (--skip-invalid)"),
            );
        }
        fits
    });
    if inputs.skip_invalid {
        inputs.skipped.0.extend(faults.0);
        return Ok(());
    }
    faults.into_result(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_read() {
        assert_eq!("auto".parse(), Ok(Setting::Auto));
        let manual = Setting::Manual {
            time: 80,
            nodes: 2,
            factor: 0.5,
        };
        assert_eq!("80,2,0.5".parse(), Ok(manual));
        for text in [
            "", "80", "80,2", "80,0,1", "0,2,1", "80,2,-1", "80,2,nan", "80,2,1,1",
        ] {
            assert!(text.parse::<Setting>().is_err(), "{text}");
        }
        let loan = Loan {
            vc: "a=b".into(),
            nodes: 3,
        };
        assert_eq!("a=b=3".parse(), Ok(loan));
        assert!("a".parse::<Loan>().is_err());
    }
}
