//! Families of networks, drawn at random within the sizes that training jobs have.

mod convolutional;
mod transformer;

use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use super::network::Network;

/// A family of networks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Family {
    /// Convolutions one after the other, as in VGG.
    Plain,
    /// Blocks of convolutions with shortcuts, as in ResNet.
    Residual,
    /// Convolutions of single channels and of single pixels in turn, as in MobileNet.
    Separable,
    /// A transformer encoder that classifies texts.
    Encoder,
    /// A transformer decoder that predicts the next token.
    Decoder,
}

/// A network drawn from a family.
pub(super) struct Drawn {
    /// The name of the data set.
    pub(super) data: &'static str,
    /// The name of the model, with its depth.
    pub(super) model: String,
    /// The samples of a step.
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

    /// A network of the family.
    pub(super) fn draw(self, random: &mut ChaCha8Rng) -> Drawn {
        match self {
            Self::Plain => convolutional::plain(random),
            Self::Residual => convolutional::residual(random),
            Self::Separable => convolutional::separable(random),
            Self::Encoder => transformer::encoder(random),
            Self::Decoder => transformer::decoder(random),
        }
    }
}

/// One of a few values.
fn one<T: Copy>(random: &mut ChaCha8Rng, of: &[T]) -> T {
    of[random.random_range(0..of.len())]
}
