//! Inputs for the tests of the readers.

use std::path::{Path, PathBuf};

use tempfile::TempDir;

use gleaner_domain::error::Result;
use gleaner_domain::{Cluster, VirtualCluster, Workload};

/// A temporary file with a given name and content. Its temporary folder is deleted when the value is dropped.
pub struct Input {
    _folder: TempDir,
    path: PathBuf,
}

impl Input {
    pub fn new(name: &str, content: impl AsRef<[u8]>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        std::fs::write(&path, content).unwrap();
        Input {
            _folder: folder,
            path,
        }
    }

    pub fn csv(content: &str) -> Self {
        Input::new("t.csv", content)
    }

    pub fn path(&self) -> &Path {
        &self.path
    }
}

/// A cluster of VC `a` with 2 nodes and VC `b` with 1 node, with 8 GPUs per node.
pub fn cluster() -> Cluster {
    let vc = |name: &str, nodes| VirtualCluster {
        name: name.to_owned(),
        nodes,
    };
    Cluster {
        vcs: vec![vc("a", 2), vc("b", 1)],
        gpus_per_node: 8,
    }
}

/// A workload of this model on CIFAR-10, with batch size 64 and without mixed precision.
pub fn workload(model: &str) -> Workload {
    Workload {
        model: model.to_owned(),
        dataset: "CIFAR-10".to_owned(),
        batch_size: 64,
        amp: false,
    }
}

/// Returns the message of a result. The result must be an error about faulty data.
#[track_caller]
pub fn fault<T>(result: Result<T>) -> String {
    let Err(error) = result else {
        panic!("expected a fault");
    };
    assert_eq!(error.exit_code(), 3, "{error}");
    error.to_string()
}

/// Asserts that a message contains all of `parts`.
#[track_caller]
pub fn assert_has(message: &str, parts: &[&str]) {
    for part in parts {
        assert!(message.contains(part), "{part:?} is not in: {message}");
    }
}
