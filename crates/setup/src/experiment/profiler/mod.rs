//! Settings of Lucid's profiler.

mod lend;
mod remarks;

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::Use;
use super::inputs::Inputs;
use gleaner_domain::Cluster;
use gleaner_domain::error::{Error, Fault, Faults, Result};
use gleaner_domain::words::{counted, printable};
use gleaner_simulate::Request;
use gleaner_simulate::profiler::Profiler;

use crate::settings;
use crate::settings::Spec;
use crate::settings::value::by_text;
use gleaner_domain::Observer;
pub use lend::Lend;

settings! {
    /// The settings of Lucid's profiler.
    #[derive(Debug, Clone, Serialize, Deserialize)]
    pub struct ProfilerArgs under "Lucid's profiler" {
        /// `auto`: as published for the clusters Venus and Philly, off for other clusters. `off`: no profiler.
        /// TIME,NODES,FACTOR: TIME seconds of profiling, on NODES nodes, for each job that requests at most NODES times
        /// FACTOR GPUs.
        pub profiler: Setting = Setting::Auto => Spec::of("SETTING").used_for(Use::Profiler);
        /// Virtual clusters that lend nodes to the profiler for the whole simulation: `auto` (each node comes from the
        /// virtual cluster with the most remaining nodes), or VC=NODES, separated by commas. Without loans, the
        /// profiler's nodes are extra nodes, which other policies do not have [default: as published with `--profiler
        /// auto`, otherwise no loans].
        pub lend: Vec<Lend> = Vec::new() => Spec::of("auto|VC=NODES")
            .separated_by(',')
            .used_for(Use::ProfilerOn);
        /// Virtual cluster that lends an additional node while many jobs are waiting. Needs --forecast.
        pub elastic: Option<String> = None => Spec::of("VC").used_for(Use::ProfilerOn);
    }
}

/// The profiler's setting.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Setting {
    /// As published for the cluster; off for other clusters.
    #[default]
    Auto,
    /// No profiler.
    Off,
    /// Manual settings.
    Manual {
        /// Seconds of profiling for each job.
        time: i64,
        /// Number of nodes of the profiler.
        nodes: u32,
        /// A job is profiled if it requests at most `nodes` times `factor` GPUs.
        factor: f64,
    },
}

by_text!(Setting: Any, Lend: Any);

impl fmt::Display for Setting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Setting::Auto => f.write_str("auto"),
            Setting::Off => f.write_str("off"),
            Setting::Manual {
                time,
                nodes,
                factor,
            } => write!(f, "{time},{nodes},{factor}"),
        }
    }
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

impl ProfilerArgs {
    /// The profiler's settings; `None` if no policy has a profiler, or if the profiler is off. Jobs that do not fit
    /// their virtual cluster after it has lent nodes are reported as faults, or skipped with `--skip-invalid`.
    ///
    /// # Errors
    /// Returns [`Error::Usage`] if settings do not fit the cluster, or if `--elastic` is given without a forecast. All
    /// other errors report faulty jobs.
    pub(super) fn settings(
        &self,
        inputs: &mut Inputs,
        requests: &[Request],
        observer: &dyn Observer,
    ) -> Result<Option<Profiler>> {
        if !requests.iter().any(|request| request.policy.profiled) {
            return Ok(None);
        }
        let cluster = &inputs.cluster;
        let Some(mut profiler) = self.base(cluster, observer) else {
            return Ok(None);
        };
        if self.elastic.is_some() && inputs.forecast.is_none() {
            return Err(Error::Usage(
                "--elastic needs a forecast, on which the return of the node depends: add --forecast"
                    .into(),
            ));
        }
        if !self.lend.is_empty() {
            profiler.lent = lend::loans(&self.lend, profiler.nodes, cluster, &inputs.trace)?;
        }
        if let Some(name) = &self.elastic {
            profiler.elastic = Some(lend::vc_named(cluster, "--elastic", name)?);
        }
        check_size(&profiler, cluster)?;
        lend::check(&profiler, cluster)?;
        observer.remark(&remarks::unequal(&profiler, cluster, requests));
        refuse_large_jobs(&profiler, inputs)?;
        Ok(Some(profiler))
    }

    /// The profiler's settings without `--lend` and `--elastic`; `None` if the profiler is off.
    fn base(&self, cluster: &Cluster, observer: &dyn Observer) -> Option<Profiler> {
        let published = published(cluster);
        match self.profiler {
            Setting::Off => None,
            Setting::Auto => {
                if published.is_none() {
                    observer.remark(&[remarks::NOT_PUBLISHED.to_owned()]);
                }
                published
            }
            Setting::Manual {
                time,
                nodes,
                factor,
            } => {
                let (lent, elastic) = (!self.lend.is_empty(), self.elastic.is_some());
                observer.remark(&remarks::without_loans(published, cluster, lent, elastic));
                Some(manual(time, nodes, factor))
            }
        }
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

/// The published settings of the cluster, which is identified by the names of its virtual clusters.
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

/// Checks that the largest job to profile fits the profiler.
fn check_size(profiler: &Profiler, cluster: &Cluster) -> Result<()> {
    let per_node = u64::from(cluster.gpus_per_node);
    let (most, gpus) = (
        u64::from(profiler.most_gpus()),
        u64::from(profiler.nodes) * per_node,
    );
    if most <= gpus {
        return Ok(());
    }
    Err(Error::Usage(format!(
        "--profiler: jobs of up to {} do not fit on {} ({per_node} per node); lower the factor",
        counted(most, "GPU"),
        counted(gpus, "GPU")
    )))
}

/// Reports jobs that do not fit their virtual cluster after it has lent nodes.
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
            let id = printable(&job.id);
            let found = format!("job {id} with {}", counted(job.gpus, "GPU"));
            let vc = printable(&cluster.vcs[job.vc].name);
            let expected = format!(
                "at most {}, the GPUs that {vc} has left after lending",
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
        assert_eq!(manual.to_string(), "80,2,0.5");
        for text in [
            "", "80", "80,2", "80,0,1", "0,2,1", "80,2,-1", "80,2,nan", "80,2,1,1",
        ] {
            assert!(text.parse::<Setting>().is_err(), "{text}");
        }
    }
}
