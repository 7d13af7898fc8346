//! Options that control the grouping of operations.

use std::path::Path;

use clap::Args;
use gleaner_driple::features::Frequencies;
use gleaner_driple::graph::Graph;
use gleaner_driple::group::{self, Devices, Grouping, Settings};

use gleaner_domain::error::{Fault, Result};
use gleaner_inputs::driple::graph;

/// Reads a graph and groups its operations.
///
/// # Errors
/// The file cannot be read, or its graph cannot be grouped with these settings.
pub fn read(
    path: &Path,
    settings: &Settings,
    frequencies: &Frequencies,
) -> Result<(Graph, Grouping)> {
    let graph = graph::read(path)?;
    let grouping = group::group(&graph, frequencies, settings);
    let grouping = grouping.map_err(|error| Fault::told(path, error))?;
    Ok((graph, grouping))
}

/// Grouping of operations.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Grouping")]
pub struct GroupingArgs {
    /// Number of groups per graph; the model treats each group as one node [default: 100].
    #[arg(long, value_name = "COUNT")]
    groups: Option<usize>,
    /// If a graph has fewer operations than groups, make each operation a group.
    #[arg(long)]
    fewer_groups: bool,
    /// If no operation of a graph has a device, assume that all of them run on a GPU.
    #[arg(long)]
    unplaced: bool,
}

impl GroupingArgs {
    /// The default settings with the given options applied.
    pub fn settings(&self, seed: u64) -> Settings {
        self.over(Settings {
            seed,
            ..Settings::default()
        })
    }

    /// `settings`, with the given options applied.
    pub fn over(&self, settings: Settings) -> Settings {
        Settings {
            groups: self.groups.unwrap_or(settings.groups),
            allow_fewer: self.fewer_groups || settings.allow_fewer,
            devices: if self.unplaced {
                Devices::GpuOrUnplaced
            } else {
                settings.devices
            },
            ..settings
        }
    }

    /// The number of groups, if it was given as an option.
    pub fn groups(&self) -> Option<usize> {
        self.groups
    }
}
