//! Lists of rates that tasks can share.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Rates at the points of a curve. Clones share the list. It never changes, so its extremes are computed only once for
/// all tasks that share it.
#[derive(Clone)]
pub struct Rates {
    values: Arc<[f64]>,
    least: f64,
    most: f64,
}

impl Rates {
    /// The least and the greatest nonzero value. Both are 0 if all values are 0, and both are NaN if
    /// any value is NaN.
    pub fn extremes(&self) -> (f64, f64) {
        (self.least, self.most)
    }

    /// The shared list itself.
    pub fn list(&self) -> &Arc<[f64]> {
        &self.values
    }
}

fn extremes(values: &[f64]) -> (f64, f64) {
    let (mut least, mut most) = (f64::INFINITY, f64::NEG_INFINITY);
    for &value in values {
        if value.is_nan() {
            return (value, value);
        }
        if value != 0.0 {
            least = least.min(value);
            most = most.max(value);
        }
    }
    if least > most {
        return (0.0, 0.0);
    }
    (least, most)
}

impl From<Arc<[f64]>> for Rates {
    fn from(values: Arc<[f64]>) -> Self {
        let (least, most) = extremes(&values);
        Rates {
            values,
            least,
            most,
        }
    }
}

impl From<Vec<f64>> for Rates {
    fn from(values: Vec<f64>) -> Self {
        Arc::<[f64]>::from(values).into()
    }
}

impl<const N: usize> From<[f64; N]> for Rates {
    fn from(values: [f64; N]) -> Self {
        Arc::<[f64]>::from(values).into()
    }
}

impl From<&[f64]> for Rates {
    fn from(values: &[f64]) -> Self {
        Arc::<[f64]>::from(values).into()
    }
}

impl FromIterator<f64> for Rates {
    fn from_iter<I: IntoIterator<Item = f64>>(values: I) -> Self {
        Arc::<[f64]>::from_iter(values).into()
    }
}

impl Deref for Rates {
    type Target = [f64];

    fn deref(&self) -> &[f64] {
        &self.values
    }
}

impl PartialEq for Rates {
    fn eq(&self, other: &Self) -> bool {
        self.values == other.values
    }
}

impl fmt::Debug for Rates {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.values.fmt(f)
    }
}

impl Serialize for Rates {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.values.as_ref().serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Rates {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Vec::<f64>::deserialize(deserializer).map(Rates::from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extremes_leave_zeros_out() {
        let of = |values: &[f64]| Rates::from(values).extremes();
        assert_eq!(of(&[0.0, 3.0, 0.5, 2.0, 0.0]), (0.5, 3.0));
        assert_eq!(of(&[0.0]), (0.0, 0.0));
        assert_eq!(of(&[]), (0.0, 0.0));
        assert_eq!(of(&[0.0, f64::INFINITY]), (f64::INFINITY, f64::INFINITY));
        assert_eq!(of(&[0.0, 1.0, -2.0]), (-2.0, 1.0));
        let (least, most) = of(&[1.0, f64::NAN, 2.0]);
        assert!(least.is_nan() && most.is_nan());
    }

    #[test]
    fn json_is_a_plain_list() {
        let rates: Rates = serde_json::from_str("[0, 1.5]").unwrap();
        assert_eq!(rates, [0.0, 1.5].into());
        assert_eq!(serde_json::to_string(&rates).unwrap(), "[0.0,1.5]");
    }
}
