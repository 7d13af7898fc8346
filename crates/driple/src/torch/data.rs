//! Reads the published data sets: tuples `(adjacency, features, labels)` of three dicts. Each dict
//! holds the batches of `train`, `val` and `test`.

use super::objects::{Object, Value};
use super::{Saved, TorchError, open};
use crate::dataset::arrays::{Array, examples};
use crate::dataset::{Batches, Dataset};

const LAYOUT: &str = "a tuple of adjacencies, features and labels, each a dict with a list of \
                      tensors for each of train, val and test";

/// Reads a data set in the format that the published builder saves. Examples have no names.
///
/// # Errors
/// The file is damaged. Its objects are not tensors in the published arrangement. A batch does not
/// consist of undirected graphs with finite numbers.
pub fn dataset(bytes: &[u8]) -> Result<Dataset, TorchError> {
    let saved = open(bytes)?;
    let Object::Tuple(&[adjacency, features, labels]) = saved.object(saved.pickle.root) else {
        return Err(layout("the saved object", &saved, saved.pickle.root));
    };
    let arrays = [adjacency, features, labels];
    let data = Dataset {
        train: saved.part("train", arrays)?,
        val: saved.part("val", arrays)?,
        test: saved.part("test", arrays)?,
    };
    if data == Dataset::default() {
        Err(TorchError::Layout {
            place: "the data set".to_owned(),
            found: "without batches".to_owned(),
            expected: LAYOUT,
        })
    } else {
        Ok(data)
    }
}

/// Whether a file holds a tuple, as the published data sets do. Files with weights hold a dict
/// instead.
///
/// # Errors
/// If the file is damaged.
pub fn is_dataset(bytes: &[u8]) -> Result<bool, TorchError> {
    let saved = open(bytes)?;
    let root = saved.object(saved.pickle.root);
    Ok(matches!(root, Object::Tuple(_)))
}

fn layout<'a>(place: &str, saved: &Saved<'a>, value: Value<'a>) -> TorchError {
    TorchError::Layout {
        place: place.to_owned(),
        found: saved.describe(value),
        expected: LAYOUT,
    }
}

impl<'a> Saved<'a> {
    /// Converts the arrays of a part to batches of examples.
    fn part(&self, part: &str, arrays: [Value<'a>; 3]) -> Result<Batches, TorchError> {
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

    /// The tensors of a part, one for each batch, from one of the three dicts.
    fn list(&self, part: &str, dict: Value<'a>, name: &str) -> Result<Vec<Value<'a>>, TorchError> {
        let Object::Dict(entries) = self.object(dict) else {
            return Err(layout(&format!("the entry for {name}"), self, dict));
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
        match self.object(list) {
            Object::List(items) => {
                self.spend(items.len())?;
                Ok(items.to_vec())
            }
            _ => Err(layout(&format!("{part} of {name}"), self, list)),
        }
    }

    fn array(&self, batch: &str, value: Value<'a>, name: &str) -> Result<Array, TorchError> {
        let place = || format!("{name} of batch {batch}");
        let Object::Tensor(view) = self.object(value) else {
            return Err(layout(&place(), self, value));
        };
        let tensor = self.tensor(&view, &place)?;
        Ok(Array {
            values: tensor.to_f32(),
            shape: tensor.shape,
        })
    }
}
