//! The results of `gleaner profile`: workloads that were measured alone and in pairs.
//!
//! The first columns have the same names as the columns of Lucid's tables `single_data.csv` and `colocate_info.csv`.

record! {
    /// A row of `single_data`: a workload that was measured alone.
    #[derive(Debug, Clone, PartialEq)]
    pub struct SingleRow {
        /// model that is trained
        model: String = "model" [""],
        /// dataset on which the model is trained
        dataset: String = "dataset" [""],
        /// number of GPUs that the workload runs on; 1 if cores were measured
        gpu_num: u32 = "gpu_num" [""],
        /// number of samples in a batch
        batch_size: u32 = "batchsize" [""],
        /// whether mixed precision is used: 0 or 1
        amp: u32 = "amp" [""],
        /// samples per second
        speed: f64 = "speed" ["1/s"],
        /// GPUs: share of the time during which a kernel ran; cores: CPU time as a share of the total time of the
        /// cores; empty if the device does not report it
        gpu_util: Option<f64> = "gpu_util" ["%"],
        /// GPUs: share of the time during which memory was read or written; cores: resident memory
        /// as a share of the machine's memory
        gmem_util: Option<f64> = "gmem_util" ["%"],
        /// maximum memory held in the measurement window
        gmem: f64 = "gmem" ["MiB"],
        /// sharing score: how well the workload shares a GPU in its pairs (0: well, 1: less well,
        /// 2: badly); empty without pairs
        label: Option<f64> = "label" [""],
        /// length of the measurement window
        time: f64 = "time" ["s"],
        /// lower quartile of the speed
        speed_q1: f64 = "speed_q1" ["1/s"],
        /// upper quartile of the speed
        speed_q3: f64 = "speed_q3" ["1/s"],
        /// lower quartile of `gpu_util`
        gpu_util_q1: Option<f64> = "gpu_util_q1" ["%"],
        /// upper quartile of `gpu_util`
        gpu_util_q3: Option<f64> = "gpu_util_q3" ["%"],
        /// lower quartile of `gmem`
        gmem_q1: f64 = "gmem_q1" ["MiB"],
        /// upper quartile of `gmem`
        gmem_q3: f64 = "gmem_q3" ["MiB"],
        /// time from the start until the workload had warmed up
        warm: f64 = "warm" ["s"],
        /// number of measurements that the row summarises
        repeats: usize = "repeats" [""],
    }
}

record! {
    /// A row of `colocate_info`: two workloads on the same devices or cores.
    #[derive(Debug, Clone, PartialEq)]
    pub struct PairRow {
        /// model that the first workload trains
        model1: String = "model1" [""],
        /// dataset on which the first model is trained
        dataset1: String = "dataset1" [""],
        /// number of GPUs that the first workload runs on; 1 if cores were measured
        gpu_num1: u32 = "gpu_num1" [""],
        /// number of samples in a batch of the first workload
        batch_size1: u32 = "batchsize1" [""],
        /// whether the first workload uses mixed precision: 0 or 1
        amp1: u32 = "amp1" [""],
        /// speed of the first workload, as a share of its speed alone
        speed1: f64 = "speed1" [""],
        /// model that the second workload trains
        model2: String = "model2" [""],
        /// dataset on which the second model is trained
        dataset2: String = "dataset2" [""],
        /// number of GPUs that the second workload runs on; 1 if cores were measured
        gpu_num2: u32 = "gpu_num2" [""],
        /// number of samples in a batch of the second workload
        batch_size2: u32 = "batchsize2" [""],
        /// whether the second workload uses mixed precision: 0 or 1
        amp2: u32 = "amp2" [""],
        /// speed of the second workload, as a share of its speed alone
        speed2: f64 = "speed2" [""],
        /// like `gpu_util` in `single_data`, for both workloads together
        gpu_util: Option<f64> = "gpu_util" ["%"],
        /// like `gmem_util` in `single_data`, for both workloads together
        gmem_util: Option<f64> = "gmem_util" ["%"],
        /// maximum memory held by both workloads together
        gmem: f64 = "gmem" ["MiB"],
        /// samples per second of the first workload
        raw_speed1: f64 = "raw_speed1" ["1/s"],
        /// samples per second of the second workload
        raw_speed2: f64 = "raw_speed2" ["1/s"],
        /// lower quartile of `speed1`
        speed1_q1: f64 = "speed1_q1" [""],
        /// upper quartile of `speed1`
        speed1_q3: f64 = "speed1_q3" [""],
        /// lower quartile of `speed2`
        speed2_q1: f64 = "speed2_q1" [""],
        /// upper quartile of `speed2`
        speed2_q3: f64 = "speed2_q3" [""],
        /// part of `gpu_util` caused by the first workload, if known
        gpu_util1: Option<f64> = "gpu_util1" ["%"],
        /// part of `gpu_util` caused by the second workload, if known
        gpu_util2: Option<f64> = "gpu_util2" ["%"],
        /// length of the measurement window
        time: f64 = "time" ["s"],
        /// number of measurements that the row summarises
        repeats: usize = "repeats" [""],
    }
}

record! {
    /// A row of `errors.csv`: a measurement that failed.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct FailureRow {
        /// the workload, or the first workload of the pair, as NAME:BATCH:AMP
        first: String = "first" [""],
        /// the second workload of the pair; empty for a workload alone
        second: String = "second" [""],
        /// repeat number, from 1; 0 if the problem concerns all repeats
        repeat: u32 = "repeat" [""],
        /// description of the problem
        problem: String = "problem" [""],
        /// the last lines of the workload's output, separated by vertical bars
        output: String = "output" [""],
    }
}

/// The median and the quartiles of a few values.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Quartiles {
    /// Lower quartile.
    pub q1: f64,
    /// Median.
    pub median: f64,
    /// Upper quartile.
    pub q3: f64,
}

impl Quartiles {
    /// The quartiles of `values`; `None` if there are no values. If a quartile falls between two sorted values, it is
    /// interpolated linearly between them.
    pub fn of(values: impl IntoIterator<Item = f64>) -> Option<Self> {
        let mut sorted: Vec<f64> = values.into_iter().collect();
        sorted.sort_by(f64::total_cmp);
        let last = sorted.len().checked_sub(1)?;
        let at = |share: f64| {
            let rank = share * last as f64;
            let (low, high) = (sorted[rank.floor() as usize], sorted[rank.ceil() as usize]);
            low + (high - low) * rank.fract()
        };
        Some(Quartiles {
            q1: at(0.25),
            median: at(0.5),
            q3: at(0.75),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quartiles_are_linear_between_ranks() {
        let of = |values: &[f64]| {
            let found = Quartiles::of(values.iter().copied())?;
            Some((found.q1, found.median, found.q3))
        };
        assert_eq!(of(&[]), None);
        assert_eq!(of(&[3.0]), Some((3.0, 3.0, 3.0)));
        assert_eq!(of(&[4.0, 0.0, 2.0]), Some((1.0, 2.0, 3.0)));
        assert_eq!(of(&[1.0, 2.0]), Some((1.25, 1.5, 1.75)));
    }
}
