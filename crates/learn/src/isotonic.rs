//! Isotonic regression: finds the monotone sequence nearest to the given values.

use serde::{Deserialize, Serialize};

/// The direction of a monotone function.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    /// Never falls.
    Increasing,
    /// Never rises.
    Decreasing,
}

/// Returns the monotone sequence that is nearest to `values` in weighted least squares, found by
/// pooling adjacent violators (Barlow et al., 1972). For example, the increasing sequence nearest
/// to 1, 4, 2, 5 is 1, 3, 3, 5: the violators 4 and 2 are pooled to their mean. A value of weight 0
/// does not influence other values: it joins the block before it, or the first block if no block
/// comes before it.
///
/// # Panics
/// The slices differ in length.
pub fn isotonic(values: &[f64], weights: &[f64], direction: Direction) -> Vec<f64> {
    assert_eq!(
        values.len(),
        weights.len(),
        "there must be one weight for each value"
    );
    match direction {
        Direction::Increasing => increasing(values, weights),
        Direction::Decreasing => {
            let turned: Vec<f64> = values.iter().map(|value| -value).collect();
            increasing(&turned, weights)
                .iter()
                .map(|value| -value)
                .collect()
        }
    }
}

/// A block of neighbouring values with the same result: their mean, their total weight, and the
/// index after the last value.
struct Block {
    mean: f64,
    weight: f64,
    end: usize,
}

fn increasing(values: &[f64], weights: &[f64]) -> Vec<f64> {
    let mut blocks: Vec<Block> = Vec::new();
    for (index, (&mean, &weight)) in values.iter().zip(weights).enumerate() {
        let end = index + 1;
        if weight == 0.0 {
            if let Some(last) = blocks.last_mut() {
                last.end = end;
            }
            continue;
        }
        blocks.push(Block { mean, weight, end });
        pool(&mut blocks);
    }
    spread(&blocks, values)
}

/// Merges the last blocks until the means are in ascending order.
fn pool(blocks: &mut Vec<Block>) {
    while let [.., before, last] = blocks.as_mut_slice() {
        if before.mean <= last.mean {
            return;
        }
        let weight = before.weight + last.weight;
        before.mean = (before.mean * before.weight + last.mean * last.weight) / weight;
        before.weight = weight;
        before.end = last.end;
        blocks.pop();
    }
}

fn spread(blocks: &[Block], values: &[f64]) -> Vec<f64> {
    if blocks.is_empty() {
        return values.to_vec();
    }
    let mut smooth = Vec::with_capacity(values.len());
    for block in blocks {
        smooth.resize(block.end, block.mean);
    }
    smooth
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn violating_values_become_their_weighted_mean() {
        let smooth = isotonic(
            &[1.0, 4.0, 2.0, 3.0, 9.0],
            &[1.0, 1.0, 3.0, 2.0, 1.0],
            Direction::Increasing,
        );
        // 4 and 2 are pooled to 2.5. The next value, 3, is greater and is not pooled.
        assert_eq!(smooth, [1.0, 2.5, 2.5, 3.0, 9.0]);
        let falling = isotonic(&[3.0, 1.0, 2.0], &[1.0; 3], Direction::Decreasing);
        assert_eq!(falling, [3.0, 1.5, 1.5]);
        assert_eq!(
            isotonic(&[5.0, 7.0, 6.0], &[0.0, 1.0, 0.0], Direction::Increasing),
            [7.0; 3]
        );
    }

    proptest! {
        #![proptest_config(gleaner_testing::cases(256))]

        /// Checks the optimality conditions of a projection onto the cone of ascending sequences.
        /// The result is ascending and orthogonal to the residuals. The residuals sum to 0, and no
        /// prefix of them sums to less than 0.
        #[test]
        fn the_result_is_the_projection(
            pairs in proptest::collection::vec((-9.0..9.0f64, 0.1..5.0f64), 1..40)
        ) {
            let (values, weights): (Vec<f64>, Vec<f64>) = pairs.into_iter().unzip();
            let smooth = isotonic(&values, &weights, Direction::Increasing);
            prop_assert!(smooth.is_sorted());
            let mut prefix = 0.0;
            let mut product = 0.0;
            for ((value, weight), fit) in values.iter().zip(&weights).zip(&smooth) {
                prefix += weight * (value - fit);
                product += weight * (value - fit) * fit;
                prop_assert!(prefix > -1e-9);
            }
            prop_assert!(prefix.abs() < 1e-9 && product.abs() < 1e-8);
        }
    }
}
