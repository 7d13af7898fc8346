//! Simulations, which compare scheduling policies on a trace of a GPU cluster.

mod idle;
mod info;
mod results;

use std::path::PathBuf;
use std::time::Instant;

use gleaner_domain::error::{Error, Result};
use gleaner_domain::results::policy_run::PolicyRun;
use gleaner_domain::results::run::Seconds;
use gleaner_domain::words::printable;
use gleaner_domain::{Observer, Unobserved};
use gleaner_io::SourceId;
use gleaner_setup::experiment::{Inputs, Learnt};
use gleaner_setup::{Experiment, report_left_out};
use gleaner_simulate::policies::PolicyEntry;
use gleaner_simulate::{Request, SimulateError, simulate, simulate_in_turn};

use crate::threads;

pub use gleaner_setup::SimulationSettings;
pub use idle::IdleLog;
pub use results::{Simulated, Writing};

/// Builds the engine's simulation from the settings, the experiment and the learnt estimates.
fn simulated<'a>(
    settings: &SimulationSettings,
    experiment: &'a Experiment,
    learnt: &'a Learnt,
) -> gleaner_simulate::Simulation<'a> {
    learnt.simulation(experiment.simulation(&settings.choice, settings.check))
}

/// Configures and runs a simulation.
///
/// ```
/// use gleaner::Simulation;
///
/// # std::env::set_current_dir(env!("CARGO_MANIFEST_DIR"))?;
/// let simulated = Simulation::of_directory("dataset/cluster")
///     .policies(["fifo", "srtf"])
///     .run()?;
/// for (policy, figures) in simulated.entries() {
///     println!("{policy}: jobs complete after {} s on average", figures.all.avg_jct_s);
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use = "a simulation does nothing until `run` is called"]
pub struct Simulation<'a> {
    settings: SimulationSettings,
    own: Vec<PolicyEntry<'a>>,
    dated: bool,
    observer: &'a dyn Observer,
}

impl<'a> Simulation<'a> {
    /// Creates a simulation of the files in a directory, under their default names: `jobs.csv`,
    /// `vc_config.csv` and, if a policy needs them, other files (dataset/README.md).
    pub fn of_directory(data: impl Into<PathBuf>) -> Self {
        let mut settings = SimulationSettings::default();
        settings.files.data = Some(data.into());
        Self::with(settings)
    }

    /// Creates a simulation of the jobs in the file `trace` on the nodes in the file `cluster`.
    pub fn of_files(trace: impl Into<PathBuf>, cluster: impl Into<PathBuf>) -> Self {
        let mut settings = SimulationSettings::default();
        settings.files.trace = Some(trace.into());
        settings.files.cluster = Some(cluster.into());
        Self::with(settings)
    }

    /// Creates a simulation with these settings. The settings must name the input files.
    pub fn with(settings: SimulationSettings) -> Self {
        Simulation {
            settings,
            own: Vec::new(),
            dated: false,
            observer: &Unobserved,
        }
    }

    /// Sets the policies by their names (default: the policies of the published comparison).
    pub fn policies<T: Into<String>>(mut self, names: impl IntoIterator<Item = T>) -> Self {
        self.settings.choice.policy = names.into_iter().map(Into::into).collect();
        self
    }

    /// Adds the caller's own policies, which [`Simulation::policies`] can then name.
    pub fn own_policies(mut self, policies: impl IntoIterator<Item = PolicyEntry<'a>>) -> Self {
        self.own.extend(policies);
        self
    }

    /// Changes settings for which there is no dedicated method.
    pub fn setting(mut self, set: impl FnOnce(&mut SimulationSettings)) -> Self {
        set(&mut self.settings);
        self
    }

    /// Sets whether the results show dates (default: no). If they do, the settings for the dates of the trace apply.
    pub fn dated(mut self, dated: bool) -> Self {
        self.dated = dated;
        self
    }

    /// Sets the observer, which receives remarks and progress, and can stop the simulation.
    pub fn observer(mut self, observer: &'a dyn Observer) -> Self {
        self.observer = observer;
        self
    }

