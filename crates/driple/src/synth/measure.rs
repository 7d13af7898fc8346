//! The resources that training consumes, according to the model that [`Setup`] documents.

use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, Normal};

use super::cost::Cost;
use super::setup::Setup;
use crate::graph::METRICS;

/// The strength of the noise. Each value is multiplied by a random factor, and the logarithms of
/// these factors have this standard deviation.
const NOISE: f64 = 0.03;

/// The size, in bytes, of a transfer whose peak rate is half of the network's bandwidth.
const RAMP: f64 = 4e6;

/// The metrics of a job, with noise.
pub(super) fn measure(
    setup: &Setup,
    cost: &Cost,
    synchronous: bool,
    random: &mut ChaCha8Rng,
) -> [f32; METRICS] {
    let mut figures = exact(setup, cost, synchronous);
    for (index, figure) in figures.iter_mut().enumerate() {
        *figure *= factor(random);
        // Peaks of the GPU and its memory are percentages, so they are limited to 100.
        if matches!(index, 2 | 5) {
            *figure = figure.min(100.0);
        }
    }
    figures.map(|figure| figure as f32)
}

/// Draws the random factor of a value.
fn factor(random: &mut ChaCha8Rng) -> f64 {
    Normal::new(0.0, NOISE).map_or(1.0, |normal| normal.sample(random).exp())
}

/// The metrics without noise.
pub(super) fn exact(setup: &Setup, cost: &Cost, synchronous: bool) -> [f64; METRICS] {
    let moving = cost.moved / setup.bandwidth;
    let work = cost.operations / setup.speed + moving;
    let gaps = cost.kernels * setup.launch;
    let compute = work + gaps;
    let workers = f64::from(setup.workers.max(1));
    let others = (workers - 1.0) / workers;
    let (received, sent) = (cost.fetched * others, cost.sent * others);
    let transfer = received.max(sent) / setup.network;
    let slowest = if synchronous { 0.1 * compute } else { 0.0 };
    let wait = transfer * transfer / (transfer + compute) + slowest;
    let step = compute + wait;
    let network = |bytes: f64| {
        let active = bytes / setup.network;
        [
            step - active,
            active,
            setup.network / 1e6 * bytes / (bytes + RAMP),
        ]
    };
    let ([rx_idle, rx, rx_peak], [tx_idle, tx, tx_peak]) = (network(received), network(sent));
    [
        step - moving,
        moving,
        100.0 * moving / compute,
        wait + gaps,
        work,
        100.0 * work / compute,
        rx_idle,
        rx,
        rx_peak,
        tx_idle,
        tx,
        tx_peak,
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The expected values are computed by hand, for round numbers, from the formulas that `Setup`
    /// documents.
    #[test]
    fn figures_are_those_of_the_documented_model() {
        let setup = Setup {
            speed: 100.0,
            bandwidth: 10.0,
            launch: 0.25,
            workers: 2,
            network: 2e6,
            ..Setup::V100
        };
        let cost = Cost {
            operations: 300.0,
            moved: 10.0,
            kernels: 16.0,
            fetched: 32e6,
            sent: 8e6,
        };
        // `work` is 3 + 1 = 4, `gaps` is 4, `transfer` is 16e6 / 2e6 = 8, `wait` is 8 × 8 / 16 = 4,
        // and `step` is 12.
        let expected = [
            11.0, 1.0, 12.5, 8.0, 4.0, 50.0, 4.0, 8.0, 1.6, 10.0, 2.0, 1.0,
        ];
        let apart = exact(&setup, &cost, false);
        assert_eq!(apart, expected);
        let together = exact(&setup, &cost, true);
        let later = [0, 3, 6, 9].map(|index| together[index] - apart[index]);
        assert!(
            later.iter().all(|later| (later - 0.8).abs() < 1e-12),
            "{later:?}"
        );
    }
}
