//! Files in which proptest saves failing cases.

use std::any::Any;
use std::fmt::Debug;
use std::path::{Component, Path, PathBuf};

use proptest::test_runner::{FailurePersistence, FileFailurePersistence, PersistedSeed};

use super::workspace;

/// A folder with a file of failing cases for each source file that has property tests. By default, proptest saves cases
/// near the source, at different places for `src/` and `tests/`. Two source files with the same name in different test
/// folders would then share one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SavedCases {
    folder: PathBuf,
}

impl SavedCases {
    /// The cases in the folder `proptest-regressions/` of the workspace, which git ignores.
    #[must_use]
    pub fn in_workspace() -> Self {
        Self::at(workspace().join("proptest-regressions"))
    }

    /// The cases in `folder`, which is created when the first case is saved.
    #[must_use]
    pub fn at(folder: PathBuf) -> Self {
        SavedCases { folder }
    }

    /// The file with the saved cases of `source`. Its path within the folder is the path of `source` within the
    /// workspace, with the extension `.txt`.
    #[must_use]
    pub fn file(&self, source: &str) -> PathBuf {
        let source = Path::new(source);
        let inside = source.strip_prefix(workspace()).unwrap_or(source);
        let names = inside
            .components()
            .filter(|part| matches!(part, Component::Normal(_)));
        let path = self.folder.join(names.collect::<PathBuf>());
        path.with_extension("txt")
    }

    /// Returns the object with which proptest reads and writes the failing cases of `source`.
    fn of(&self, source: &str) -> FileFailurePersistence {
        // proptest requires a path with a static lifetime, so the path is leaked. At most two
        // paths are leaked per test.
        let path = self.file(source).to_string_lossy().into_owned();
        FileFailurePersistence::Direct(path.leak())
    }
}

impl FailurePersistence for SavedCases {
    fn load_persisted_failures2(&self, source: Option<&'static str>) -> Vec<PersistedSeed> {
        source.map_or_else(Vec::new, |source| {
            self.of(source).load_persisted_failures2(None)
        })
    }

    fn save_persisted_failure2(
        &mut self,
        source: Option<&'static str>,
        seed: PersistedSeed,
        value: &dyn Debug,
    ) {
        if let Some(source) = source {
            self.of(source).save_persisted_failure2(None, seed, value);
        }
    }

    fn box_clone(&self) -> Box<dyn FailurePersistence> {
        Box::new(self.clone())
    }

    fn eq(&self, other: &dyn FailurePersistence) -> bool {
        other.as_any().downcast_ref() == Some(self)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
