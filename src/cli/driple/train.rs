//! `gleaner driple train`: trains a model on a data set.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::Args as ClapArgs;
use gleaner_driple::inspector::{self, Inspector};
use gleaner_driple::train::{Epoch, Scale, Start, Training, checkpoint};

use super::failed;
use super::network::NetworkArgs;
use super::plan::PlanArgs;
use super::resume::{Asked, Data};
use crate::cli::terminal::Terminal;
use crate::cli::{print, remark};
use crate::threads;
use gleaner_document::text;
use gleaner_domain::Unobserved;
use gleaner_domain::error::{Error, Result};
use gleaner_inputs::driple::data;
use gleaner_io::files;
use gleaner_io::table::Form;
use gleaner_predict::driple::Part;
use gleaner_predict::driple::scores::{baselines, mean, predicted, scores};
use gleaner_runs::driple::{history, scores as tables};

/// Train a model on a data set.
///
/// The model file contains the weights of the epoch with the lowest validation error. It also contains everything else
/// that predictions need: the grouping of graphs, the frequencies of operations, and the units. With --from, a trained
/// model is adapted to another set-up (transfer learning). Ctrl-C ends the training after the current epoch, and saves
/// the checkpoint and the best model so far.
#[derive(Debug, ClapArgs)]
#[command(before_help = "Examples:\n  \
    gleaner driple train --data data.safetensors -o model.safetensors\n  \
    gleaner driple train --data data.safetensors --network gin --patience 30 -o gin.safetensors\n  \
    gleaner driple train --data d.safetensors --from m.safetensors --learn readout -o n.safetensors\n  \
    gleaner driple train --data d.safetensors --checkpoint c.safetensors -o m.safetensors\n  \
    gleaner driple train --data d.safetensors --resume c.safetensors -o m.safetensors")]
pub struct Args {
    /// The data set, a file written by `gleaner driple build`, or a data set that the original saved (.pkl).
    #[arg(long, value_name = "FILE")]
    data: PathBuf,
    /// File to write the errors of all epochs to, as a table (.csv or .parquet).
    #[arg(long, value_name = "FILE")]
    history: Option<PathBuf>,
    /// Number of threads [default: the number of cores]. The model does not depend on this number.
    #[arg(long, value_name = "COUNT")]
    threads: Option<NonZeroUsize>,
    /// Show no progress bar.
    #[arg(short, long)]
    quiet: bool,
    /// Model to write, a safetensors file.
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    #[command(flatten)]
    network: NetworkArgs,
    #[command(flatten)]
    plan: PlanArgs,
    /// Start from the weights of this model.
    #[arg(long, value_name = "MODEL", conflicts_with_all = ["resume", "seed"])]
    from: Option<PathBuf>,
    /// Save the state of the training to this file, so that --resume can continue it.
    #[arg(long, value_name = "FILE")]
    checkpoint: Option<PathBuf>,
    /// Number of epochs between two saves.
    #[arg(long, value_name = "COUNT", default_value = "10")]
    checkpoint_every: NonZeroUsize,
    /// Continue from this checkpoint, and save to it again. The resulting model is the same as if the training had
    /// never been interrupted.
    #[arg(long, value_name = "FILE")]
    resume: Option<PathBuf>,
}

/// Runs the subcommand.
///
/// # Errors
/// A file is missing or faulty, options contradict each other, the training diverges, or a file cannot be written. An
/// interrupt is also an error; it is reported after the results have been written.
pub fn run(args: &Args) -> Result<()> {
    threads::with(args.threads, || train(args))
}

fn train(args: &Args) -> Result<()> {
    args.history.as_deref().map(Form::of).transpose()?;
    let data = args.read()?;
    let start = args.start(&data)?;
    let clock = Instant::now();
    let mut training = start.training(&data.data);
    let terminal = Terminal::new(args.quiet);
    let diverged = training.run(&terminal, |training, epoch| {
        args.after_epoch(&start, training, epoch)
    });
    terminal.clear();
    args.save(&start, &training)?;
    let inspector = start.inspector(&training);
    files::write_bytes(&args.output, &inspector::write(&inspector).map_err(failed)?)?;
    diverged?;
    print(&args.summary(&inspector, &data, clock.elapsed().as_secs_f64())?)?;
    if training.is_over() {
        return Ok(());
    }
    if let Some(path) = args.checkpoint() {
        remark(&[format!("continue with --resume {}", path.display())]);
    }
    Err(Error::Interrupted)
}

