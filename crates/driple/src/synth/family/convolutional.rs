//! Convolutional networks that classify images.

use rand::RngExt;
use rand_chacha::ChaCha8Rng;

use super::{Drawn, one};
use crate::synth::network::{Network, Op, Value};

/// A data set of images to classify.
struct Images {
    data: &'static str,
    side: u64,
    classes: u64,
    batch: u64,
}

impl Images {
    fn draw(batch: Option<u64>, random: &mut ChaCha8Rng) -> Self {
        let drawn = Self::of_any_batch(random);
        Self {
            batch: batch.unwrap_or(drawn.batch),
            ..drawn
        }
    }

    fn of_any_batch(random: &mut ChaCha8Rng) -> Self {
        if random.random_bool(0.5) {
            let (side, batch) = (one(random, &[64, 96, 128]), one(random, &[16, 32, 64]));
            Self {
                data: "ImageNet",
                side,
                classes: 1000,
                batch,
            }
        } else {
            let batch = one(random, &[128, 192, 256]);
            Self {
                data: "Cifar10",
                side: 32,
                classes: 10,
                batch,
            }
        }
    }

    /// Adds the network's input.
    fn input(&self, network: &mut Network) -> Value {
        network.add(
            "images",
            Op::Images,
            &[],
            &[self.batch, self.side, self.side, 3],
        )
    }

    /// Adds the input and a first convolution, which halves the size of large images.
    fn stem(&self, network: &mut Network, channels: u64) -> Value {
        let images = self.input(network);
        let stride = 1 + u64::from(self.side > 32);
        let x = normalised(network, "stem", images, channels, 3, stride);
        network.each("stem/Relu", Op::Relu, x)
    }

    fn drawn(self, model: String, network: Network) -> Drawn {
        Drawn {
            data: self.data,
            model,
            batch: self.batch,
            network,
        }
    }
}

/// Draws a network with stages of convolutions, followed by dense layers. Each stage has half the
/// size and twice the channels of the previous stage (Simonyan & Zisserman, *Very Deep
/// Convolutional Networks*, 2015).
pub(super) fn plain(batch: Option<u64>, random: &mut ChaCha8Rng) -> Drawn {
    let (images, mut network) = (Images::draw(batch, random), Network::default());
    let (stages, layers) = (random.random_range(4..=5), random.random_range(1..=3));
    let (mut channels, units) = (one(random, &[16, 24, 32]), one(random, &[128, 256, 512]));
    let mut x = images.input(&mut network);
    for stage in 0..stages {
        for layer in 0..layers {
            let name = format!("stage{stage}/conv{layer}");
            x = convolution(&mut network, &name, x, channels, 3, 1);
            x = network.bias(&name, x);
            x = network.each(&format!("{name}/Relu"), Op::Relu, x);
        }
        x = pool(&mut network, &format!("stage{stage}/MaxPool"), x);
        channels = (2 * channels).min(512);
    }
    let elements = network.shape(x)[1..].iter().product();
    x = network.reshape("flatten", x, &[images.batch, elements]);
    for layer in 0..2 {
        x = network.dense(&format!("dense{layer}"), x, units);
        x = network.each(&format!("dense{layer}/Relu"), Op::Relu, x);
    }
    let scores = network.dense("scores", x, images.classes);
    network.loss(scores);
    images.drawn(format!("VGG{}", stages * layers + 3), network)
}

/// Draws a network of blocks whose output is added to their input (He et al., *Deep Residual
/// Learning*, 2016).
pub(super) fn residual(batch: Option<u64>, random: &mut ChaCha8Rng) -> Drawn {
    let (images, mut network) = (Images::draw(batch, random), Network::default());
    let (stages, blocks) = (random.random_range(2..=4), random.random_range(1..=2));
    let (mut channels, bottleneck) = (one(random, &[16, 24, 32]), random.random_bool(0.5));
    let mut x = images.stem(&mut network, channels);
    if images.side > 32 {
        x = pool(&mut network, "stem/MaxPool", x);
    }
    for stage in 0..stages {
        for block in 0..blocks {
            let stride = if stage > 0 && block == 0 { 2 } else { 1 };
            let name = format!("stage{stage}/block{block}");
            x = shortcut(&mut network, &name, x, channels, stride, bottleneck);
        }
        channels *= 2;
    }
    let scores = classifier(&mut network, x, images.classes);
    network.loss(scores);
    let depth = stages * blocks * if bottleneck { 3 } else { 2 } + 2;
    images.drawn(format!("ResNet{depth}"), network)
}

