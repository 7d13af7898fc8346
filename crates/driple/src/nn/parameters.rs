//! The parameters of a network, by name.

use std::ops::{Index, IndexMut};

use ndarray::Array2;

use super::Real;

/// A parameter of a network, identified by its position among the parameters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct ParamId(pub(crate) usize);

/// The parameters of a network, in the order in which they were declared. A vector is stored as a
/// matrix of one row.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Parameters<T> {
    names: Vec<String>,
    shapes: Vec<Vec<usize>>,
    values: Vec<Array2<T>>,
    trained: Vec<bool>,
}

impl<T: Real> Parameters<T> {
    /// An empty set of parameters.
    #[must_use]
    pub fn new() -> Self {
        Self {
            names: Vec::new(),
            shapes: Vec::new(),
            values: Vec::new(),
            trained: Vec::new(),
        }
    }

    /// Adds the parameter `name` with the given shape of one or two dimensions. Training updates
    /// the parameter unless [`Parameters::train_only`] excludes it.
    pub fn add(&mut self, name: String, shape: &[usize], value: Array2<T>) -> ParamId {
        debug_assert_eq!(shape.iter().product::<usize>(), value.len());
        self.names.push(name);
        self.shapes.push(shape.to_vec());
        self.values.push(value);
        self.trained.push(true);
        ParamId(self.names.len() - 1)
    }

    /// The number of parameters.
    #[must_use]
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// Whether there are no parameters.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// All parameters, in the order in which they were declared.
    pub fn ids(&self) -> impl Iterator<Item = ParamId> + use<T> {
        (0..self.len()).map(ParamId)
    }

    /// The name of a parameter, as in the original's `state_dict`.
    #[must_use]
    pub fn name(&self, id: ParamId) -> &str {
        &self.names[id.0]
    }

    /// The shape of a parameter: one or two dimensions.
    #[must_use]
    pub fn shape(&self, id: ParamId) -> &[usize] {
        &self.shapes[id.0]
    }

    /// The parameter `name`; `None` if it does not exist.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<ParamId> {
        self.names
            .iter()
            .position(|known| known == name)
            .map(ParamId)
    }

    /// Whether training updates a parameter.
    #[must_use]
    pub fn is_trained(&self, id: ParamId) -> bool {
        self.trained[id.0]
    }

    /// Limits training to the parameters whose names `chosen` accepts.
    pub fn train_only(&mut self, mut chosen: impl FnMut(&str) -> bool) {
        for (trained, name) in self.trained.iter_mut().zip(&self.names) {
            *trained = chosen(name);
        }
    }

    /// The number of values in all parameters.
    #[must_use]
    pub fn count(&self) -> usize {
        self.values.iter().map(Array2::len).sum()
    }

    /// The same parameters in another number type.
    #[must_use]
    pub fn cast<U: Real>(&self) -> Parameters<U> {
        Parameters {
            names: self.names.clone(),
            shapes: self.shapes.clone(),
            values: self
                .values
                .iter()
                .map(|value| value.mapv(|v| U::of(v.as_f64())))
                .collect(),
            trained: self.trained.clone(),
        }
    }
}

impl<T> Index<ParamId> for Parameters<T> {
    type Output = Array2<T>;

    fn index(&self, id: ParamId) -> &Array2<T> {
        &self.values[id.0]
    }
}

impl<T> IndexMut<ParamId> for Parameters<T> {
    fn index_mut(&mut self, id: ParamId) -> &mut Array2<T> {
        &mut self.values[id.0]
    }
}

/// The gradient of a loss with respect to each parameter, in the order and with the shapes of the
/// parameters.
#[derive(Debug, Clone, PartialEq)]
pub struct Gradients<T> {
    values: Vec<Array2<T>>,
}

impl<T: Real> Gradients<T> {
    /// Gradients that are all zero.
    #[must_use]
    pub fn zero(parameters: &Parameters<T>) -> Self {
        Self {
            values: parameters
                .values
                .iter()
                .map(|v| Array2::zeros(v.raw_dim()))
                .collect(),
        }
    }

    /// Adds the gradients of another part of the same batch.
    pub fn add(&mut self, other: &Self) {
        for (mine, theirs) in self.values.iter_mut().zip(&other.values) {
            *mine += theirs;
        }
    }
}

impl<T> Index<ParamId> for Gradients<T> {
    type Output = Array2<T>;

    fn index(&self, id: ParamId) -> &Array2<T> {
        &self.values[id.0]
    }
}

impl<T> IndexMut<ParamId> for Gradients<T> {
    fn index_mut(&mut self, id: ParamId) -> &mut Array2<T> {
        &mut self.values[id.0]
    }
}
