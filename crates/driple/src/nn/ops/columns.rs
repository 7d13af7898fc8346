//! Concatenation and slices of columns, and sums of matrices.

use std::ops::Range;

use ndarray::{Array2, s};

use super::super::tape::{Flow, Op};
use super::super::{Real, Tape, Var};

struct Concatenated {
    inputs: Vec<Var>,
}

struct Sliced {
    input: Var,
    columns: Range<usize>,
}

struct Added {
    inputs: [Var; 2],
}

impl<'a, T: Real> Tape<'a, T> {
    /// The concatenated columns of all `inputs`.
    pub fn concatenate(&mut self, inputs: &[Var]) -> Var {
        let rows = inputs.first().map_or(0, |&first| self.value(first).nrows());
        let columns = inputs.iter().map(|&input| self.value(input).ncols()).sum();
        let mut out = self.buffers().any(rows, columns);
        let mut start = 0;
        for &input in inputs {
            let value = self.value(input);
            let end = start + value.ncols();
            out.slice_mut(s![.., start..end]).assign(value);
            start = end;
        }
        self.push(out, inputs, &[], || {
            Box::new(Concatenated {
                inputs: inputs.to_vec(),
            })
        })
    }

    /// A range of columns of `input`.
    pub fn slice(&mut self, input: Var, columns: Range<usize>) -> Var {
        let out = self.value(input).slice(s![.., columns.clone()]).to_owned();
        self.push(out, &[input], &[], || Box::new(Sliced { input, columns }))
    }

    /// The sum of `a` and `b`, element by element.
    pub fn add(&mut self, a: Var, b: Var) -> Var {
        let out = self.value(a) + self.value(b);
        self.push(out, &[a, b], &[], || Box::new(Added { inputs: [a, b] }))
    }
}

impl<T: Real> Op<T> for Concatenated {
    fn backward(&self, grad: Array2<T>, flow: &mut Flow<'_, '_, T>) {
        let mut start = 0;
        for &input in &self.inputs {
            let end = start + flow.value(input).ncols();
            if flow.wants(input) {
                flow.add(
                    input,
                    grad.slice(s![.., start..end])
                        .as_standard_layout()
                        .into_owned(),
                );
            }
            start = end;
        }
    }
}

impl<T: Real> Op<T> for Sliced {
    fn backward(&self, grad: Array2<T>, flow: &mut Flow<'_, '_, T>) {
        let mut back = Array2::zeros(flow.value(self.input).raw_dim());
        back.slice_mut(s![.., self.columns.clone()]).assign(&grad);
        flow.add(self.input, back);
    }
}

impl<T: Real> Op<T> for Added {
    fn backward(&self, grad: Array2<T>, flow: &mut Flow<'_, '_, T>) {
        let [a, b] = self.inputs;
        if flow.wants(a) {
            flow.add(a, grad.clone());
        }
        if flow.wants(b) {
            flow.add(b, grad);
        }
    }
}
