//! Results of training an inspector.

record! {
    /// A row of the history of a training run: an epoch.
    #[derive(Debug, Clone, PartialEq)]
    pub struct EpochRow {
        /// epoch number, from 0
        epoch: i64 = "epoch" [""],
        /// mean squared error over the metrics, computed for each batch before its step
        train: f64 = "train" [""],
        /// mean squared error on the validation part after the epoch; empty if there is no
        /// validation part
        val: Option<f64> = "val" [""],
    }
}
