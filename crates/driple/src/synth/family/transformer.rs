//! Transformers (Vaswani et al., *Attention Is All You Need*, 2017). Unlike in the paper, each part
//! of a layer begins with a layer normalisation.

use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use super::{Drawn, one};
use crate::synth::network::{Network, Op, Value};

/// The sizes of a transformer.
struct Sizes {
    batch: u64,
    tokens: u64,
    vocabulary: u64,
    width: u64,
    heads: u64,
    inner: u64,
    layers: usize,
    /// Whether a token attends only to itself and to earlier tokens.
    masked: bool,
}

impl Sizes {
    fn draw(batch: Option<u64>, random: &mut ChaCha8Rng, masked: bool) -> Self {
        let width = one(random, &[128, 192, 256]);
        let drawn = one(random, &[16, 32, 64, 128]);
        Self {
            batch: batch.unwrap_or(drawn),
            tokens: one(random, &[64, 96, 128]),
            vocabulary: one(random, &[2_000, 4_000, 8_000]),
            width,
            heads: one(random, &[2, 4, 8]),
            inner: width * one(random, &[2, 4]),
            layers: random.random_range(1..=3),
            masked,
        }
    }

    fn drawn(self, data: &'static str, model: &str, network: Network) -> Drawn {
        let model = format!("{model}{}", self.layers);
        Drawn {
            data,
            model,
            batch: self.batch,
            network,
        }
    }
}

/// Draws a network that consists of an encoder, the mean over its tokens, and scores for two
/// classes.
pub(super) fn encoder(batch: Option<u64>, random: &mut ChaCha8Rng) -> Drawn {
    let (sizes, mut network) = (Sizes::draw(batch, random, false), Network::default());
    let x = layers(&mut network, &sizes);
    let x = network.reshape("text", x, &[sizes.batch, sizes.tokens, sizes.width]);
    let x = network.mean("mean", x, &[1], false);
    let scores = network.dense("scores", x, 2);
    network.loss(scores);
    sizes.drawn("SST2", "Encoder", network)
}

/// Draws a network that consists of a decoder and scores for the next token.
pub(super) fn decoder(batch: Option<u64>, random: &mut ChaCha8Rng) -> Drawn {
    let (sizes, mut network) = (Sizes::draw(batch, random, true), Network::default());
    let x = layers(&mut network, &sizes);
    let scores = network.dense("scores", x, sizes.vocabulary);
    network.loss(scores);
    sizes.drawn("WikiText", "Decoder", network)
}

/// Adds embeddings and layers. The result is a matrix with a row for each token of each text.
fn layers(network: &mut Network, sizes: &Sizes) -> Value {
    let tokens = network.add("tokens", Op::Labels, &[], &[sizes.batch, sizes.tokens]);
    let table = network.random("embedding/table", &[sizes.vocabulary, sizes.width]);
    let shape = [sizes.batch, sizes.tokens, sizes.width];
    let rows = network.add("embedding/Gather", Op::Gather, &[table, tokens], &shape);
    let positions = network.random("position/table", &shape[1..]);
    let x = network.both("position/add", Op::Add, rows, positions);
    let mut x = network.reshape("rows", x, &[sizes.batch * sizes.tokens, sizes.width]);
    for layer in 0..sizes.layers {
        let name = format!("layer{layer}/attention");
        let y = attention(network, &name, x, sizes);
        x = network.both(&format!("{name}/add"), Op::Add, y, x);
        let name = format!("layer{layer}/feedforward");
        let y = feedforward(network, &name, x, sizes);
        x = network.both(&format!("{name}/add"), Op::Add, y, x);
    }
    normalisation(network, "norm", x)
}

