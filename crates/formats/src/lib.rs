//! Readers and writers: every format of inputs to domain types, and results to bytes.

pub mod ingest;
pub mod output;
