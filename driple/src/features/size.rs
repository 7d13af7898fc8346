//! The number of elements that an operation puts out, as far as it is known.

use crate::graph::Shape;

/// The elements of an operation's first output, and how well they are known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TensorSize {
    /// Elements, counted as [`tensor_size`] says.
    pub elements: u64,
    /// Dimensions that are not known.
    pub unknown_dimensions: usize,
    /// Whether not even the number of dimensions is known.
    pub unknown_rank: bool,
}

/// A tensor of more elements than 64 bits count.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "its first output has more than 2^64 elements, which no tensor has (dimensions \
     {dimensions:?}); write the graph again"
)]
pub struct SizeError {
    /// The dimensions; `None` where one is not known.
    pub dimensions: Vec<Option<u64>>,
}

/// The elements of a tensor of this shape as the published data sets count them: the product of the
/// dimensions after the last one that is not known or 0, or 0 where there is none after it. A
/// scalar counts 0, and so does a shape of which nothing is known.
///
/// So `[None, 5, 7]` has 35 elements, `[5, None, 7]` 7, `[5, None]` 0, and `[0, 5]` 5.
///
/// # Errors
/// Where the product takes more than 64 bits.
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

    // The examples of the rule, worked out by hand.
    #[test]
    fn what_comes_before_an_unknown_dimension_does_not_count() {
        assert_eq!(elements(&[Some(2), Some(3), Some(4)]), 24);
        assert_eq!(elements(&[None, Some(5), Some(7)]), 35);
        assert_eq!(elements(&[Some(5), None, Some(7)]), 7);
        assert_eq!(elements(&[Some(5), None]), 0);
        assert_eq!(elements(&[Some(0), Some(5)]), 5);
        assert_eq!(elements(&[Some(5), Some(0)]), 0);
        assert_eq!(elements(&[]), 0);
    }

    #[test]
    fn what_is_not_known_is_told() {
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
