//! Results of training an inspector.

record! {
    /// An epoch in the history of a training run.
    #[derive(Debug, Clone, PartialEq)]
    pub struct EpochRow {
        /// epoch number, from 0
        epoch: i64 = "epoch" [""],
        /// mean squared error over the metrics; each batch is evaluated before the optimiser's step on it
        train: f64 = "train" [""],
        /// mean squared error on the validation part after the epoch; empty if there is no
        /// validation part
        val: Option<f64> = "val" [""],
    }
}
