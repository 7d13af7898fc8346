//! `gleaner driple convert`: converts weights, data sets and models between gleaner and other programs.

use std::path::PathBuf;

use clap::Args as ClapArgs;
use gleaner_driple::content::Content;
use gleaner_driple::dataset::Dataset;
use gleaner_driple::dataset::file::{self, Manifest};
use gleaner_driple::inspector::{self, Inspector};
use gleaner_driple::model::{Depth, Weights};
use gleaner_driple::train::{Scale, Start};

use super::failed;
use super::network::LayerCount;
use super::predict::UNSCALED;
use crate::cli::remark;
use crate::cli::terminal::Terminal;
use gleaner_domain::error::{Error, Fault, Result, check_stop};
use gleaner_inputs::driple::data;
use gleaner_inputs::driple::model;
use gleaner_inputs::driple::model::Found;
use gleaner_io::files;
use gleaner_predict::driple::Part;

/// Convert published weights and data sets to Gleaner's formats, and models to plain weights.
///
/// The conversion depends on the content of the file. Weights that have the original's names, stored as safetensors or
/// saved by torch, become a model. A data set saved by torch becomes a data set of this program. A model becomes plain
/// weights with --weights. Nothing in a file is ever executed.
#[derive(Debug, ClapArgs)]
#[command(before_help = "Examples:\n  \
    gleaner driple convert published.pkl -o model.safetensors --scale-of data.safetensors\n  \
    gleaner driple convert dataset.pkl -o data.safetensors\n  \
    gleaner driple convert model.safetensors --weights -o weights.safetensors")]
pub struct Args {
    /// The file to convert.
    #[arg(value_name = "FILE")]
    input: PathBuf,
    /// Safetensors file to write.
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// Take the units of predictions from the training part of this data set. Also take the grouping of graphs and the
    /// frequencies of operations if the data set has them.
    #[arg(long, value_name = "DATA")]
    scale_of: Option<PathBuf>,
    /// Number of convolutions, which files of published weights do not state: half, nodes, root, log or a number
    /// [default: half].
    #[arg(long, value_name = "half|nodes|root|log|NUMBER")]
    depth: Option<LayerCount>,
    /// Write only the weights of a model, for use with torch.
    #[arg(long, conflicts_with_all = ["scale_of", "depth"])]
    weights: bool,
}

/// Runs the subcommand.
///
/// # Errors
/// The input cannot be converted, an option does not apply to it, the output cannot be written, or the command is
/// interrupted.
pub fn run(args: &Args) -> Result<()> {
    let terminal = Terminal::default();
    let found = model::any(&args.input)?.value;
    check_stop(&terminal)?;
    let bytes = match found {
        Found::Weights(weights) => args.model(weights)?,
        Found::Inspector(inspector) if args.weights => args.written(*inspector)?,
        Found::Inspector(inspector) => args.scaled(*inspector)?,
        Found::Data(data) => args.data(&data.0, &data.1)?,
        Found::Checkpoint(start) => args.best(&start)?,
    };
    check_stop(&terminal)?;
    files::write_bytes(&args.output, &bytes)?;
    remark(&[format!("{}: {}", args.output.display(), words(&bytes))]);
    Ok(())
}

/// Describes the content of the written file in the final message.
fn words(bytes: &[u8]) -> &'static str {
    match Content::of(bytes) {
        Ok(Content::Weights) => "only the weights of the model",
        Ok(content) => content.words(),
        Err(_) => "written",
    }
}

impl Args {
    /// Converts published weights to a model.
    fn model(&self, weights: Weights) -> Result<Vec<u8>> {
        if self.weights {
            return Err(Error::Usage(format!(
                "--weights: {} already contains plain weights; leave the option out to convert \
                 them to a model",
                self.input.display()
            )));
        }
        let (weights, others) = of_network(weights);
        let depth = self.depth.map_or(Depth::Half, |depth| depth.0);
        let (inspector, unused) = inspector::converted(weights, depth)
            .map_err(|error| Fault::told(&self.input, error))?;
        let left_out: Vec<String> = others.into_iter().chain(unused).collect();
        if !left_out.is_empty() {
            let named = left_out.join(", ");
            remark(&[format!(
                "left out, because no prediction depends on them: {named}"
            )]);
        }
        if self.scale_of.is_none() {
            remark(&[UNSCALED.to_owned()]);
        }
        self.written(inspector)
    }