impl Args {
    fn read(&self) -> Result<Data> {
        let loaded = data::read(&self.data)?;
        let (data, manifest) = loaded.value;
        let sha256 = loaded
            .sources
            .first()
            .map(|source| source.sha256.to_string());
        Ok(Data {
            data,
            manifest,
            sha256: sha256.unwrap_or_default(),
        })
    }

    fn start(&self, data: &Data) -> Result<Start> {
        let asked = Asked {
            network: &self.network,
            plan: &self.plan,
        };
        match (&self.resume, &self.from) {
            (Some(checkpoint), _) => asked.resume(checkpoint, data, &self.data),
            (None, Some(model)) => asked.from(model, data, &self.data),
            (None, None) => asked.fresh(data, &self.data),
        }
    }

    /// Runs after each epoch: fails if the training has diverged, and saves the state of the training every few epochs.
    fn after_epoch(
        &self,
        start: &Start,
        training: &Training<'_, f32>,
        epoch: &Epoch,
    ) -> Result<()> {
        if !epoch.train.is_finite() {
            return Err(Error::Run(format!(
                "the training diverged in epoch {}, counting from 0: its error is not a number; \
                 lower --rate (now {})",
                epoch.epoch,
                start.plan().learning_rate
            )));
        }
        if (epoch.epoch + 1).is_multiple_of(self.checkpoint_every.get()) {
            self.save(start, training)?;
        }
        Ok(())
    }

    fn checkpoint(&self) -> Option<&Path> {
        self.checkpoint.as_deref().or(self.resume.as_deref())
    }

    /// Writes the state of the training to all requested files. If the training has diverged, no checkpoint is written,
    /// because such a training cannot be continued.
    fn save(&self, start: &Start, training: &Training<'_, f32>) -> Result<()> {
        let state = training.state();
        if let Some(path) = &self.history {
            history::write(&state.history, path)?;
        }
        let sound = state
            .history
            .last()
            .is_none_or(|epoch| epoch.train.is_finite());
        if let Some(path) = self.checkpoint().filter(|_| sound) {
            let bytes = checkpoint::write(&start.card, state).map_err(failed)?;
            files::write_bytes(path, &bytes)?;
        }
        Ok(())
    }

    /// A summary of the training as text.
    fn summary(&self, inspector: &Inspector, data: &Data, seconds: f64) -> Result<String> {
        let origin = inspector.card.provenance.clone().unwrap_or_default();
        let weights = inspector.parameters.count();
        let mut text = format!(
            "{} epochs in {seconds:.1} s, {weights} weights; best epoch {}, counting from 0",
            origin.epochs, origin.best_epoch
        );
        if let Some(val) = origin.val {
            text += &format!(", validation mse {:.5}", mean(&val));
        }
        text.push('\n');
        text += &test(inspector, data)?;
        Ok(text + &format!("saved as {}\n", self.output.display()))
    }
}

/// The model's errors on the test part, compared with the errors of the training mean.
fn test(inspector: &Inspector, data: &Data) -> Result<String> {
    let examples = Part::Test.of(&data.data);
    if examples.is_empty() {
        return Ok("there is no test part\n".to_owned());
    }
    let scale = inspector.card.scale.unwrap_or(Scale::NONE);
    // The summary must also be printed after a stop, so this step ignores the stop flag.
    let told = predicted(inspector, &examples, &scale, &Unobserved)?;
    let model = scores("model", &examples, &told, &scale);
    let baselines = baselines(&data.data, &examples, &scale);
    let Some(mean) = baselines.first() else {
        return Ok(String::new());
    };
    if model.share_of(mean) > HARDLY_BETTER {
        remark(&[
            "the model is hardly better than the training mean: it needs more jobs for training, \
             more --epochs, or another --rate"
                .to_owned(),
        ]);
    }
    Ok(text(&tables::beside_mean(&model, mean, examples.len())))
}

/// A warning is printed if the model's squared error exceeds this share of the training mean's error.
const HARDLY_BETTER: f64 = 0.8;
