//! What is trained, and how.

use std::fmt::Display;
use std::str::FromStr;

use clap::{Args, ValueEnum};
use gleaner_driple::inspector::{Card, Provenance};
use gleaner_driple::model::{Architecture, Convolution, Depth, Design};
use gleaner_driple::train::{Learns, Plan, Schedule};

use crate::error::{Error, Result};

/// What the network is made of. Options that are not given are left to the defaults, or to the model
/// or checkpoint that is gone on from.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Network")]
pub struct NetworkArgs {
    /// Kind of the graph convolutions [default: gcn].
    #[arg(long, value_enum, value_name = "KIND")]
    network: Option<Network>,
    /// The original's design and constant learning rate, as its published weights have.
    #[arg(long)]
    compat: bool,
    /// Convolutions a graph goes through, of its nodes: half, as many (nodes), their root or
    /// logarithm (log), or a number [default: half].
    #[arg(long, value_name = "half|nodes|root|log|NUMBER")]
    depth: Option<LayerCount>,
    /// Width of a node's state, a multiple of 4 [default: 64].
    #[arg(long, value_name = "WIDTH")]
    hidden: Option<usize>,
    /// Linear layers of the readout [default: 3].
    #[arg(long, value_name = "COUNT")]
    layers: Option<usize>,
}

/// How it is trained.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Training")]
pub struct PlanArgs {
    /// Passes over the training part [default: 150].
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..))]
    epochs: Option<u32>,
    /// Stop after so many epochs without a lower validation error [default: never].
    #[arg(long, value_name = "EPOCHS", value_parser = clap::value_parser!(u32).range(1..))]
    patience: Option<u32>,
    /// Learning rate of Adam, at its highest [default: 0.003].
    #[arg(long, value_name = "NUMBER", value_parser = above_zero)]
    rate: Option<f64>,
    /// Share of each weight added to its gradient [default: 0.000001].
    #[arg(long, value_name = "NUMBER", value_parser = not_negative)]
    decay: Option<f64>,
    /// Seed of the first weights; the same seed gives the same model [default: 0].
    #[arg(long, value_name = "NUMBER")]
    seed: Option<u64>,
    /// What is learnt, with --from [default: all].
    #[arg(long, value_enum, value_name = "WHAT", requires = "from")]
    learn: Option<Learn>,
}

/// Kinds of graph convolution.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Network {
    /// Graph convolutional network.
    Gcn,
    /// Graph isomorphism network.
    Gin,
    /// Graph attention network.
    Gat,
    /// Message passing neural network.
    Mpnn,
}

/// What transfer learning changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Learn {
    /// All weights.
    All,
    /// Those of the readout's linear layers.
    Readout,
    /// Those and the repeated convolution's.
    #[value(name = "readout+conv")]
    ReadoutAndConvolution,
}

/// A number of convolutions by the number of nodes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LayerCount(pub Depth);

impl FromStr for LayerCount {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let depth = match text {
            "half" => Depth::Half,
            "nodes" => Depth::Nodes,
            "root" => Depth::Root,
            "log" => Depth::Logarithm,
            _ => match text.parse() {
                Ok(layers @ 1..=1000) => Depth::Fixed(layers),
                _ => {
                    return Err("expected half, nodes, root, log or a number from 1 to 1000".into());
                }
            },
        };
        Ok(LayerCount(depth))
    }
}

fn above_zero(text: &str) -> Result<f64, String> {
    let number = text
        .parse()
        .ok()
        .filter(|n: &f64| n.is_finite() && *n > 0.0);
    number.ok_or_else(|| "expected a number above 0".to_owned())
}

fn not_negative(text: &str) -> Result<f64, String> {
    let number = text
        .parse()
        .ok()
        .filter(|n: &f64| n.is_finite() && *n >= 0.0);
    number.ok_or_else(|| "expected a number of at least 0".to_owned())
}

impl NetworkArgs {
    /// The network that is asked for.
    pub fn architecture(&self) -> Architecture {
        let convolution = self.convolution().unwrap_or(Convolution::Gcn);
        let base = match self.compat {
            true => Architecture::original(convolution),
            false => Architecture::new(convolution),
        };
        Architecture {
            hidden: self.hidden.unwrap_or(base.hidden),
            readout_layers: self.layers.unwrap_or(base.readout_layers),
            depth: self.depth.map_or(base.depth, |depth| depth.0),
            ..base
        }
    }

    fn convolution(&self) -> Option<Convolution> {
        self.network.map(|network| match network {
            Network::Gcn => Convolution::Gcn,
            Network::Gin => Convolution::Gin,
            Network::Gat => Convolution::Gat,
            Network::Mpnn => Convolution::Mpnn,
        })
    }

