//! The classes of a log's nodes, read from a file.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use gleaner_domain::error::Result;
use gleaner_domain::{EventLog, NodeClasses, Observer};
use gleaner_inputs::node_classes;
use gleaner_inputs::node_classes::Choice;
use gleaner_io::Loaded;

use crate::settings;
use crate::settings::Spec;

settings! {
    /// The classes of a log's nodes.
    #[derive(Debug, Clone, Serialize, Deserialize)]
    pub struct ClassArgs {
        /// Classes of the nodes, such as types of GPUs: TOML, CSV with the columns node and class, or the output of
        /// `scontrol show nodes`, `sinfo -N -o "%N %G %f"` or `pbsnodes -av` (dataset/README.md). They replace the
        /// classes in the event log.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub classes: Option<PathBuf> = None => Spec::of("FILE");
        /// Slurm features, separated by commas, that serve as classes for nodes without GPUs of a known type. If a node
        /// has several of these features, the one that comes first in the option is used.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub class_feature: Vec<String> = Vec::new() => Spec::of("NAME").separated_by(',').requires("classes");
        /// PBS resource whose value is the class, such as gputype.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub class_resource: Option<String> = None => Spec::of("NAME").requires("classes");
    }
}

impl ClassArgs {
    /// Reads the classes of `nodes`. Returns `None` if no file is given.
    ///
    /// # Errors
    /// The file is faulty, or a node has no class.
    pub fn read(
        &self,
        nodes: &[String],
        observer: &dyn Observer,
    ) -> Result<Option<Loaded<NodeClasses>>> {
        let Some(file) = &self.classes else {
            return Ok(None);
        };
        let choice = Choice {
            features: &self.class_feature,
            resource: self.class_resource.as_deref(),
        };
        let read = node_classes::read(file, &choice, nodes)?;
        observer.remark(&read.notes);
        Ok(Some(read))
    }

    /// Replaces the classes of the log's nodes with the classes in the file, if a file is given.
    ///
    /// # Errors
    /// Same as [`ClassArgs::read`].
    pub fn apply(
        &self,
        log: Loaded<EventLog>,
        observer: &dyn Observer,
    ) -> Result<Loaded<EventLog>> {
        let Some(classes) = self.read(log.value.nodes(), observer)? else {
            return Ok(log);
        };
        Ok(Loaded {
            value: log.value.with_classes(Some(classes.value)),
            sources: [log.sources, classes.sources].concat(),
            notes: log.notes,
        })
    }
}