    /// Converts a model to a model with the units of a data set.
    fn scaled(&self, inspector: Inspector) -> Result<Vec<u8>> {
        self.no_depth("a trained model")?;
        if self.scale_of.is_none() {
            return Err(Error::Usage(format!(
                "{} is already a model; --weights writes only its weights, and --scale-of DATA \
                 sets its units",
                self.input.display()
            )));
        }
        self.written(inspector)
    }

    /// Converts a checkpoint to the model of its best epoch.
    fn best(&self, start: &Start) -> Result<Vec<u8>> {
        self.no_depth("a checkpoint")?;
        self.written(start.best(&start.state))
    }

    /// The content of the output file: the model with the requested units, or only its weights if `weights` is set.
    fn written(&self, mut inspector: Inspector) -> Result<Vec<u8>> {
        if self.weights {
            return inspector::write_plain(&inspector).map_err(failed);
        }
        if let Some(path) = &self.scale_of {
            let (data, manifest) = data::read(path)?.value;
            let examples = Part::Train.of(&data);
            if examples.is_empty() {
                return Err(Fault::of(
                    path,
                    "no training part",
                    "a training part, which determines the units",
                )
                .into());
            }
            let card = &mut inspector.card;
            card.scale = Some(Scale::of(examples));
            card.grouping = manifest.grouping.or(card.grouping.take());
            card.frequencies = manifest.frequencies.or(card.frequencies.take());
        }
        inspector::write(&inspector).map_err(failed)
    }

    fn no_depth(&self, what: &str) -> Result<()> {
        match self.depth {
            Some(_) => Err(Error::Usage(format!(
                "--depth: {} is {what}, which defines its own depth",
                self.input.display()
            ))),
            None => Ok(()),
        }
    }

    fn data(&self, data: &Dataset, manifest: &Manifest) -> Result<Vec<u8>> {
        self.no_depth("a data set")?;
        if self.weights || self.scale_of.is_some() {
            return Err(Error::Usage(format!(
                "--weights and --scale-of are for models; {} is a data set",
                self.input.display()
            )));
        }
        Ok(file::write(data, manifest).map_err(|error| Fault::told(&self.input, error))?)
    }
}

/// Removes the prefix that the names of all weights of the network share, such as `state_dict.` in torch checkpoints or
/// `module.` after parallel training. Also returns the names without this prefix; their weights are not part of the
/// network.
fn of_network(weights: Weights) -> (Weights, Vec<String>) {
    let first = weights
        .keys()
        .find_map(|name| name.split_once("conv_layers.0."));
    let Some((prefix, _)) = first.filter(|(prefix, _)| !prefix.is_empty()) else {
        return (weights, Vec::new());
    };
    let prefix = prefix.to_owned();
    let mut of_network = Weights::new();
    let mut others = Vec::new();
    for (name, tensor) in weights {
        match name.strip_prefix(&prefix) {
            Some(rest) => drop(of_network.insert(rest.to_owned(), tensor)),
            None => others.push(name),
        }
    }
    (of_network, others)
}

#[cfg(test)]
mod tests {
    use gleaner_driple::model::Tensor;

    use super::{Weights, of_network};

    #[test]
    fn prefixes_and_other_entries_of_a_checkpoint_are_removed() {
        let tensor = || Tensor {
            shape: vec![1],
            values: vec![1.0],
        };
        let names = [
            "model.module.conv_layers.0.W",
            "model.module.gru.b",
            "steps",
        ];
        let weights = names.map(|name| (name.to_owned(), tensor())).into();
        let (weights, others): (Weights, _) = of_network(weights);
        let kept: Vec<&String> = weights.keys().collect();
        assert_eq!(kept, ["conv_layers.0.W", "gru.b"]);
        assert_eq!(others, ["steps"]);
        // If no weight has a prefix, all weights are kept.
        assert_eq!(of_network(weights.clone()), (weights, Vec::new()));
    }
}
