//! The columns that describe a workload and its GPU usage.

use super::bounds::AMOUNT;
use crate::rows::{Flag, Maybe, Or, Text, Whole, input};
use gleaner_domain::{Usage, Workload};

input! {
    impl Workload {
        /// the name of the model that is trained
        model: String as Text = "model" [""],
        /// the name of the dataset on which the model is trained
        dataset: String as Text = "dataset" [""],
        /// the number of samples in a batch
        batch_size: u32 as Whole(1..=u32::MAX.into()) = "batchsize" [""],
        /// whether mixed precision is used
        amp: bool as Flag = "amp" [""],
    }
}

input! {
    impl Usage {
        /// the number of samples per second; not used by any policy; default: 0
        speed: f64 as Or(AMOUNT, 0.0) = "speed" ["1/s"],
        /// the percentage of compute used
        gpu_util: f64 as AMOUNT = "gpu_util" ["%"],
        /// the percentage of memory bandwidth used
        gmem_util: f64 as AMOUNT = "gmem_util" ["%"],
        /// the GPU memory used
        gmem: f64 as AMOUNT = "gmem" ["MB"],
    }
}

input! {
    /// The usage as stated in a trace.
    pub(super) struct GivenUsage {
        /// the number of samples per second; default: as in the profile
        speed: Option<f64> as Maybe(AMOUNT) = "speed" ["1/s"],
        /// the percentage of compute used; default: as in the profile
        gpu_util: Option<f64> as Maybe(AMOUNT) = "gpu_util" ["%"],
        /// the percentage of memory bandwidth used; default: as in the profile
        gmem_util: Option<f64> as Maybe(AMOUNT) = "gmem_util" ["%"],
        /// the GPU memory used; default: as in the profile
        gmem: Option<f64> as Maybe(AMOUNT) = "gmem" ["MB"],
    }
}

impl GivenUsage {
    /// The usage, with missing values taken from `known`.
    pub fn or(self, known: Usage) -> Usage {
        Usage {
            speed: self.speed.unwrap_or(known.speed),
            gpu_util: self.gpu_util.unwrap_or(known.gpu_util),
            gmem_util: self.gmem_util.unwrap_or(known.gmem_util),
            gmem: self.gmem.unwrap_or(known.gmem),
        }
    }
}
