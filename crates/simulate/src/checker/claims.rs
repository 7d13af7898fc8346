//! Tracks which runs hold which GPUs of a node.

use gleaner_domain::cluster::GpuSet;

/// The runs that currently hold GPUs of one node.
#[derive(Default)]
pub(super) struct Claims {
    /// Index of each run and the GPUs that it holds, in order of arrival.
    runs: Vec<(usize, GpuSet)>,
}

impl Claims {
    /// Number of runs.
    pub fn len(&self) -> usize {
        self.runs.len()
    }

    /// GPUs held by at least one run.
    pub fn busy(&self) -> GpuSet {
        self.runs.iter().fold(0, |busy, &(_, gpus)| busy | gpus)
    }

    /// GPUs held by at least two runs.
    fn doubled(&self) -> GpuSet {
        let mut busy = 0;
        let add = |doubled, &(_, gpus): &(usize, GpuSet)| {
            let both = busy & gpus;
            busy |= gpus;
            doubled | both
        };
        self.runs.iter().fold(0, add)
    }

    /// The lowest GPU of `gpus` that already has the maximum number of runs; `None` if another run is allowed to hold
    /// all of `gpus`.
    pub fn refused(&self, gpus: GpuSet, sharing: bool) -> Option<u32> {
        let full = if sharing { self.doubled() } else { self.busy() };
        (gpus & full != 0).then(|| (gpus & full).trailing_zeros())
    }

    /// The runs that hold some of these GPUs, and which of these GPUs each run holds.
    pub fn holders(&self, gpus: GpuSet) -> impl Iterator<Item = (usize, GpuSet)> {
        let common = move |&(run, held): &(usize, GpuSet)| (run, held & gpus);
        self.runs.iter().map(common).filter(|&(_, gpus)| gpus != 0)
    }

    pub fn take(&mut self, run: usize, gpus: GpuSet) {
        self.runs.push((run, gpus));
    }

    pub fn release(&mut self, run: usize) {
        self.runs.retain(|&(other, _)| other != run);
    }
}
