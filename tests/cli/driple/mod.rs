//! `gleaner driple` and `gleaner synth graphs` run from the command line, and the use of
//! predictions.

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
