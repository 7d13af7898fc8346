//! Samples NVIDIA GPUs through NVML.
//!
//! The driver samples the utilisation every 1/6 to 1 s, and buffers some samples. Each sample has a timestamp. Each
//! poll requests the samples after the last sample seen, so that no sample is counted twice. The first sample of a
//! window is skipped, because the period that it covers began before the window.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::Path;
use std::time::{Duration, Instant};

use nvml_wrapper::Nvml;
use nvml_wrapper::enum_wrappers::device::Sampling;
use nvml_wrapper::enums::device::{SampleValue, UsedGpuMemory};
use nvml_wrapper::error::NvmlError;

use super::MIB;
use super::account::Account;
use crate::sampler::{Reading, Sampler, Watched};

/// Names of the driver's library. The second name is a link that only development packages contain.
const LIBRARIES: [&str; 2] = ["libnvidia-ml.so.1", "libnvidia-ml.so"];

/// Number of consecutive failures after which a GPU counts as lost, if the failures can be temporary. The driver
/// buffers samples, so the next poll returns the samples that a failed poll missed.
const MOST_FAILURES: u32 = 3;

/// Time between two readings of a GPU whose driver keeps no samples. Drivers update the utilisation at least this
/// often, so no sample is counted twice.
const UNTIMED: Duration = Duration::from_secs(1);

/// Maximum valid percentage. The driver marks missing values with larger numbers.
const MOST_PERCENT: f64 = 100.0;

/// Measures the utilisation and the memory of GPUs.
pub(crate) struct NvmlSampler {
    nvml: Nvml,
    gpus: Vec<Gpu>,
    accounts: Vec<Account>,
}

/// A GPU, and its samples in the window.
struct Gpu {
    index: u32,
    name: String,
    /// Whether the GPU is partitioned (MIG). NVML does not report the utilisation of such a GPU.
    is_mig: bool,
    /// Memory in use without workloads, in bytes.
    idle: f64,
    window: Window,
}

/// The samples of a GPU since the start of a window.
#[derive(Default)]
struct Window {
    util: Series,
    memory_util: Series,
    /// Mean utilisation of each process, by process id.
    processes: BTreeMap<u32, Mean>,
    /// Timestamp of the last per-process sample.
    last_of_processes: u64,
    has_processes: bool,
    /// Peak memory in use on the GPU, in bytes.
    used: f64,
    /// Peak memory held by the workloads' processes, in bytes; `None` if the driver does not report it.
    held: Option<f64>,
    failures: u32,
}

/// The samples of a percentage, such as the utilisation of a GPU.
#[derive(Default)]
struct Series {
    /// Timestamp of the last sample seen, on the driver's clock.
    last: u64,
    /// Whether the first sample of the window, which is skipped, has been seen.
    is_begun: bool,
    mean: Mean,
    /// Time of the last reading, if the driver keeps no samples.
    untimed: Option<Instant>,
}

/// A running mean.
#[derive(Default, Clone, Copy)]
struct Mean {
    sum: f64,
    count: u32,
}

impl Mean {
    fn add(&mut self, value: f64) {
        if (0.0..=MOST_PERCENT).contains(&value) {
            self.sum += value;
            self.count += 1;
        }
    }

    fn value(self) -> Option<f64> {
        (self.count > 0).then(|| self.sum / f64::from(self.count))
    }
}

impl Series {
    /// Adds samples, each with its timestamp and a percentage. Skips samples that were seen before.
    fn add(&mut self, samples: impl IntoIterator<Item = (u64, f64)>) {
        for (time, value) in samples {
            if time <= self.last {
                continue;
            }
            self.last = time;
            if self.is_begun {
                self.mean.add(value)
            } else {
                self.is_begun = true
            }
        }
    }

    /// Starts a new window, which ignores all samples up to the last sample seen.
    fn restart(&mut self) {
        *self = Series {
            last: self.last,
            ..Series::default()
        };
    }
}

impl NvmlSampler {
    /// Loads the library and finds the GPUs.
    ///
    /// # Errors
    /// The library, the driver or a GPU is missing, or a GPU does not answer.
    pub fn open(indices: &[u32], library: Option<&Path>) -> Result<Self, String> {
        let nvml = match library {
            Some(path) => {
                load(path.as_os_str()).map_err(|error| format!("{}: {error}", path.display()))?
            }
            None => load_any()?,
        };
        let gpus = indices.iter().map(|&index| find(&nvml, index));
        let gpus = gpus.collect::<Result<_, String>>()?;
        Ok(NvmlSampler {
            nvml,
            gpus,
            accounts: Vec::new(),
        })
    }
}

fn load(library: &OsStr) -> Result<Nvml, NvmlError> {
    Nvml::builder().lib_path(library).init()
}

/// Loads the first library of [`LIBRARIES`] that can be loaded.
fn load_any() -> Result<Nvml, String> {
    let mut errors = Vec::new();
    for name in LIBRARIES {
        match load(OsStr::new(name)) {
            Ok(nvml) => return Ok(nvml),
            Err(error) => errors.push(format!("{name}: {error}")),
        }
    }
    Err(format!(
        "{}; without a GPU, set sampler = \"cpu\"",
        errors.join("; ")
    ))
}

