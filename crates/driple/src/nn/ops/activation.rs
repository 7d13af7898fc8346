//! Activation functions.

use ndarray::Array2;

use super::super::tape::{Flow, Op};
use super::super::{Real, Tape, Var};

/// An activation function, which is applied element by element.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Activation {
    /// `x` if it is positive, else `slope * x`. With a slope of 0, this is the rectifier.
    Leaky(f64),
    /// `x` if it is positive, else `exp(x) - 1`.
    Elu,
}

impl Activation {
    /// The rectifier: `x` if it is positive, else 0.
    pub const RELU: Self = Self::Leaky(0.0);

    /// The function's value at `x`.
    #[inline(always)]
    pub(super) fn at<T: Real>(self, x: T) -> T {
        match self {
            _ if x > T::zero() => x,
            Self::Leaky(slope) => x * T::of(slope),
            Self::Elu => x.exp_m1(),
        }
    }

    /// The function's derivative where its value is `y`.
    #[inline(always)]
    pub(super) fn slope<T: Real>(self, y: T) -> T {
        match self {
            _ if y > T::zero() => T::one(),
            Self::Leaky(slope) => T::of(slope),
            Self::Elu => y + T::one(),
        }
    }

    /// Multiplies `grad` by the derivatives of the function at the points where its values are
    /// `output`.
    pub(super) fn weigh<T: Real>(self, grad: &mut Array2<T>, output: &Array2<T>) {
        grad.zip_mut_with(output, |grad, &y| *grad *= self.slope(y));
    }
}

struct Activated {
    input: Var,
    activation: Activation,
    output: Var,
}

impl<'a, T: Real> Tape<'a, T> {
    /// Applies `activation` to each value.
    pub fn activate(&mut self, input: Var, activation: Activation) -> Var {
        let x = self.value(input);
        let mut out = self.buffers().any(x.nrows(), x.ncols());
        out.zip_mut_with(x, |to, &x| *to = activation.at(x));
        let output = self.next();
        self.push(out, &[input], &[], || {
            Box::new(Activated {
                input,
                activation,
                output,
            })
        })
    }
}

impl<T: Real> Op<T> for Activated {
    fn backward(&self, mut grad: Array2<T>, flow: &mut Flow<'_, '_, T>) {
        self.activation.weigh(&mut grad, flow.value(self.output));
        flow.add(self.input, grad);
    }
}
