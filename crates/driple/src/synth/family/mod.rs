//! Families of networks. The networks of a family are drawn at random. Their sizes are typical of
//! training jobs.

mod convolutional;
mod transformer;

use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use super::network::Network;

/// A family of networks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Family {
    /// Consecutive convolutions, as in VGG.
    Plain,
    /// Blocks of convolutions with shortcuts, as in ResNet.
    Residual,
    /// Alternating depthwise and pointwise convolutions, as in MobileNet.
    Separable,
    /// A transformer encoder that classifies texts.
    Encoder,
    /// A transformer decoder that predicts the next token.
    Decoder,
}

/// A network that was drawn from a family.
pub(super) struct Drawn {
    /// The name of the data set.
    pub(super) data: &'static str,
    /// The name of the model, which ends with its depth.
    pub(super) model: String,
    /// The number of samples in a step.
    pub(super) batch: u64,
    pub(super) network: Network,
}

impl Family {
    /// All families.
    pub(super) const ALL: [Self; 5] = [
        Self::Plain,
        Self::Residual,
        Self::Separable,
        Self::Encoder,
        Self::Decoder,
    ];

    /// The family that a model's name indicates. If the name contains none of the parts in
    /// [`MODELS`], the family is `Plain`.
    pub(super) fn of_model(name: &str) -> Self {
        let name = name.to_ascii_lowercase();
        let known = MODELS
            .iter()
            .find(|(part, _)| name.contains(part))
            .map(|(_, family)| *family);
        known.unwrap_or(Self::Plain)
    }

    /// Draws a network of the family. `batch` is the number of samples in a step; if it is `None`,
    /// the number is drawn at random.
    pub(super) fn draw(self, batch: Option<u64>, random: &mut ChaCha8Rng) -> Drawn {
        match self {
            Self::Plain => convolutional::plain(batch, random),
            Self::Residual => convolutional::residual(batch, random),
            Self::Separable => convolutional::separable(batch, random),
            Self::Encoder => transformer::encoder(batch, random),
            Self::Decoder => transformer::decoder(batch, random),
        }
    }
}

/// Parts of models' names, and the families that these parts indicate.
const MODELS: [(&str, Family); 12] = [
    ("resnet", Family::Residual),
    ("resnext", Family::Residual),
    ("densenet", Family::Residual),
    ("inception", Family::Residual),
    ("mobilenet", Family::Separable),
    ("efficientnet", Family::Separable),
    ("shufflenet", Family::Separable),
    ("bert", Family::Encoder),
    ("neumf", Family::Encoder),
    ("transformer", Family::Decoder),
    ("lstm", Family::Decoder),
    ("gpt", Family::Decoder),
];

/// Draws one of the given values.
fn one<T: Copy>(random: &mut ChaCha8Rng, of: &[T]) -> T {
    of[random.random_range(0..of.len())]
}