    /// Reads the inputs and simulates the policies in parallel.
    ///
    /// # Errors
    /// A setting or an input is invalid, or a decision of a policy cannot be carried out. A stopped simulation is not
    /// an error: its results omit the policies that were interrupted.
    pub fn run(self) -> Result<Simulated> {
        let settings = self.settings.clone();
        threads::with(settings.jobs, || {
            let opened = self.open()?.learn()?;
            let timed = opened.simulate(&opened.requests)?;
            Ok(opened.end(timed))
        })
    }

    /// Reads and checks the inputs.
    ///
    /// # Errors
    /// A setting or an input is invalid.
    pub fn open(self) -> Result<OpenedSimulation<'a>> {
        let settings = &self.settings;
        let requests = settings.choice.requests_with(&settings.files, &self.own)?;
        let clock = Instant::now();
        let experiment =
            Experiment::open(settings.experiment(self.dated), &requests, self.observer)?;
        report_left_out(&experiment.inputs.skipped, self.observer);
        let seconds = Seconds {
            read: clock.elapsed().as_secs_f64(),
            ..Seconds::default()
        };
        Ok(OpenedSimulation {
            requests,
            settings: self.settings,
            observer: self.observer,
            experiment,
            learnt: Learnt::default(),
            seconds,
        })
    }
}

/// A simulation whose inputs have been read.
pub struct OpenedSimulation<'a> {
    /// The policies to simulate, in the order in which they were requested.
    pub requests: Vec<Request<'a>>,
    settings: SimulationSettings,
    observer: &'a dyn Observer,
    experiment: Experiment,
    learnt: Learnt,
    seconds: Seconds,
}

impl<'a> OpenedSimulation<'a> {
    /// The inputs that were read.
    pub fn inputs(&self) -> &Inputs {
        &self.experiment.inputs
    }

    /// All files that were read.
    pub fn sources(&mut self) -> &mut [SourceId] {
        &mut self.experiment.inputs.sources
    }

    /// Learns the estimates of the policies that use estimates learnt week by week.
    ///
    /// # Errors
    /// A simulation fails.
    pub fn learn(mut self) -> Result<Self> {
        let clock = Instant::now();
        let (experiment, settings) = (&self.experiment, &self.settings);
        let simulation = experiment.simulation(&settings.choice, settings.check);
        self.learnt = experiment.learn(simulation, &self.requests, self.observer)?;
        self.seconds.compute += clock.elapsed().as_secs_f64();
        Ok(self)
    }

    /// Simulates policies in parallel. The results omit policies that were interrupted.
    ///
    /// # Errors
    /// A simulation fails.
    pub fn simulate(&self, requests: &[Request<'a>]) -> Result<Timed> {
        self.simulated_by(simulate, requests)
    }

    /// Like [`OpenedSimulation::simulate`], but simulates one virtual cluster after the other on the calling thread.
    ///
    /// # Errors
    /// Same as [`OpenedSimulation::simulate`].
    pub fn simulate_in_turn(&self, requests: &[Request<'a>]) -> Result<Timed> {
        self.simulated_by(simulate_in_turn, requests)
    }

    fn simulated_by(&self, simulate: Simulate, requests: &[Request<'_>]) -> Result<Timed> {
        let clock = Instant::now();
        let simulation = simulated(&self.settings, &self.experiment, &self.learnt);
        let runs = simulate(&simulation, requests, self.observer)
            .map_err(|error| Error::Run(printable(&error.to_string()).into_owned()))?;
        Ok(Timed {
            runs,
            seconds: clock.elapsed().as_secs_f64(),
        })
    }

    /// Collects the results of the simulation, with the runs in the order in which they were requested.
    pub fn end(self, timed: Timed) -> Simulated {
        Simulated::new(self, timed)
    }
}

/// The type of [`simulate`] and [`simulate_in_turn`].
type Simulate = fn(
    &gleaner_simulate::Simulation<'_>,
    &[Request<'_>],
    &dyn Observer,
) -> std::result::Result<Vec<PolicyRun>, SimulateError>;

/// The simulated policies, and the duration of the simulation.
pub struct Timed {
    /// The policies that were not interrupted.
    pub runs: Vec<PolicyRun>,
    /// Wall time in seconds.
    pub seconds: f64,
}
