//! Measures cores and resident memory. The sampler uses control groups if they can be created,
//! and /proc otherwise.

use std::time::Instant;

use super::MIB;
use super::account::Account;
use super::machine::{Ticks, memory, memory_used};
use super::tree::resident;
use crate::sampler::{Reading, Sampler, Watched};

/// Measures how much of the given cores the workloads use.
pub(crate) struct CpuSampler {
    cores: Vec<usize>,
    /// Memory of the machine, in bytes.
    memory: f64,
    by_groups: bool,
    window: Option<Window>,
}

/// An open window.
struct Window {
    begun: Instant,
    machine: Option<Ticks>,
    accounts: Vec<Account>,
    /// Peak memory, in bytes.
    most: f64,
}

impl CpuSampler {
    /// Creates a sampler for the given cores. If `by_groups` is true, workloads have control groups. Otherwise, they
    /// are measured through /proc.
    pub fn new(cores: &[usize], by_groups: bool) -> Self {
        CpuSampler {
            cores: cores.to_vec(),
            memory: memory().unwrap_or(f64::INFINITY),
            by_groups,
            window: None,
        }
    }
}

impl Window {
    fn poll(&mut self, workloads: &[Watched<'_>]) {
        let mut held = 0.0;
        for (account, workload) in self.accounts.iter_mut().zip(workloads) {
            account.poll();
            held += resident(&account.processes(*workload));
        }
        self.most = self.most.max(held);
    }
}

impl Sampler for CpuSampler {
    fn describe(&self) -> String {
        let by = if self.by_groups {
            "control groups"
        } else {
            "/proc"
        };
        format!("cores {}, through {by}", crate::cores::text(&self.cores))
    }

    fn open(&mut self, workloads: &[Watched<'_>]) -> Result<(), String> {
        let machine = Ticks::of(&self.cores);
        let accounts = workloads.iter().copied().map(Account::open).collect();
        self.window = Some(Window {
            begun: Instant::now(),
            machine,
            accounts,
            most: 0.0,
        });
        Ok(())
    }

    fn poll(&mut self, workloads: &[Watched<'_>]) -> Result<(), String> {
        self.window
            .iter_mut()
            .for_each(|window| window.poll(workloads));
        Ok(())
    }

    fn close(&mut self, workloads: &[Watched<'_>]) -> Result<Reading, String> {
        let mut window = self.window.take().ok_or("no window is open")?;
        window.poll(workloads);
        let seconds = window.begun.elapsed().as_secs_f64() * self.cores.len() as f64;
        let part = |(account, workload): (&Account, &Watched<'_>)| {
            let used = account.used(*workload);
            100.0 * used.as_secs_f64() / seconds
        };
        let parts: Vec<f64> = window.accounts.iter().zip(workloads).map(part).collect();
        let (util, held) = match workloads {
            // The idle baseline covers everything that runs on these cores.
            [] => (self.busy(&window), memory_used().unwrap_or_default()),
            _ => (Some(parts.iter().sum()), window.most),
        };
        Ok(Reading {
            util,
            memory_util: Some(100.0 * held / self.memory),
            memory: held / MIB,
            parts: parts.into_iter().map(Some).collect(),
            notes: Vec::new(),
        })
    }
}

impl CpuSampler {
    /// Utilisation of the cores by all processes since the start of the window, in percent.
    fn busy(&self, window: &Window) -> Option<f64> {
        let (before, now) = (window.machine?, Ticks::of(&self.cores)?);
        let all = now.all - before.all;
        (all > 0.0).then(|| 100.0 * (now.busy - before.busy) / all)
    }
}
