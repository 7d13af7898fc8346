//! Pages and pictures about runs, written from the command line.

mod broken;
mod browser;
mod compared;
mod inspected;
mod large;
mod numbers;
mod page;
mod searched;
mod stopped;
mod support;
mod swept;