fn find(nvml: &Nvml, index: u32) -> Result<Gpu, String> {
    let told = |error: NvmlError| format!("GPU {index}: {error}");
    let device = nvml.device_by_index(index).map_err(told)?;
    let is_mig = match device.mig_mode() {
        Ok(mode) => mode.current == 1,
        // Most GPUs cannot be partitioned, and old drivers lack the function.
        Err(NvmlError::NotSupported | NvmlError::FailedToLoadSymbol(_)) => false,
        Err(error) => return Err(told(error)),
    };
    Ok(Gpu {
        index,
        name: device.name().map_err(told)?,
        is_mig,
        idle: 0.0,
        window: Window::default(),
    })
}

impl Gpu {
    /// Opens a window, and skips the samples taken before it.
    fn open(&mut self, nvml: &Nvml) -> Result<(), String> {
        self.read(nvml, &[]).map_err(|error| self.told(&error))?;
        let mut old = std::mem::take(&mut self.window);
        old.util.restart();
        old.memory_util.restart();
        self.window = Window {
            util: old.util,
            memory_util: old.memory_util,
            last_of_processes: old.last_of_processes,
            ..Window::default()
        };
        Ok(())
    }

    /// Takes new samples. Tolerates a few consecutive failures of the kinds that can be temporary.
    fn poll(&mut self, nvml: &Nvml, processes: &[u32]) -> Result<(), String> {
        match self.read(nvml, processes) {
            Ok(()) => self.window.failures = 0,
            Err(error) => {
                self.window.failures += 1;
                let may_pass = matches!(error, NvmlError::Unknown | NvmlError::Timeout);
                if !may_pass || self.window.failures >= MOST_FAILURES {
                    return Err(self.told(&error));
                }
            }
        }
        Ok(())
    }

    fn read(&mut self, nvml: &Nvml, processes: &[u32]) -> Result<(), NvmlError> {
        let device = nvml.device_by_index(self.index)?;
        let window = &mut self.window;
        let used = device.memory_info()?.used as f64;
        window.used = window.used.max(used);
        if let Ok(all) = device.running_compute_processes() {
            let own = all
                .iter()
                .filter(|process| processes.contains(&process.pid));
            let held = own.map(|process| match process.used_gpu_memory {
                UsedGpuMemory::Used(bytes) => Some(bytes as f64),
                UsedGpuMemory::Unavailable => None,
            });
            // Keep no figure if the driver lists none of the workloads' processes. The driver may use the process ids
            // of another namespace, such as the host's ids for workloads in a container.
            let held: Option<Vec<f64>> = held.collect();
            if let Some(held) = held.filter(|held| !held.is_empty()) {
                let sum: f64 = held.iter().sum();
                window.held = Some(window.held.unwrap_or_default().max(sum));
            }
        }
        if self.is_mig {
            return Ok(());
        }
        read_series(&device, Sampling::GpuUtilization, &mut window.util)?;
        read_series(
            &device,
            Sampling::MemoryUtilization,
            &mut window.memory_util,
        )?;
        let samples = match device.process_utilization_stats(window.last_of_processes) {
            Ok(samples) => samples,
            // There are no new samples, or the driver does not take per-process samples.
            Err(NvmlError::NotFound | NvmlError::NotSupported) => return Ok(()),
            Err(error) => return Err(error),
        };
        let last = window.last_of_processes;
        for sample in samples.iter().filter(|sample| sample.timestamp > last) {
            window.last_of_processes = window.last_of_processes.max(sample.timestamp);
            if processes.contains(&sample.pid) {
                window.has_processes = true;
                let of_process = window.processes.entry(sample.pid).or_default();
                of_process.add(f64::from(sample.sm_util));
            }
        }
        Ok(())
    }

    /// Utilisation by the processes of a workload, in percent; `None` if the driver reported no sample of any
    /// workload's processes.
    fn part(&self, processes: &[u32]) -> Option<f64> {
        let means = self.window.processes.iter();
        let own = means.filter(|(pid, _)| processes.contains(pid));
        let sum: f64 = own.filter_map(|(_, mean)| mean.value()).sum();
        self.window.has_processes.then_some(sum)
    }

    /// Memory held by the workloads, in bytes: the driver's figure for their processes. If the driver has no figure,
    /// this is the memory in use minus the memory in use on the idle GPU.
    fn held(&self) -> f64 {
        let beyond = (self.window.used - self.idle).max(0.0);
        self.window.held.unwrap_or(beyond)
    }

    fn notes(&self) -> Option<String> {
        let Gpu { index, name, .. } = self;
        if self.is_mig {
            return Some(format!(
                "GPU {index} ({name}) is partitioned (MIG): NVML does not report its utilisation, so the \
                 columns gpu_util and gmem_util are empty"
            ));
        }
        let is_silent = self.window.util.mean.value().is_none();
        is_silent.then(|| format!("GPU {index} ({name}) returned no utilisation samples"))
    }