/// Draws a network with depthwise convolutions, each followed by a pointwise convolution (Howard et
/// al., *MobileNets*, 2017).
pub(super) fn separable(batch: Option<u64>, random: &mut ChaCha8Rng) -> Drawn {
    let (images, mut network) = (Images::draw(batch, random), Network::default());
    let (blocks, mut channels) = (random.random_range(5..=11), one(random, &[32, 48, 64]));
    let mut x = images.stem(&mut network, channels);
    for block in 0..blocks {
        let down = block % 3 == 1 && network.shape(x)[1] > 4;
        channels = if down {
            (2 * channels).min(512)
        } else {
            channels
        };
        let name = format!("block{block}/depthwise");
        x = depthwise(&mut network, &name, x, 1 + u64::from(down));
        let name = format!("block{block}/pointwise");
        x = normalised(&mut network, &name, x, channels, 1, 1);
        x = network.each(&format!("{name}/Relu"), Op::Relu, x);
    }
    let scores = classifier(&mut network, x, images.classes);
    network.loss(scores);
    images.drawn(format!("MobileNet{}", 2 * blocks + 2), network)
}

/// Adds a block with a shortcut. The block has either two convolutions, or one convolution between
/// two pointwise convolutions.
fn shortcut(
    network: &mut Network,
    name: &str,
    x: Value,
    channels: u64,
    stride: u64,
    bottleneck: bool,
) -> Value {
    let kernels: &[(u64, u64)] = if bottleneck {
        &[(1, 1), (3, 1), (1, 2)]
    } else {
        &[(3, 1), (3, 1)]
    };
    let mut y = x;
    for (layer, (size, widen)) in kernels.iter().enumerate() {
        let stride = if layer == 0 { stride } else { 1 };
        let name = format!("{name}/conv{layer}");
        y = normalised(network, &name, y, channels * widen, *size, stride);
        if layer + 1 < kernels.len() {
            y = network.each(&format!("{name}/Relu"), Op::Relu, y);
        }
    }
    let mut x = x;
    if network.shape(x) != network.shape(y) {
        let channels = network.shape(y)[3];
        x = normalised(network, &format!("{name}/shortcut"), x, channels, 1, stride);
    }
    let sum = network.both(&format!("{name}/add"), Op::Add, y, x);
    network.each(&format!("{name}/Relu"), Op::Relu, sum)
}

/// Adds global average pooling, and a score for each class.
fn classifier(network: &mut Network, x: Value, classes: u64) -> Value {
    let mean = network.mean("mean", x, &[1, 2], false);
    network.dense("scores", mean, classes)
}

/// Adds a convolution without biases.
fn convolution(
    network: &mut Network,
    name: &str,
    x: Value,
    channels: u64,
    size: u64,
    stride: u64,
) -> Value {
    let image = network.shape(x).to_vec();
    let kernel = network.random(&format!("{name}/kernel"), &[size, size, image[3], channels]);
    let shape = [
        image[0],
        image[1].div_ceil(stride),
        image[2].div_ceil(stride),
        channels,
    ];
    network.add(
        &format!("{name}/Conv2D"),
        Op::Conv { stride },
        &[x, kernel],
        &shape,
    )
}

/// Adds a convolution and a batch normalisation.
fn normalised(
    network: &mut Network,
    name: &str,
    x: Value,
    channels: u64,
    size: u64,
    stride: u64,
) -> Value {
    let y = convolution(network, name, x, channels, size, stride);
    normalisation(network, name, y)
}

/// Adds a depthwise convolution, a batch normalisation and a rectifier.
fn depthwise(network: &mut Network, name: &str, x: Value, stride: u64) -> Value {
    let image = network.shape(x).to_vec();
    let kernel = network.random(&format!("{name}/kernel"), &[3, 3, image[3], 1]);
    let shape = [
        image[0],
        image[1].div_ceil(stride),
        image[2].div_ceil(stride),
        image[3],
    ];
    let op = Op::Depthwise { stride };
    let y = network.add(&format!("{name}/depthwise"), op, &[x, kernel], &shape);
    let y = normalisation(network, name, y);
    network.each(&format!("{name}/Relu"), Op::Relu, y)
}

/// Adds a batch normalisation.
fn normalisation(network: &mut Network, name: &str, x: Value) -> Value {
    let shape = network.shape(x).to_vec();
    let scale = network.constant(&format!("{name}/gamma"), &shape[3..]);
    let offset = network.constant(&format!("{name}/beta"), &shape[3..]);
    network.add(
        &format!("{name}/FusedBatchNorm"),
        Op::BatchNorm,
        &[x, scale, offset],
        &shape,
    )
}

/// Adds max pooling over windows of 2 × 2 pixels.
fn pool(network: &mut Network, name: &str, x: Value) -> Value {
    let image = network.shape(x);
    let shape = [
        image[0],
        image[1].div_ceil(2),
        image[2].div_ceil(2),
        image[3],
    ];
    network.add(name, Op::MaxPool { stride: 2 }, &[x], &shape)
}
