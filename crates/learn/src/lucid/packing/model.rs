//! The packing model: a tree and the features that it was grown on.

use serde::{Deserialize, Serialize};

use super::{Features, Profile, Shared, row, scores};
use crate::lucid::Usage;
use crate::tree::{Settings, Tree, TreeError};

/// Settings of the published tree. Pruning is weak and removes only splits that gain almost
/// nothing.
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

/// A model as read from a file, before validation.
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
                "the tree uses {found}, but must use {}",
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
    /// Trains a model on the scores of profiles. `shared` has one row per profile, and is used only
    /// with [`Features::WithPairs`].
    ///
    /// # Errors
    /// There is no profile, `shared` does not have one row per profile, or a value is infinite.
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

    /// The features that the model uses.
    pub fn features(&self) -> Features {
        self.features
    }

    /// The tree that predicts scores.
    pub fn tree(&self) -> &Tree {
        &self.tree
    }

    /// The values of the tree's features, in the tree's order.
    pub fn row(&self, amp: bool, usage: &Usage, shared: &Shared) -> Vec<f64> {
        row(amp, usage, shared)[..self.features.names().len()].to_vec()
    }

    /// Predicts the sharing score of a workload: 0, 1 or 2. `amp` is true if the workload uses
    /// mixed precision. `usage` is its GPU usage when it runs alone, and `shared` is its speed when
    /// it shares a GPU. A model with [`Features::Profile`] ignores `shared`.
    pub fn score(&self, amp: bool, usage: &Usage, shared: &Shared) -> u8 {
        self.tree.class(&self.row(amp, usage, shared))
    }
}