    /// That what is asked for is the network of `model`, whose weights are gone on from.
    ///
    /// # Errors
    /// The options that ask for another network: [`Error::Usage`].
    pub fn check(&self, model: &Architecture, whose: &str) -> Result<()> {
        let mut contrary = Contrary::default();
        contrary.add("--network", self.convolution(), model.convolution);
        contrary.add("--depth", self.depth.map(|depth| depth.0), model.depth);
        contrary.add("--hidden", self.hidden, model.hidden);
        contrary.add("--layers", self.layers, model.readout_layers);
        contrary.add(
            "--compat",
            self.compat.then_some(Design::Original),
            model.design,
        );
        contrary.into_result(whose)
    }
}

impl PlanArgs {
    /// How to train; `constant` with a learning rate that stays as it is.
    pub fn plan(&self, network: &NetworkArgs) -> Plan {
        let base = Plan::default();
        Plan {
            epochs: self.epochs.map_or(base.epochs, |epochs| epochs as usize),
            patience: self.patience.map(|patience| patience as usize),
            learning_rate: self.rate.unwrap_or(base.learning_rate),
            weight_decay: self.decay.unwrap_or(base.weight_decay),
            schedule: match network.compat {
                true => Schedule::Constant,
                false => base.schedule,
            },
            learns: self.learns().unwrap_or(base.learns),
        }
    }

    /// The seed of the first weights.
    pub fn seed(&self) -> u64 {
        self.seed.unwrap_or(0)
    }

    fn learns(&self) -> Option<Learns> {
        self.learn.map(|learn| match learn {
            Learn::All => Learns::All,
            Learn::Readout => Learns::Readout,
            Learn::ReadoutAndConvolution => Learns::ReadoutAndConvolution,
        })
    }

    /// That what is asked for is what the training of a checkpoint was asked for.
    ///
    /// # Errors
    /// The options that ask for another training: [`Error::Usage`].
    pub fn check(&self, network: &NetworkArgs, card: &Card, whose: &str) -> Result<()> {
        let origin = card.provenance.clone().unwrap_or_default();
        let Provenance { plan, seed, .. } = origin;
        let mut contrary = Contrary::default();
        contrary.add(
            "--epochs",
            self.epochs.map(|epochs| epochs as usize),
            plan.epochs,
        );
        contrary.add("--rate", self.rate, plan.learning_rate);
        contrary.add("--decay", self.decay, plan.weight_decay);
        contrary.add("--seed", self.seed, seed);
        contrary.add("--learn", self.learns(), plan.learns);
        let patience = self.patience.map(|patience| Some(patience as usize));
        contrary.add("--patience", patience, plan.patience);
        contrary.into_result(whose)?;
        network.check(&card.architecture, whose)
    }
}

/// Options that contradict what is gone on from.
#[derive(Debug, Default)]
struct Contrary(Vec<String>);

impl Contrary {
    fn add<T: PartialEq + serde::Serialize>(&mut self, option: &str, asked: Option<T>, known: T) {
        if let Some(asked) = asked.filter(|asked| *asked != known) {
            let (asked, known) = (words(&asked), words(&known));
            self.0
                .push(format!("{option} asks for {asked}, there it is {known}"));
        }
    }

    fn into_result(self, whose: &str) -> Result<()> {
        if self.0.is_empty() {
            return Ok(());
        }
        let faults = self.0.join("; ");
        Err(Error::Usage(format!(
            "{whose} is gone on from: {faults}; leave such options out"
        )))
    }
}

fn words(value: &impl serde::Serialize) -> impl Display {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(text)) => text,
        Ok(serde_json::Value::Null) | Err(_) => "none".to_owned(),
        Ok(other) => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[derive(Debug, clap::Parser)]
    struct All {
        #[command(flatten)]
        network: NetworkArgs,
        #[command(flatten)]
        plan: PlanArgs,
    }

    // The help's numbers against those that are used.
    #[test]
    fn the_help_tells_the_defaults() {
        let help = All::command().render_long_help().to_string();
        let (plan, network) = (Plan::default(), Architecture::new(Convolution::Gcn));
        let told = |option: &str| {
            let after = help.split(&format!("--{option} ")).nth(1).unwrap();
            let default = after.split("[default: ").nth(1).unwrap();
            default.split(']').next().unwrap().to_owned()
        };
        assert_eq!(told("epochs"), plan.epochs.to_string());
        assert_eq!(told("rate").parse(), Ok(plan.learning_rate));
        assert_eq!(told("decay").parse(), Ok(plan.weight_decay));
        assert_eq!(told("hidden"), network.hidden.to_string());
        assert_eq!(told("layers"), network.readout_layers.to_string());
        assert_eq!(
            (told("depth").as_str(), network.depth),
            ("half", Depth::Half)
        );
    }
}
