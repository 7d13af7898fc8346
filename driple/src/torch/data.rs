//! The published data sets: `(adjacency, features, labels)`, each a dict of the batches of `train`,
//! `val` and `test`.

use super::value::{Node, Value};
use super::{Saved, TorchError, open};
use crate::dataset::arrays::{Array, examples};
use crate::dataset::{Batches, Dataset};

const LAYOUT: &str = "a tuple of adjacencies, features and labels, each a dict of train, val and \
                      test with a list of tensors";

/// Reads a data set as the published builder saves it. Examples have no names.
///
/// # Errors
/// Where the file is damaged, holds anything but tensors in such an order, or a batch is not of
/// undirected graphs with finite numbers.
pub fn dataset(bytes: &[u8]) -> Result<Dataset, TorchError> {
    let mut saved = open(bytes)?;
    let arrays = match saved.pickle.node(saved.pickle.root) {
        Some(Node::Tuple(arrays)) => arrays.as_slice(),
        _ => &[],
    };
    let &[adjacency, features, labels] = arrays else {
        return Err(layout("the saved object", &saved, saved.pickle.root));
    };
    let arrays = [adjacency, features, labels];
    let data = Dataset {
        train: saved.part("train", arrays)?,
        val: saved.part("val", arrays)?,
        test: saved.part("test", arrays)?,
    };
    match data == Dataset::default() {
        true => Err(TorchError::Layout {
            place: "the data set".to_owned(),
            found: "without batches".to_owned(),
            expected: LAYOUT,
        }),
        false => Ok(data),
    }
}

/// Whether a file holds a tuple, as published data sets do, and not a dict of weights.
///
/// # Errors
/// Where the file is damaged.
pub fn is_dataset(bytes: &[u8]) -> Result<bool, TorchError> {
    let saved = open(bytes)?;
    let root = saved.pickle.node(saved.pickle.root);
    Ok(matches!(root, Some(Node::Tuple(_))))
}

fn layout(place: &str, saved: &Saved, value: Value) -> TorchError {
    TorchError::Layout {
        place: place.to_owned(),
        found: saved.pickle.describe(value).to_owned(),
        expected: LAYOUT,
    }
}

impl<'a> Saved<'a> {
    /// The batches of a part.
    fn part(&mut self, part: &str, arrays: [Value<'a>; 3]) -> Result<Batches, TorchError> {
        let [adjacency, features, labels] = [
            self.list(part, arrays[0], "adjacencies")?,
            self.list(part, arrays[1], "features")?,
            self.list(part, arrays[2], "labels")?,
        ];
        let lens = [adjacency.len(), features.len(), labels.len()];
        if lens != [adjacency.len(); 3] {
            return Err(TorchError::Layout {
                place: format!("the number of batches of {part}"),
                found: format!("{lens:?} in adjacencies, features and labels"),
                expected: "the same in each",
            });
        }
        let mut batches = Batches::with_capacity(adjacency.len());
        for (number, adjacency) in adjacency.into_iter().enumerate() {
            let batch = format!("{part} {number}");
            let adjacency = self.array(&batch, adjacency, "adjacency")?;
            let features = self.array(&batch, features[number], "features")?;
            let labels = self.array(&batch, labels[number], "labels")?;
            let examples = examples(&adjacency, &features, &labels);
            batches.push(examples.map_err(|fault| TorchError::Arrays { batch, fault })?);
        }
        Ok(batches)
    }

    /// The batches of a part in one of the three dicts.
    fn list(
        &mut self,
        part: &str,
        dict: Value<'a>,
        name: &str,
    ) -> Result<Vec<Value<'a>>, TorchError> {
        let Some(Node::Dict(entries)) = self.pickle.node(dict) else {
            return Err(layout(&format!("the object of {name}"), self, dict));
        };
        let of_part = entries
            .iter()
            .rev()
            .find(|(key, _)| *key == Value::Text(part));
        let Some(&(_, list)) = of_part else {
            return Err(TorchError::Layout {
                place: format!("the dict of {name}"),
                found: format!("without {part}"),
                expected: LAYOUT,
            });
        };
        match self.pickle.node(list) {
            Some(Node::List(items)) => {
                let items = items.clone();
                self.budget.spend(items.len())?;
                Ok(items)
            }
            _ => Err(layout(&format!("{part} of {name}"), self, list)),
        }
    }

    fn array(&mut self, batch: &str, value: Value, name: &str) -> Result<Array, TorchError> {
        let place = || format!("{name} of batch {batch}");
        match self.tensor(value, &place)? {
            Some(tensor) => Ok(Array {
                values: tensor.to_f32(),
                shape: tensor.shape,
            }),
            None => Err(layout(&place(), self, value)),
        }
    }
}
