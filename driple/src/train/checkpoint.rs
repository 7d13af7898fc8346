//! Checkpoints: where a training stands, as a file.
