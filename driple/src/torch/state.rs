//! Tensors by name: the weights of a model.

use std::collections::BTreeSet;

use super::value::{Node, Value};
use super::{Saved, Tensor, TorchError, open};

/// Reads the tensors of a file of `torch.save(model.state_dict(), …)` (`.pt`, `.pth`, `.pkl`), in
/// the order of the file. Of dicts within dicts, as checkpoints have them, the names are joined by
/// dots, and items of lists and tuples are named by their number from 0; what is no tensor is left
/// out.
///
/// # Errors
/// Where the file is damaged, holds other objects than tensors and plain values, two names are
/// equal, or it has no tensor at all.
pub fn tensors(bytes: &[u8]) -> Result<Vec<(String, Tensor)>, TorchError> {
    let mut saved = open(bytes)?;
    let mut found = Vec::new();
    let mut names = BTreeSet::new();
    let mut left = vec![(String::new(), saved.pickle.root)];
    while let Some((name, value)) = left.pop() {
        if let Some(tensor) = saved.tensor(value, &|| format!("tensor {name:?}"))? {
            if !names.insert(name.clone()) {
                return Err(TorchError::Twice(name));
            }
            found.push((name, tensor));
            continue;
        }
        let items = saved.items(&name, value)?;
        left.extend(items.into_iter().rev());
    }
    if found.is_empty() {
        return Err(TorchError::Layout {
            place: "the file".to_owned(),
            found: format!(
                "{} without tensors",
                saved.pickle.describe(saved.pickle.root)
            ),
            expected: "a dict of tensors, such as torch.save(model.state_dict(), path) writes",
        });
    }
    Ok(found)
}

impl<'a> Saved<'a> {
    /// The items of a container with their names; none of other values.
    fn items(
        &mut self,
        name: &str,
        value: Value<'a>,
    ) -> Result<Vec<(String, Value<'a>)>, TorchError> {
        let keyed: Vec<(Value, Value)> = match self.pickle.node(value) {
            Some(Node::Dict(entries)) => {
                self.budget.spend(entries.len())?;
                entries.clone()
            }
            Some(Node::List(items) | Node::Tuple(items)) => {
                self.budget.spend(items.len())?;
                let numbers = (0..).map(Value::Int);
                numbers.zip(items.iter().copied()).collect()
            }
            _ => Vec::new(),
        };
        let mut named = Vec::new();
        for (key, value) in keyed {
            let key = match key {
                Value::Text(key) => key.to_owned(),
                Value::Int(key) => key.to_string(),
                _ => continue,
            };
            self.budget.spend(name.len() + key.len())?;
            named.push((joined(name, key), value));
        }
        Ok(named)
    }
}

fn joined(name: &str, key: String) -> String {
    if name.is_empty() {
        return key;
    }
    format!("{name}.{key}")
}
