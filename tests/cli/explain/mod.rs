//! `gleaner explain` on models of the sample cluster, as a user runs it.

mod escapes;
mod faults;
mod pages;
mod predictions;
mod rules;
mod support;
mod terms;
