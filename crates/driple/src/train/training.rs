//! A training run, epoch by epoch.

use gleaner_observer::Observer;

use super::batch::Batch;
use super::plan::Plan;
use super::scale::Scale;
use super::state::{Epoch, State};
use crate::dataset::{Batches, Dataset};
use crate::graph::METRICS;
use crate::model::{Inputs, Network};
use crate::nn::{Gradients, Parameters, Real, SpareBuffers};

/// A part of a data set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// The part that the network is trained on.
    Train,
    /// The part whose error decides which epoch's weights are kept.
    Val,
    /// The held-out part, on which the error of the trained network is measured.
    Test,
}

/// A training run: a network, its batches and its state.
pub struct Training<'n, T> {
    network: &'n Network,
    plan: Plan,
    train: Vec<Batch<T>>,
    val: Vec<Batch<T>>,
    test: Vec<Batch<T>>,
    state: State<T>,
    spare: SpareBuffers<T>,
}

impl<'n, T: Real> Training<'n, T> {
    /// Lays out `data` for training that starts or continues from `state`.
    #[must_use]
    pub fn new(
        network: &'n Network,
        inputs: &Inputs,
        scale: &Scale,
        plan: Plan,
        data: &Dataset,
        mut state: State<T>,
    ) -> Self {
        state.parameters.train_only(|name| plan.learns.learns(name));
        let lay_out = |batches: &Batches| -> Vec<Batch<T>> {
            let kept = batches.iter().filter(|batch| !batch.is_empty());
            kept.map(|batch| Batch::new(network, inputs, scale, batch))
                .collect()
        };
        let (train, val, test) = (
            lay_out(&data.train),
            lay_out(&data.val),
            lay_out(&data.test),
        );
        let mut this = Self {
            network,
            plan,
            train,
            val,
            test,
            state,
            spare: SpareBuffers::default(),
        };
        if network.only_readout_learns(&this.state.parameters) {
            let all = this
                .train
                .iter_mut()
                .chain(&mut this.val)
                .chain(&mut this.test);
            all.for_each(|batch| batch.embed(network, &this.state.parameters));
        }
        this
    }

    /// The state after the last epoch.
    #[must_use]
    pub fn state(&self) -> &State<T> {
        &self.state
    }

    /// Ends the training and returns its state.
    #[must_use]
    pub fn into_state(self) -> State<T> {
        self.state
    }

    /// Whether training is over: all epochs are completed, or the last [`Plan::patience`] epochs
    /// were no better than the best epoch before them.
    #[must_use]
    pub fn is_over(&self) -> bool {
        let epochs = self.state.history.len();
        let last = self.state.best.as_ref().map_or(0, |best| best.epoch + 1);
        let waited = self
            .plan
            .patience
            .is_some_and(|most| epochs - last >= most.max(1));
        epochs >= self.plan.epochs || (epochs > 0 && waited)
    }

    /// Trains until the run is over or stopped. At least one epoch is trained unless the run is already over. A request
    /// to stop takes effect after the current epoch. Calls `after` after each epoch.
    ///
    /// The observer receives the progress, in epochs, with the errors as detail.
    ///
    /// # Errors
    /// The error that `after` returns.
    pub fn run<E>(
        &mut self,
        observer: &dyn Observer,
        mut after: impl FnMut(&Self, &Epoch) -> Result<(), E>,
    ) -> Result<(), E> {
        while !self.is_over() {
            let epoch = self.epoch();
            observer.progress(epoch.epoch + 1, self.plan.epochs);
            observer.detail(&epoch.to_string());
            after(self, &epoch)?;
            if observer.is_stopped() {
                break;
            }
        }
        Ok(())
    }

    /// Trains for one epoch, which is one pass over the training batches.
    fn epoch(&mut self) -> Epoch {
        let mut squares = 0.0;
        for batch in &self.train {
            let mut gradients = Gradients::zero(&self.state.parameters);
            squares += batch.learn(
                self.network,
                &self.state.parameters,
                &mut gradients,
                &self.spare,
            );
            let State {
                parameters, adam, ..
            } = &mut self.state;
            let optimiser = self.plan.optimiser(adam.steps, self.train.len());
            optimiser.step(parameters, &gradients, adam);
        }
        let graphs: usize = self.train.iter().map(Batch::graphs).sum();
        let train = squares / (graphs.max(1) * METRICS) as f64;
        let val = self.errors(Stage::Val, &self.state.parameters);
        let mean = |errors: [f64; METRICS]| errors.iter().sum::<f64>() / METRICS as f64;
        self.state.close(train, val.map(mean));
        self.state.history[self.state.history.len() - 1]
    }

    /// The mean squared error of each metric on a part of the data; `None` if that part has no
    /// graphs.
    #[must_use]
    pub fn errors(&self, stage: Stage, parameters: &Parameters<T>) -> Option<[f64; METRICS]> {
        let batches = match stage {
            Stage::Train => &self.train,
            Stage::Val => &self.val,
            Stage::Test => &self.test,
        };
        let graphs: usize = batches.iter().map(Batch::graphs).sum();
        let squares: Vec<[f64; METRICS]> = batches
            .iter()
            .map(|batch| batch.squares(self.network, parameters, &self.spare))
            .collect();
        let mean = |metric: usize| squares.iter().map(|s| s[metric]).sum::<f64>() / graphs as f64;
        (graphs > 0).then(|| std::array::from_fn(mean))
    }
}
