//! The placeholders in the commands of plans, and their replacement.

use super::config::listed;
use super::{Config, SamplerKind, Settings};

/// The placeholder for the number of samples in a batch.
pub(super) const BATCH: &str = "{batch}";
/// The placeholder that becomes 1 with mixed precision, and 0 otherwise.
pub(super) const AMP: &str = "{amp}";
/// The placeholder for the length of the window in seconds.
const SECONDS: &str = "{seconds}";
/// The placeholder for the devices, or for the cores if cores are measured, separated by commas.
const DEVICES: &str = "{devices}";
/// The placeholder for the type of device, as PyTorch names it.
const DEVICE: &str = "{device}";
/// The placeholder for the number of processes.
pub(super) const PROCESSES: &str = "{processes}";

/// Replaces the placeholders in a word of a command. Other braces are kept.
pub(super) fn fill(word: &str, config: Config, settings: &Settings, processes: u32) -> String {
    let devices = if settings.devices.is_empty() {
        listed(&settings.cores)
    } else {
        listed(&settings.devices)
    };
    let device = match settings.sampler {
        SamplerKind::Cpu => "cpu",
        SamplerKind::Nvml => "cuda",
    };
    word.replace(BATCH, &config.batch_size.to_string())
        .replace(AMP, &u32::from(config.amp).to_string())
        .replace(SECONDS, &settings.seconds.to_string())
        .replace(DEVICES, &devices)
        .replace(DEVICE, device)
        .replace(PROCESSES, &processes.to_string())
}
