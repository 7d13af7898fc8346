//! `gleaner driple` and `gleaner synth graphs` as a user runs them, and the use of predictions.

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
