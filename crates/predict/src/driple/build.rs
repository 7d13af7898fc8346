//! Builds data sets without keeping all graphs in memory.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use gleaner_driple::dataset::file::{LeftOut, Manifest, Source};
use gleaner_driple::dataset::split::{self, Split};
use gleaner_driple::dataset::{Batches, Dataset, Example};
use gleaner_driple::features::Frequencies;
use gleaner_driple::graph::{Graph, METRICS};
use gleaner_driple::group::{self, WithoutFrequencies};
use rayon::prelude::*;

use gleaner_domain::Observer;
use gleaner_domain::error::{Error, Fault, Faults, Result, check_stop};
use gleaner_domain::observer::Parts;

/// A job, with the file that contains its graph.
#[derive(Debug, Clone, PartialEq)]
pub struct Job {
    /// Name of the job, unique within a data set.
    pub name: String,
    /// The path of the file that contains the job's graph.
    pub file: PathBuf,
    /// The measured metrics of the job.
    pub labels: [f32; METRICS],
}

/// Settings for building a data set.
#[derive(Debug, Clone, Default)]
pub struct Settings {
    /// Settings for grouping the operations of each graph.
    pub grouping: group::Settings,
    /// Settings for splitting jobs into training, validation and test sets.
    pub split: split::Settings,
    /// The frequencies of operation types; `None` to compute them from the training set.
    pub frequencies: Option<Frequencies>,
    /// Whether to leave out jobs with faulty graphs. Otherwise a faulty graph is an error.
    pub skip_faulty: bool,
}

/// A data set, its origin, and the faults in the graphs that were left out.
#[derive(Debug, Clone, Default)]
pub struct Built {
    /// The data set.
    pub data: Dataset,
    /// The origin of the data. The caller must add the path of the file with the measurements.
    pub manifest: Manifest,
    /// The faults in the graphs that were left out.
    pub skipped: Faults,
}

/// Builds a data set of `jobs`. Calls `read` at most once for each graph that is needed, from several threads at the
/// same time. A graph is dropped from memory once it is grouped. The unit of progress is one graph.
///
/// # Errors
/// Two jobs have the same name, a graph is faulty and is not left out, or there are too few jobs to train on.
/// [`Error::Stopped`] if the observer stops the build.
pub fn build(
    jobs: Vec<Job>,
    settings: &Settings,
    read: impl Fn(&Path) -> Result<Graph> + Sync,
    observer: &dyn Observer,
) -> Result<Built> {
    let mut pool = Pool {
        jobs: by_name(jobs)?,
        settings,
        ready: BTreeMap::new(),
        skipped: Faults::default(),
        left_out: Vec::new(),
    };
    // If jobs with faulty graphs were removed, the remaining jobs are split again.
    let split = loop {
        let split = pool.split()?;
        if pool.prepare(&split, &read, observer)? {
            break split;
        }
    };
    if split.train.is_empty() {
        return Err(too_few(&pool, settings));
    }
    Ok(pool.built(&split))
}

fn by_name(jobs: Vec<Job>) -> Result<BTreeMap<String, Job>> {
    let mut named = BTreeMap::new();
    let mut faults = Faults::default();
    for job in jobs {
        let file = job.file.display().to_string();
        if let Some(other) = named.insert(job.name.clone(), job) {
            let fault = Fault {
                file: format!("{} and {file}", other.file.display()),
                found: format!("two graphs of job {}", other.name),
                expected: "one".to_owned(),
                remedy: "remove or rename one of the graphs".to_owned(),
                ..Fault::default()
            };
            faults.push(fault);
        }
    }
    faults.into_result(named)
}

/// The jobs that have not been removed, with the graphs grouped so far.
struct Pool<'s> {
    jobs: BTreeMap<String, Job>,
    settings: &'s Settings,
    ready: BTreeMap<String, WithoutFrequencies>,
    skipped: Faults,
    left_out: Vec<LeftOut>,
}

/// Names of the jobs of each set, in batches.
type Names = Split<String>;

