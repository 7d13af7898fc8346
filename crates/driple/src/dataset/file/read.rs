//! Reads data sets from safetensors files.

use std::collections::BTreeMap;

use safetensors::tensor::{Dtype, SafeTensors, TensorView};

use super::manifest;
use super::name::{FIELDS, MAXIMUM, Name};
use super::{DatasetError, Manifest};
use crate::dataset::arrays::{Array, ArrayFault, examples};
use crate::dataset::{Batches, Dataset, Example};
use crate::graph::METRICS;

/// Tensors by parsed name, each with its name as written in the file.
type Tensors<'a> = BTreeMap<Name, (String, TensorView<'a>)>;

/// Reads a data set and its manifest from the bytes of a safetensors file in the format that
/// [`super`] describes.
///
/// # Errors
/// The file is incomplete. A tensor is missing, unknown, or of the wrong type or shape. An
/// adjacency matrix does not describe an undirected graph. A number is not finite. The manifest or
/// `y_train_max` does not match the data.
pub fn read(bytes: &[u8]) -> Result<(Dataset, Manifest), DatasetError> {
    let format = |error: &dyn std::fmt::Display| DatasetError::Format(error.to_string());
    let (_, header) = SafeTensors::read_metadata(bytes).map_err(|error| format(&error))?;
    let file = SafeTensors::deserialize(bytes).map_err(|error| format(&error))?;
    let (tensors, maximum) = sorted(&file)?;
    if tensors.is_empty() {
        return Err(DatasetError::Empty);
    }
    let mut data = Dataset {
        train: batches(&tensors, 0)?,
        val: batches(&tensors, 1)?,
        test: batches(&tensors, 2)?,
    };
    if let Some(maximum) = maximum {
        check_maximum(&array(MAXIMUM, &maximum, &[Dtype::F32])?, &data)?;
    }
    let metadata = header.metadata().as_ref();
    let manifest = match metadata.and_then(|texts| texts.get("gleaner")) {
        Some(json) => manifest::from_json(json, &mut data)?,
        None => Manifest::default(),
    };
    Ok((data, manifest))
}

/// Separates the tensors of the batches from `y_train_max`, the tensor with the largest value of
/// each label.
fn sorted<'a>(
    file: &SafeTensors<'a>,
) -> Result<(Tensors<'a>, Option<TensorView<'a>>), DatasetError> {
    let mut tensors = Tensors::new();
    let mut maximum = None;
    let mut all = file.tensors();
    all.sort_by(|(a, _), (b, _)| a.cmp(b));
    for (text, tensor) in all {
        if text == MAXIMUM {
            maximum = Some(tensor);
            continue;
        }
        let name = Name::parse(&text).ok_or_else(|| DatasetError::Name(text.clone()))?;
        if let Some((other, _)) = tensors.insert(name, (text.clone(), tensor)) {
            return Err(DatasetError::Twice(other, text));
        }
    }
    Ok((tensors, maximum))
}

/// Reads the batches of a part. If a batch or run is missing from the sequence, the error names the
/// first tensor of that batch or run.
fn batches(tensors: &Tensors, part: usize) -> Result<Batches, DatasetError> {
    let mut batches = Batches::new();
    let from = |batch, run| Name {
        part,
        batch,
        run,
        field: 0,
    };
    let ends = |batch| Name {
        batch,
        ..from(usize::MAX, usize::MAX)
    };
    while any(tensors, from(batches.len(), 0), ends(usize::MAX)) {
        let batch = batches.len();
        let mut graphs = Vec::new();
        let mut run = 0;
        while run == 0 || any(tensors, from(batch, run), ends(batch)) {
            graphs.extend(self::run(tensors, from(batch, run))?);
            run += 1;
        }
        batches.push(graphs);
    }
    Ok(batches)
}

/// Whether there is a tensor whose name lies between `from` and `to`, inclusive.
fn any(tensors: &Tensors, from: Name, to: Name) -> bool {
    tensors.range(from..=to).next().is_some()
}

/// Reads the examples of a run, whose graphs are of equal size.
fn run(tensors: &Tensors, name: Name) -> Result<Vec<Example>, DatasetError> {
    let get = |field| {
        let name = Name { field, ..name };
        let missing = || DatasetError::Missing(name.text(has_runs(tensors, name)));
        let (text, tensor) = tensors.get(&name).ok_or_else(missing)?;
        let expected: &[Dtype] = match FIELDS[field] {
            "adj" => &[Dtype::U8, Dtype::BOOL, Dtype::F32],
            _ => &[Dtype::F32],
        };
        array(text, tensor, expected)
    };
    examples(&get(0)?, &get(1)?, &get(2)?).map_err(|fault| DatasetError::Arrays {
        batch: name.batch_text(has_runs(tensors, name)),
        fault,
    })
}

/// Whether the tensor names of a batch contain the index of a run, as in `train.0.1.adj`.
fn has_runs(tensors: &Tensors, name: Name) -> bool {
    let of_batch = |other: &Name| other.part == name.part && other.batch == name.batch;
    let mut names = tensors.iter().filter(|(other, _)| of_batch(other));
    names.any(|(_, (text, _))| text.matches('.').count() == 3)
}

/// The values of a tensor. The type of the tensor must be one of `expected`.
fn array(
    name: &str,
    tensor: &TensorView,
    expected: &'static [Dtype],
) -> Result<Array, DatasetError> {
    let bytes = tensor.data();
    let values = match tensor.dtype() {
        Dtype::U8 | Dtype::BOOL if expected.contains(&tensor.dtype()) => {
            bytes.iter().map(|&byte| f32::from(byte)).collect()
        }
        Dtype::F32 => {
            let words = bytes.as_chunks().0.iter();
            words.map(|&word| f32::from_le_bytes(word)).collect()
        }
        other => {
            return Err(DatasetError::Type {
                tensor: name.to_owned(),
                found: format!("{other:?}"),
                expected: if expected.len() > 1 {
                    "U8, BOOL or F32"
                } else {
                    "F32"
                },
            });
        }
    };
    Ok(Array {
        shape: tensor.shape().to_vec(),
        values,
    })
}

/// Checks that the stored maxima equal the largest training labels.
fn check_maximum(stored: &Array, data: &Dataset) -> Result<(), DatasetError> {
    if stored.shape != [METRICS] {
        let fault = ArrayFault::Shape {
            array: "maxima",
            found: stored.shape.clone(),
            expected: format!("[{METRICS}]"),
        };
        return Err(DatasetError::Arrays {
            batch: MAXIMUM.to_owned(),
            fault,
        });
    }
    let Some(found) = data.largest_labels() else {
        return Ok(());
    };
    let pairs = stored.values.iter().zip(found).enumerate();
    for (label, (&stored, found)) in pairs {
        if stored != found {
            return Err(DatasetError::Maximum {
                label,
                stored,
                found,
            });
        }
    }
    Ok(())
}
