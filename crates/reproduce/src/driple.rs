//! Driple: outputs of the network with its published weights, and training with and without transfer.

mod outputs;
mod training;

use gleaner_domain::Observer;
use gleaner_domain::error::{Fault, Result};
use gleaner_domain::results::reproduce::System;
use gleaner_driple::model::Weights;
use gleaner_inputs::driple::model::{Found, any};

use crate::Part;
use crate::files::Data;
use crate::filled::Values;

/// Reproduces Driple's outputs and training runs.
pub(super) fn reproduce<'c>(data: Data<'_>, observer: &'c dyn Observer) -> Result<Part<'c>> {
    let mut part = Part::new(System::Driple, observer)?;
    part.add("driple-abstract", &Values::default())?;
    outputs::add(&mut part, data)?;
    training::add(&mut part, data)?;
    part.finish()
}

/// The weights stored in a file.
fn weights(part: &mut Part<'_>, data: Data<'_>, name: &str) -> Result<Weights> {
    let path = data.file(&format!("driple/{name}"));
    match part.take(any(&path)?) {
        Found::Weights(weights) => Ok(weights),
        _ => Err(Fault::of(&path, "no network weights", "a file of network weights").into()),
    }
}