    fn told(&self, error: &NvmlError) -> String {
        format!("GPU {} ({}): {error}", self.index, self.name)
    }
}

/// Adds new samples to a series.
fn read_series(
    device: &nvml_wrapper::Device<'_>,
    kind: Sampling,
    series: &mut Series,
) -> Result<(), NvmlError> {
    match device.samples(kind, series.last) {
        Ok(samples) => {
            let timed = samples.iter().map(|sample| {
                let value = match sample.value {
                    SampleValue::F64(value) => value,
                    SampleValue::U32(value) => f64::from(value),
                    SampleValue::U64(value) => value as f64,
                    SampleValue::I64(value) => value as f64,
                };
                (sample.timestamp, value)
            });
            series.add(timed);
            Ok(())
        }
        // There are no new samples.
        Err(NvmlError::NotFound) => Ok(()),
        Err(NvmlError::NotSupported) => read_untimed(device, kind, series),
        Err(error) => Err(error),
    }
}

/// Adds a reading of a GPU whose driver keeps no samples, at most once per [`UNTIMED`].
fn read_untimed(
    device: &nvml_wrapper::Device<'_>,
    kind: Sampling,
    series: &mut Series,
) -> Result<(), NvmlError> {
    let last = series.untimed.get_or_insert_with(Instant::now);
    if last.elapsed() < UNTIMED {
        return Ok(());
    }
    *last = Instant::now();
    match device.utilization_rates() {
        Ok(rates) => {
            series.mean.add(f64::from(match kind {
                Sampling::MemoryUtilization => rates.memory,
                _ => rates.gpu,
            }));
            Ok(())
        }
        Err(NvmlError::NotSupported) => Ok(()),
        Err(error) => Err(error),
    }
}

/// The mean of a figure over the GPUs; `None` if any GPU lacks the figure.
fn over(gpus: &[Gpu], figure: impl Fn(&Gpu) -> Option<f64>) -> Option<f64> {
    let values: Option<Vec<f64>> = gpus.iter().map(figure).collect();
    let values = values.filter(|values| !values.is_empty())?;
    Some(values.iter().sum::<f64>() / values.len() as f64)
}

impl Sampler for NvmlSampler {
    fn describe(&self) -> String {
        let version = self.nvml.sys_driver_version();
        let version = version.unwrap_or_else(|_| "of an unknown version".to_owned());
        let names = self
            .gpus
            .iter()
            .map(|gpu| format!("GPU {} ({})", gpu.index, gpu.name));
        let names: Vec<String> = names.collect();
        format!("{}, through NVML, driver {version}", names.join(", "))
    }

    fn open(&mut self, workloads: &[Watched<'_>]) -> Result<(), String> {
        self.accounts = workloads.iter().copied().map(Account::open).collect();
        let NvmlSampler { nvml, gpus, .. } = self;
        gpus.iter_mut().try_for_each(|gpu| gpu.open(nvml))
    }

    fn poll(&mut self, workloads: &[Watched<'_>]) -> Result<(), String> {
        self.accounts.iter_mut().for_each(Account::poll);
        let processes = self.processes(workloads).concat();
        let NvmlSampler { nvml, gpus, .. } = self;
        gpus.iter_mut()
            .try_for_each(|gpu| gpu.poll(nvml, &processes))
    }

    fn close(&mut self, workloads: &[Watched<'_>]) -> Result<Reading, String> {
        self.poll(workloads)?;
        let parts = self.processes(workloads);
        let part = |processes: &Vec<u32>| over(&self.gpus, |gpu| gpu.part(processes));
        let held = self.gpus.iter().map(Gpu::held).fold(0.0, f64::max);
        Ok(Reading {
            util: over(&self.gpus, |gpu| gpu.window.util.mean.value()),
            memory_util: over(&self.gpus, |gpu| gpu.window.memory_util.mean.value()),
            memory: held / MIB,
            parts: parts.iter().map(part).collect(),
            notes: self.gpus.iter().filter_map(Gpu::notes).collect(),
        })
    }

    fn set_idle(&mut self, _: &Reading) {
        for gpu in &mut self.gpus {
            gpu.idle = gpu.window.used;
        }
    }
}

impl NvmlSampler {
    /// The process ids of each workload.
    fn processes(&self, workloads: &[Watched<'_>]) -> Vec<Vec<u32>> {
        let accounts = self.accounts.iter().zip(workloads);
        accounts
            .map(|(account, workload)| account.processes(*workload))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_sample_is_counted_twice_and_the_first_is_left_out() {
        let mut series = Series::default();
        series.add([(1, 90.0), (2, 10.0)]);
        series.add([(1, 90.0), (2, 10.0), (3, 30.0)]);
        assert_eq!(series.mean.value(), Some(20.0));
        series.restart();
        series.add([(3, 30.0)]);
        assert_eq!(series.mean.value(), None);
        series.add([(4, 0.0), (5, 70.0), (6, 4e9)]);
        assert_eq!(series.mean.value(), Some(70.0));
    }
}
