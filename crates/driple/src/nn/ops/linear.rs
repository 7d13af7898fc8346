//! Products with weight matrices.

use std::ops::Range;

use ndarray::{Array2, ArrayView2, ArrayViewMut2, Axis, s};

use super::super::kernels::{add_row_sum, rows_mut};
use super::super::product::{add_product, set_product};
use super::super::tape::{Flow, Op};
use super::super::{ParamId, Parameters, Real, Tape, Var};

/// The orientation of a stored weight matrix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// One row for each input, as in the original's convolutions.
    InOut,
    /// One row for each output, as in PyTorch's layers.
    OutIn,
}

/// A weight matrix, or the part of it for a range of inputs.
#[derive(Debug, Clone)]
pub struct Weight {
    /// The parameter that holds the matrix.
    pub id: ParamId,
    /// The orientation of the stored matrix.
    pub layout: Layout,
    /// The inputs whose weights are used.
    pub inputs: Range<usize>,
}

impl Weight {
    /// The weights that are used, as a matrix with one row for each input.
    fn view<'p, T: Real>(&self, parameters: &'p Parameters<T>) -> ArrayView2<'p, T> {
        oriented(parameters[self.id].view(), self)
    }
}

/// The part of `view` that `weight` selects, with one row for each input.
fn oriented<'v, T>(view: ArrayView2<'v, T>, weight: &Weight) -> ArrayView2<'v, T> {
    let view = match weight.layout {
        Layout::InOut => view,
        Layout::OutIn => view.reversed_axes(),
    };
    view.slice_axis_move(Axis(0), weight.inputs.clone().into())
}

fn oriented_mut<'v, T>(view: ArrayViewMut2<'v, T>, weight: &Weight) -> ArrayViewMut2<'v, T> {
    let view = match weight.layout {
        Layout::InOut => view,
        Layout::OutIn => view.reversed_axes(),
    };
    view.slice_axis_move(Axis(0), weight.inputs.clone().into())
}

struct Linear {
    input: Var,
    weight: Weight,
    bias: Option<ParamId>,
}

impl<'a, T: Real> Tape<'a, T> {
    /// `x W + b`, where `x` is `input`. Without `bias`, `b` is 0.
    pub fn linear(&mut self, input: Var, weight: Weight, bias: Option<ParamId>) -> Var {
        let parameters = self.parameters();
        let matrix = weight.view(parameters);
        let x = self.value(input);
        let mut out = self.buffers().any(x.nrows(), matrix.ncols());
        match bias.and_then(|bias| parameters[bias].as_slice()) {
            Some(bias) => {
                rows_mut(&mut out).for_each(|row| row.copy_from_slice(bias));
                add_product(&x.view(), &matrix, out.view_mut());
            }
            None => set_product(&x.view(), &matrix, out.view_mut()),
        }
        let learnt: Vec<ParamId> = [Some(weight.id), bias].into_iter().flatten().collect();
        self.push(out, &[input], &learnt, || {
            Box::new(Linear {
                input,
                weight,
                bias,
            })
        })
    }
}

impl<T: Real> Op<T> for Linear {
    fn backward(&self, grad: Array2<T>, flow: &mut Flow<'_, '_, T>) {
        let x = flow.value(self.input);
        if let Some(sum) = flow.of_parameter(self.weight.id) {
            let sum = oriented_mut(sum.view_mut(), &self.weight);
            add_product(&x.t(), &grad.view(), sum);
        }
        if let Some(sum) = self.bias.and_then(|bias| flow.of_parameter(bias)) {
            add_row_sum(&grad.view(), sum, 0);
        }
        if flow.wants(self.input) {
            let matrix = oriented(
                flow.parameter(self.weight.id).slice(s![.., ..]),
                &self.weight,
            );
            flow.add_product(self.input, &grad.view(), &matrix.t());
        }
        flow.buffers().take_back(grad);
    }
}
