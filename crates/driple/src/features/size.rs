//! The size of an operation's output: its number of elements, counted by the rule of the published
//! data sets.

use crate::graph::Shape;

/// The size of an operation's first output, and the unknown parts of its shape.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TensorSize {
    /// The number of elements, counted by the rule of [`tensor_size`].
    pub elements: u64,
    /// The number of dimensions whose size is unknown.
    pub unknown_dimensions: usize,
    /// Whether even the number of dimensions is unknown.
    pub unknown_rank: bool,
}

/// A tensor has more elements than 64 bits can count.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "its first output would have more than 2^64 elements (dimensions {dimensions:?}), which is \
     impossible; write the graph again"
)]
pub struct SizeError {
    /// The size of each dimension; `None` if it is unknown.
    pub dimensions: Vec<Option<u64>>,
}

/// Counts the elements of a tensor by the rule of the published data sets. The size is the product
/// of the dimensions after the last dimension that is unknown or 0. It is 0 if no dimension
/// follows. A scalar counts as 0, and so does a completely unknown shape.
///
/// For example, `[None, 5, 7]` counts as 35 elements, `[5, None, 7]` as 7, `[0, 5]` as 5, and `[5,
/// None]` as 0.
///
/// # Errors
/// If the product does not fit in 64 bits.
pub fn tensor_size(shape: &Shape) -> Result<TensorSize, SizeError> {
    let mut size = TensorSize::default();
    let dimensions = match shape {
        Shape::None => return Ok(size),
        Shape::Unknown => {
            size.unknown_rank = true;
            return Ok(size);
        }
        Shape::Dimensions(dimensions) => dimensions,
    };
    for dimension in dimensions {
        size.unknown_dimensions += usize::from(dimension.is_none());
        let product = size.elements.max(1).checked_mul(dimension.unwrap_or(0));
        size.elements = product.ok_or_else(|| SizeError {
            dimensions: dimensions.clone(),
        })?;
    }
    Ok(size)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn elements(dimensions: &[Option<u64>]) -> u64 {
        tensor_size(&Shape::Dimensions(dimensions.to_vec()))
            .unwrap()
            .elements
    }

    // The expected sizes are computed by hand, according to the rule of `tensor_size`.
    #[test]
    fn dimensions_before_an_unknown_one_are_ignored() {
        assert_eq!(elements(&[Some(2), Some(3), Some(4)]), 24);
        assert_eq!(elements(&[None, Some(5), Some(7)]), 35);
        assert_eq!(elements(&[Some(5), None, Some(7)]), 7);
        assert_eq!(elements(&[Some(5), None]), 0);
        assert_eq!(elements(&[Some(0), Some(5)]), 5);
        assert_eq!(elements(&[Some(5), Some(0)]), 0);
        assert_eq!(elements(&[]), 0);
    }

    #[test]
    fn unknown_ranks_and_dimensions_are_reported() {
        let unknown = tensor_size(&Shape::Unknown).unwrap();
        assert!(unknown.unknown_rank && unknown.elements == 0);
        assert_eq!(tensor_size(&Shape::None), Ok(TensorSize::default()));
        let two = tensor_size(&Shape::Dimensions(vec![None, Some(2), None]));
        assert_eq!(two.unwrap().unknown_dimensions, 2);
    }

    #[test]
    fn a_size_beyond_64_bits_is_refused() {
        let shape = |last| Shape::Dimensions(vec![Some(1 << 32), Some(last)]);
        assert_eq!(
            tensor_size(&shape((1 << 32) - 1)).unwrap().elements,
            u64::MAX - ((1 << 32) - 1)
        );
        assert!(tensor_size(&shape(1 << 32)).is_err());
    }
}
