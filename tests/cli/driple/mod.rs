//! Tests `gleaner driple`, `gleaner synth graphs`, and simulations with predicted profiles.

mod build;
mod convert;
mod evaluate;
mod first_run;
mod interrupt;
mod predict;
mod profiles;
mod simulate;
mod support;
mod train;
