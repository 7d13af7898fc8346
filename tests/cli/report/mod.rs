//! Pages and pictures about runs, written by the program as a user runs it.

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
