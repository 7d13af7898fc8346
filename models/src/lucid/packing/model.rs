//! The model: a tree, and the features it was grown on.

use serde::{Deserialize, Serialize};

use super::{Features, Profile, Shared, row, scores};
use crate::lucid::Usage;
use crate::tree::{Settings, Tree, TreeError};

/// How the published tree is pruned: no more than what gains nothing.
pub const SETTINGS: Settings = Settings {
    ccp_alpha: 1e-4,
    max_depth: None,
    min_leaf: 1,
};

/// A trained model of sharing scores.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Saved")]
pub struct PackingModel {
    features: Features,
    tree: Tree,
}

/// A model as it is saved, not yet checked.
#[derive(Deserialize)]
struct Saved {
    features: Features,
    tree: Tree,
}

impl TryFrom<Saved> for PackingModel {
    type Error = String;

    fn try_from(saved: Saved) -> Result<Self, String> {
        let names = saved.features.names();
        if saved.tree.features() != names {
            let found = saved.tree.features().join(", ");
            return Err(format!(
                "the tree asks for {found}, but has to for {}",
                names.join(", ")
            ));
        }
        Ok(PackingModel {
            features: saved.features,
            tree: saved.tree,
        })
    }
}

impl PackingModel {
    /// Learns the scores of profiles. `shared` has a row for each, and counts only where the
    /// features take it.
    ///
    /// # Errors
    /// Where there is no profile, not a row of `shared` for each, or a value is infinite.
    pub fn fit(
        features: Features,
        profiles: &[Profile],
        shared: &[Shared],
        settings: Settings,
    ) -> Result<Self, TreeError> {
        let table = features.table(profiles, shared);
        let tree = Tree::fit(&table, &scores(profiles), settings)?;
        Ok(PackingModel { features, tree })
    }

    /// What the model goes by.
    pub fn features(&self) -> Features {
        self.features
    }

    /// The tree.
    pub fn tree(&self) -> &Tree {
        &self.tree
    }

    /// The values that the tree asks for, in its order.
    pub fn row(&self, amp: bool, usage: &Usage, shared: &Shared) -> Vec<f64> {
        row(amp, usage, shared)[..self.features.names().len()].to_vec()
    }

    /// The sharing score of a workload: with or without mixed precision, what it does alone, and
    /// how it fares beside others, which a model by [`Features::Profile`] does not ask for.
    pub fn score(&self, amp: bool, usage: &Usage, shared: &Shared) -> u8 {
        self.tree.class(&self.row(amp, usage, shared))
    }
}
