//! The record of a forward pass. The backward pass follows it in reverse order and computes the
//! gradients (reverse-mode automatic differentiation).
//!
//! For example, let the weight `w` be 3 and the input `x` be 2. Then `relu(w x)` puts the values 2,
//! 6 and 6 on the tape. The backward pass starts at the last value, with a gradient of 1. The
//! rectifier passes this gradient on unchanged, because its derivative at 6 is 1. The product
//! multiplies this gradient by `x`, so the gradient of `w` is 2.

use ndarray::{Array2, ArrayView2};

use super::product::{add_product, set_product};
use super::{Buffers, Gradients, ParamId, Parameters, Real};

/// A value on a tape, identified by its position.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Var(usize);

/// An operation of a forward pass. It converts the gradient of its output to the gradients of its
/// inputs and parameters.
pub(super) trait Op<T> {
    /// Adds the gradients of the inputs and parameters to `flow`. `grad` is the gradient of the
    /// output.
    fn backward(&self, grad: Array2<T>, flow: &mut Flow<'_, '_, T>);
}

/// The values of a forward pass and the operations that computed them.
pub struct Tape<'a, T> {
    parameters: &'a Parameters<T>,
    /// Whether operations are recorded.
    recording: bool,
    buffers: Buffers<T>,
    values: Vec<Array2<T>>,
    /// The operation that computed each value; `None` if no gradient passes through the value.
    ops: Vec<Option<Box<dyn Op<T> + 'a>>>,
}

impl<'a, T: Real> Tape<'a, T> {
    /// A tape that records operations, so that gradients can be computed.
    #[must_use]
    pub fn new(parameters: &'a Parameters<T>) -> Self {
        Self::with_buffers(parameters, Buffers::default())
    }

    /// Like [`Tape::new`], with values stored in `buffers`.
    #[must_use]
    pub fn with_buffers(parameters: &'a Parameters<T>, buffers: Buffers<T>) -> Self {
        let (recording, values, ops) = (true, Vec::new(), Vec::new());
        Self {
            parameters,
            recording,
            buffers,
            values,
            ops,
        }
    }

    /// A tape that computes values only, without gradients.
    #[must_use]
    pub fn without_gradients(parameters: &'a Parameters<T>) -> Self {
        Self::new(parameters).values_only()
    }

    /// Makes this a tape that computes values only, without gradients.
    #[must_use]
    pub fn values_only(mut self) -> Self {
        self.recording = false;
        self
    }

    /// Ends the forward pass and returns its buffers for reuse.
    #[must_use]
    pub fn into_buffers(self) -> Buffers<T> {
        self.values
            .into_iter()
            .for_each(|value| self.buffers.take_back(value));
        self.buffers
    }

    /// The buffers of the pass.
    pub(super) fn buffers(&self) -> &Buffers<T> {
        &self.buffers
    }

    /// Puts a constant on the tape.
    pub fn input(&mut self, value: Array2<T>) -> Var {
        self.values.push(value);
        self.ops.push(None);
        Var(self.values.len() - 1)
    }

    /// The value of `var`.
    #[must_use]
    pub fn value(&self, var: Var) -> &Array2<T> {
        &self.values[var.0]
    }

    /// The variable for the next value that is put on the tape.
    pub(super) fn next(&self) -> Var {
        Var(self.values.len())
    }

    /// The parameters that the pass uses.
    pub(super) fn parameters(&self) -> &'a Parameters<T> {
        self.parameters
    }

    /// Adds to the tape the value that `op` computed from `inputs` and `parameters`. The operation
    /// itself is recorded only if one of the `parameters` is trained or one of the `inputs` depends
    /// on a trained parameter.
    pub(super) fn push(
        &mut self,
        value: Array2<T>,
        inputs: &[Var],
        parameters: &[ParamId],
        op: impl FnOnce() -> Box<dyn Op<T> + 'a>,
    ) -> Var {
        let learns = inputs.iter().any(|input| self.ops[input.0].is_some())
            || parameters.iter().any(|&id| self.parameters.is_trained(id));
        self.values.push(value);
        self.ops.push((self.recording && learns).then(op));
        Var(self.values.len() - 1)
    }

    /// Adds the gradients of a loss to `gradients`. `grad` is the gradient of the loss with respect
    /// to `output`.
    pub fn backward(&self, output: Var, grad: Array2<T>, gradients: &mut Gradients<T>) {
        let mut flow = Flow {
            tape: self,
            vars: Vec::new(),
            gradients,
        };
        flow.vars.resize_with(output.0 + 1, || None);
        flow.vars[output.0] = Some(grad);
        // Operations come after their inputs. In reverse order, the gradient of a value is
        // therefore complete when its operation is reached.
        for index in (0..=output.0).rev() {
            if let (Some(op), Some(grad)) = (&self.ops[index], flow.vars[index].take()) {
                op.backward(grad, &mut flow);
            }
        }
    }
}

/// The state of a backward pass: the gradients that have been computed so far.
pub(super) struct Flow<'t, 'a, T> {
    tape: &'t Tape<'a, T>,
    /// For each value, the sum of the gradients that have reached it; `None` if none has reached it
    /// yet.
    vars: Vec<Option<Array2<T>>>,
    gradients: &'t mut Gradients<T>,
}

impl<'t, 'a, T: Real> Flow<'t, 'a, T> {
    /// The value of `var`.
    pub fn value(&self, var: Var) -> &'t Array2<T> {
        &self.tape.values[var.0]
    }

    /// The parameters of the pass.
    pub fn parameters(&self) -> &'a Parameters<T> {
        self.tape.parameters
    }

    /// The value of the parameter `id`.
    pub fn parameter(&self, id: ParamId) -> &'a Array2<T> {
        &self.tape.parameters[id]
    }

    /// The buffers of the pass.
    pub fn buffers(&self) -> &'t Buffers<T> {
        &self.tape.buffers
    }

    /// Whether the gradient of `var` is needed, which is the case if `var` depends on trained
    /// parameters.
    pub fn wants(&self, var: Var) -> bool {
        self.tape.ops[var.0].is_some()
    }

    /// The gradient of the parameter `id`, for operations to add to; `None` if the parameter is not
    /// trained.
    pub fn of_parameter(&mut self, id: ParamId) -> Option<&mut Array2<T>> {
        self.tape
            .parameters
            .is_trained(id)
            .then(|| &mut self.gradients[id])
    }

    /// Adds `grad` to the gradient of `var`.
    pub fn add(&mut self, var: Var, grad: Array2<T>) {
        match &mut self.vars[var.0] {
            Some(sum) => {
                *sum += &grad;
                self.tape.buffers.take_back(grad);
            }
            empty => *empty = Some(grad),
        }
    }

    /// Adds the product of `a` and `b` to the gradient of `var`.
    pub fn add_product(&mut self, var: Var, a: &ArrayView2<'_, T>, b: &ArrayView2<'_, T>) {
        match &mut self.vars[var.0] {
            Some(sum) => add_product(a, b, sum.view_mut()),
            empty => {
                let mut fresh = self.tape.buffers.any(a.nrows(), b.ncols());
                set_product(a, b, fresh.view_mut());
                *empty = Some(fresh);
            }
        }
    }
}
