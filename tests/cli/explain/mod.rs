//! Tests `gleaner explain` on models of the sample cluster.

mod escapes;
mod faults;
mod pages;
mod predictions;
mod rules;
mod support;
mod terms;
