//! Weights by name, as in safetensors files.

use std::collections::BTreeMap;

use ndarray::Array2;
use safetensors::tensor::{Dtype, SafeTensors, TensorView};

use crate::nn::{Parameters, Real};

/// The reason why weights cannot be used.
#[derive(Debug, thiserror::Error, PartialEq)]
pub enum WeightsError {
    /// The file is not a safetensors file.
    #[error("not a safetensors file: {0}")]
    Format(String),
    /// A tensor has values of the wrong type.
    #[error("tensor {name:?} has values of type {found}, expected F32 or F64")]
    Type {
        /// The name of the tensor.
        name: String,
        /// The type of its values.
        found: String,
    },
    /// A value is infinite or NaN.
    #[error("tensor {name:?} has the value {value} at index {place}, expected a finite number")]
    NotFinite {
        /// The name of the tensor.
        name: String,
        /// The infinite value or NaN.
        value: f64,
        /// The index of the value, counted row by row from 0.
        place: usize,
    },
    /// A tensor that the network needs is missing.
    #[error("tensor {name:?} is missing; the network needs it with the shape {shape:?}")]
    Missing {
        /// The name of the tensor.
        name: String,
        /// The shape that the network needs.
        shape: Vec<usize>,
    },
    /// The network has no tensor of this name.
    #[error("the network has no tensor {0:?}: check the architecture")]
    Unknown(String),
    /// A tensor has the wrong shape.
    #[error("tensor {name:?} has the shape {found:?}, but the network needs {expected:?}")]
    Shape {
        /// The name of the tensor.
        name: String,
        /// The shape of the tensor.
        found: Vec<usize>,
        /// The shape that the network needs.
        expected: Vec<usize>,
    },
}

/// A tensor of numbers.
#[derive(Debug, Clone, PartialEq)]
pub struct Tensor {
    /// The size of each dimension.
    pub shape: Vec<usize>,
    /// The numbers, row by row.
    pub values: Vec<f32>,
}

/// Tensors by name.
pub type Weights = BTreeMap<String, Tensor>;

/// Reads all tensors of a safetensors file as weights.
///
/// # Errors
/// If `bytes` are not a safetensors file, or a tensor contains a value that is not a finite
/// floating-point number.
pub fn read_weights(bytes: &[u8]) -> Result<Weights, WeightsError> {
    let file =
        SafeTensors::deserialize(bytes).map_err(|error| WeightsError::Format(error.to_string()))?;
    let tensors = file.tensors();
    tensors
        .into_iter()
        .map(|(name, view)| Ok((name.clone(), tensor(name, &view)?)))
        .collect()
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "weights are kept in single precision"
)]
fn tensor(name: String, view: &TensorView<'_>) -> Result<Tensor, WeightsError> {
    let values: Vec<f32> = match view.dtype() {
        Dtype::F32 => {
            let (numbers, _) = view.data().as_chunks::<4>();
            numbers
                .iter()
                .map(|&bytes| f32::from_le_bytes(bytes))
                .collect()
        }
        Dtype::F64 => {
            let (numbers, _) = view.data().as_chunks::<8>();
            numbers
                .iter()
                .map(|&bytes| f64::from_le_bytes(bytes) as f32)
                .collect()
        }
        other => {
            return Err(WeightsError::Type {
                name,
                found: format!("{other:?}"),
            });
        }
    };
    match values.iter().position(|value| !value.is_finite()) {
        Some(place) => Err(WeightsError::NotFinite {
            name,
            value: f64::from(values[place]),
            place,
        }),
        None => Ok(Tensor {
            shape: view.shape().to_vec(),
            values,
        }),
    }
}

/// Sets all `parameters` to the values in `weights`.
///
/// # Errors
/// If a weight is missing, has the wrong shape, or is not part of the network. In this case, no
/// parameter is changed.
pub fn set_weights<T: Real>(
    parameters: &mut Parameters<T>,
    weights: &Weights,
) -> Result<(), WeightsError> {
    if let Some(name) = weights.keys().find(|name| parameters.find(name).is_none()) {
        return Err(WeightsError::Unknown(name.clone()));
    }
    let mut values = Vec::with_capacity(parameters.len());
    for id in parameters.ids() {
        let (name, shape) = (
            parameters.name(id).to_owned(),
            parameters.shape(id).to_vec(),
        );
        let Some(tensor) = weights.get(&name) else {
            return Err(WeightsError::Missing { name, shape });
        };
        let converted = tensor
            .values
            .iter()
            .map(|&value| T::of(f64::from(value)))
            .collect();
        let value = Array2::from_shape_vec(parameters[id].raw_dim(), converted).ok();
        let value = value.filter(|_| tensor.shape == shape);
        let found = || tensor.shape.clone();
        let wrong = || WeightsError::Shape {
            name,
            found: found(),
            expected: shape,
        };
        values.push(value.ok_or_else(wrong)?);
    }
    for (id, value) in parameters.ids().zip(values) {
        parameters[id] = value;
    }
    Ok(())
}

/// The values of all `parameters` as weights.
#[must_use]
#[expect(
    clippy::cast_possible_truncation,
    reason = "weights are kept in single precision"
)]
pub fn weights<T: Real>(parameters: &Parameters<T>) -> Weights {
    let tensor = |id| Tensor {
        shape: parameters.shape(id).to_vec(),
        values: parameters[id]
            .iter()
            .map(|value| value.as_f64() as f32)
            .collect(),
    };
    parameters
        .ids()
        .map(|id| (parameters.name(id).to_owned(), tensor(id)))
        .collect()
}
