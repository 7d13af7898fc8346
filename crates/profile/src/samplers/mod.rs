//! The samplers, and helper modules that the samplers use.

mod account;
mod cpu;
mod machine;
mod nvml;
mod tree;

pub(crate) use cpu::CpuSampler;
pub(crate) use nvml::NvmlSampler;

/// Number of bytes in a MiB, the unit of memory in tables.
const MIB: f64 = 1_048_576.0;