impl Pool<'_> {
    fn split(&self) -> Result<Names> {
        let names = self.jobs.keys().cloned().collect();
        let split = split::split(names, String::as_str, &self.settings.split);
        split.map_err(|error| Error::Usage(error.to_string()))
    }

    /// Reads and groups those graphs of a split that are not grouped yet. Removes jobs whose graphs
    /// are faulty. Returns true if no graph was faulty.
    fn prepare(
        &mut self,
        split: &Names,
        read: &(impl Fn(&Path) -> Result<Graph> + Sync),
        observer: &dyn Observer,
    ) -> Result<bool> {
        let used = [&split.train, &split.val, &split.test];
        let wanted = used.into_iter().flatten().flatten();
        let mut wanted: Vec<&String> = wanted
            .filter(|name| !self.ready.contains_key(*name))
            .collect();
        // Sort the names so that faults are listed by name instead of in the random order of the split.
        wanted.sort();
        let parts = Parts::new(observer, wanted.len());
        let one = |&name: &&String| {
            let job = self.jobs.get(name)?;
            let grouped = check_stop(observer)
                .and_then(|()| grouped(&job.file, &self.settings.grouping, read));
            parts.add(1);
            Some((name.clone(), grouped))
        };
        let read: Vec<_> = wanted.par_iter().filter_map(one).collect();
        let before = self.jobs.len();
        for (name, result) in read {
            match result {
                Ok(grouped) => drop(self.ready.insert(name, grouped)),
                Err(Error::Data(faults)) => self.take_out(name, faults),
                Err(error) => return Err(error),
            }
        }
        let faulty = self.jobs.len() < before;
        if faulty && !self.settings.skip_faulty {
            return Err(Error::Data(std::mem::take(&mut self.skipped)));
        }
        Ok(!faulty)
    }

    /// Removes a job because its graph is faulty.
    fn take_out(&mut self, job: String, faults: Faults) {
        self.jobs.remove(&job);
        let reasons: Vec<String> = faults.0.iter().map(ToString::to_string).collect();
        self.skipped.0.extend(faults.0);
        let reason = reasons.join("; ");
        self.left_out.push(LeftOut { job, reason });
    }

    fn built(mut self, split: &Names) -> Built {
        let unused = split.unused.iter().map(|job| LeftOut {
            job: job.clone(),
            reason: self.why_unused(job),
        });
        let unused: Vec<LeftOut> = unused.collect();
        self.left_out.extend(unused);
        let frequencies = self.settings.frequencies.clone();
        let frequencies = frequencies.unwrap_or_else(|| self.frequencies(split));
        let mut sources = Vec::new();
        let data = Dataset {
            train: self.batches(&split.train, &frequencies, &mut sources),
            val: self.batches(&split.val, &frequencies, &mut sources),
            test: self.batches(&split.test, &frequencies, &mut sources),
        };
        Built {
            data,
            manifest: Manifest {
                grouping: Some(self.settings.grouping.clone()),
                split: Some(self.settings.split.clone()),
                frequencies: Some(frequencies),
                measurements: None,
                sources,
                left_out: self.left_out,
            },
            skipped: self.skipped,
        }
    }

    fn why_unused(&self, job: &str) -> String {
        match self.settings.split.graphs {
            Some(most) if most < self.jobs.len() && !self.ready.contains_key(job) => {
                format!("not among the {most} requested jobs, or in an incomplete batch")
            }
            _ => "in an incomplete batch".to_owned(),
        }
    }

    /// The frequencies of operation types in the training set.
    fn frequencies(&self, split: &Names) -> Frequencies {
        let names = split.train.iter().flatten();
        let graphs = names.filter_map(|name| self.ready.get(name));
        Frequencies::of_counts(graphs.flat_map(WithoutFrequencies::counts))
    }

    fn batches(
        &mut self,
        names: &[Vec<String>],
        frequencies: &Frequencies,
        sources: &mut Vec<Source>,
    ) -> Batches {
        let mut example = |name: &String| {
            let job = self.jobs.get(name)?;
            let grouping = self.ready.remove(name)?.weigh(frequencies);
            sources.push(Source {
                job: name.clone(),
                file: job.file.display().to_string(),
                report: grouping.report,
            });
            Some(Example {
                name: name.clone(),
                graph: grouping.graph,
                labels: job.labels,
            })
        };
        let batch = |batch: &Vec<String>| batch.iter().filter_map(&mut example).collect();
        names.iter().map(batch).collect()
    }
}

fn grouped(
    file: &Path,
    settings: &group::Settings,
    read: &impl Fn(&Path) -> Result<Graph>,
) -> Result<WithoutFrequencies> {
    let graph = read(file)?;
    let grouped = group::unweighed(&graph, settings);
    Ok(grouped.map_err(|error| Fault::told(file, error))?)
}

fn too_few(pool: &Pool, settings: &Settings) -> Error {
    if !pool.skipped.0.is_empty() && pool.jobs.is_empty() {
        return Error::Data(pool.skipped.clone());
    }
    let remedy = if settings.split.drop_remainder {
        "provide more graphs, use smaller batches, or keep incomplete batches"
    } else {
        "provide more graphs"
    };
    let fault = Fault {
        file: "the graphs".to_owned(),
        found: format!("{} usable jobs, none for training", pool.jobs.len()),
        expected: "at least 2 jobs, and at least one full batch if remainders are dropped"
            .to_owned(),
        remedy: remedy.to_owned(),
        ..Fault::default()
    };
    fault.into()
}
