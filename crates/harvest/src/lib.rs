//! Trains elastic tasks on the idle nodes of a live cluster, with the same allocator as in replays of logs.

pub mod backend;
pub mod client;
pub mod config;
pub mod core;
pub mod daemon;
pub mod frames;
pub mod journal;
pub mod metrics;
pub mod page;
pub mod pilot;
pub mod record;
pub mod state_dir;
pub mod status;
pub mod task_file;
pub mod tls;
pub mod wire;