/// Adds the attention of each token to the tokens of its text.
fn attention(network: &mut Network, name: &str, x: Value, sizes: &Sizes) -> Value {
    let x = normalisation(network, &format!("{name}/norm"), x);
    let size = sizes.width / sizes.heads;
    let shape = [sizes.batch, sizes.tokens, sizes.heads, size];
    let [query, key, value] = ["query", "key", "value"].map(|part| {
        let name = format!("{name}/{part}");
        let rows = network.dense(&name, x, sizes.width);
        let heads = network.reshape(&format!("{name}/Reshape"), rows, &shape);
        network.transpose(&format!("{name}/transpose"), heads, &[0, 2, 1, 3])
    });
    let shape = [sizes.batch, sizes.heads, sizes.tokens, sizes.tokens];
    let product = Op::BatchMatMul { transposed: true };
    let scores = network.add(&format!("{name}/scores"), product, &[query, key], &shape);
    let scale = Op::Scale(1.0 / (size as f32).sqrt());
    let mut scores = network.each(&format!("{name}/scale"), scale, scores);
    if sizes.masked {
        scores = network.each(&format!("{name}/mask"), Op::Mask, scores);
    }
    let weights = network.each(&format!("{name}/Softmax"), Op::Softmax, scores);
    let shape = network.shape(value).to_vec();
    let product = Op::BatchMatMul { transposed: false };
    let heads = network.add(
        &format!("{name}/context"),
        product,
        &[weights, value],
        &shape,
    );
    let texts = network.transpose(&format!("{name}/transpose"), heads, &[0, 2, 1, 3]);
    let rows = [sizes.batch * sizes.tokens, sizes.width];
    let rows = network.reshape(&format!("{name}/Reshape"), texts, &rows);
    network.dense(&format!("{name}/output"), rows, sizes.width)
}

/// Adds two dense layers with a GELU between them. The GELU is approximated with a hyperbolic
/// tangent (Hendrycks & Gimpel, 2016).
fn feedforward(network: &mut Network, name: &str, x: Value, sizes: &Sizes) -> Value {
    let x = normalisation(network, &format!("{name}/norm"), x);
    let x = network.dense(&format!("{name}/inner"), x, sizes.inner);
    let square = network.both(&format!("{name}/gelu/square"), Op::Mul, x, x);
    let square = network.each(&format!("{name}/gelu/scale"), Op::Scale(0.044_715), square);
    let factor = network.each(&format!("{name}/gelu/shift"), Op::Shift(1.0), square);
    let inner = network.both(&format!("{name}/gelu/mul"), Op::Mul, factor, x);
    let root = (2.0 / std::f32::consts::PI).sqrt();
    let inner = network.each(&format!("{name}/gelu/root"), Op::Scale(root), inner);
    let tanh = network.each(&format!("{name}/gelu/Tanh"), Op::Tanh, inner);
    let gate = network.each(&format!("{name}/gelu/gate"), Op::Shift(1.0), tanh);
    let half = network.each(&format!("{name}/gelu/half"), Op::Scale(0.5), gate);
    let y = network.both(&format!("{name}/gelu/out"), Op::Mul, half, x);
    network.dense(&format!("{name}/output"), y, sizes.width)
}

/// Adds a layer normalisation, which normalises each row (Ba et al., *Layer Normalization*, 2016).
fn normalisation(network: &mut Network, name: &str, x: Value) -> Value {
    let width = network.shape(x)[1];
    let mean = network.mean(&format!("{name}/mean"), x, &[1], true);
    let centred = network.both(&format!("{name}/sub"), Op::Sub, x, mean);
    let square = network.both(&format!("{name}/square"), Op::Mul, centred, centred);
    let variance = network.mean(&format!("{name}/variance"), square, &[1], true);
    let variance = network.each(&format!("{name}/epsilon"), Op::Shift(1e-6), variance);
    let scale = network.each(&format!("{name}/Rsqrt"), Op::Rsqrt, variance);
    let unit = network.both(&format!("{name}/mul"), Op::Mul, centred, scale);
    let gamma = network.constant(&format!("{name}/gamma"), &[width]);
    let scaled = network.both(&format!("{name}/scale"), Op::Mul, unit, gamma);
    let beta = network.constant(&format!("{name}/beta"), &[width]);
    network.both(&format!("{name}/shift"), Op::Add, scaled, beta)
}
