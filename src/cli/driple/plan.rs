//! Options that describe the training.

use clap::{Args, ValueEnum};
use gleaner_driple::inspector::{Card, Provenance};
use gleaner_driple::train::{Learns, Plan, Schedule};

use super::contrary::Contrary;
use super::network::NetworkArgs;
use super::number;
use gleaner_domain::error::Result;

/// The plan of a training run.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Training")]
pub struct PlanArgs {
    /// Number of passes over the training data, at most 1,000,000 [default: 150].
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    epochs: Option<u32>,
    /// Stop after this many epochs without a lower validation error [default: never].
    #[arg(long, value_name = "EPOCHS", value_parser = clap::value_parser!(u32).range(1..))]
    patience: Option<u32>,
    /// Highest learning rate of Adam [default: 0.003].
    #[arg(long, value_name = "NUMBER", value_parser = above_zero)]
    rate: Option<f64>,
    /// Weight decay: the share of each weight that is added to its gradient [default: 0.000001].
    #[arg(long, value_name = "NUMBER", value_parser = not_negative)]
    decay: Option<f64>,
    /// Seed of the initial weights. The same seed gives the same model [default: 0].
    #[arg(long, value_name = "NUMBER")]
    seed: Option<u64>,
    /// With --from: the weights that training updates [default: all].
    #[arg(long, value_enum, value_name = "WHAT", requires = "from")]
    learn: Option<Learn>,
}

/// The weights that transfer learning updates.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Learn {
    /// All weights.
    All,
    /// The weights of the linear layers in the readout.
    Readout,
    /// The weights of the readout's linear layers and of the repeated convolution.
    #[value(name = "readout+conv")]
    ReadoutAndConvolution,
}

fn above_zero(text: &str) -> Result<f64, String> {
    number(text, |number| number > 0.0, "a number above 0")
}

fn not_negative(text: &str) -> Result<f64, String> {
    number(text, |number| number >= 0.0, "a number of at least 0")
}

impl PlanArgs {
    /// The plan for training `network`.
    pub fn plan(&self, network: &NetworkArgs) -> Plan {
        let base = Plan::default();
        Plan {
            epochs: self.epochs.map_or(base.epochs, |epochs| epochs as usize),
            patience: self.patience.map(|patience| patience as usize),
            learning_rate: self.rate.unwrap_or(base.learning_rate),
            weight_decay: self.decay.unwrap_or(base.weight_decay),
            schedule: if network.compat() {
                Schedule::Constant
            } else {
                base.schedule
            },
            learns: self.learns().unwrap_or(base.learns),
        }
    }

    /// The seed of the initial weights.
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

    /// Checks that the options agree with the options of the training run that wrote a
    /// checkpoint.
    ///
    /// # Errors
    /// [`Error::Usage`] if options differ. The message lists these options.
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

#[cfg(test)]
mod tests {
    use gleaner_driple::model::{Architecture, Convolution, Depth};

    use super::*;

    // Compares the numbers in the help with the actual defaults.
    #[test]
    fn the_help_states_the_defaults() {
        let mut program = crate::cli::command();
        let driple = program.find_subcommand_mut("driple").unwrap();
        let train = driple.find_subcommand_mut("train").unwrap();
        let wrapped = train.render_long_help().to_string();
        let help = wrapped.split_whitespace().collect::<Vec<_>>().join(" ");
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
        let depth = told("depth");
        let (ours, originals) = depth.split_once("; with --compat ").unwrap();
        assert_eq!(ours.parse().map(Depth::Fixed), Ok(network.depth));
        let original = Architecture::original(Convolution::Gcn);
        assert!(originals.starts_with("half,"), "{originals}");
        assert_eq!(original.depth, Depth::Half);
    }
}
