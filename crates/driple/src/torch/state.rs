//! Tensors by name: the weights of a model.

use std::collections::BTreeSet;

use super::objects::{Object, Value};
use super::{Saved, Tensor, TorchError, open};

/// Reads the tensors of a file written by `torch.save(model.state_dict(), …)` (`.pt`, `.pth`,
/// `.pkl`), in the order of the file. The keys of nested dicts, as in checkpoints, are joined by
/// dots. Items of lists and tuples are named by their index from 0. Everything else is ignored.
///
/// # Errors
/// The file is damaged. It holds objects other than tensors, containers and plain values. Two
/// tensors have the same name, or there are no tensors.
pub fn tensors(bytes: &[u8]) -> Result<Vec<(String, Tensor)>, TorchError> {
    let saved = open(bytes)?;
    let mut found = Vec::new();
    let mut names = BTreeSet::new();
    let mut left = vec![(String::new(), saved.pickle.root)];
    while let Some((name, value)) = left.pop() {
        let items = match saved.object(value) {
            Object::Tensor(view) => {
                let tensor = saved.tensor(&view, &|| format!("tensor {name:?}"))?;
                if !names.insert(name.clone()) {
                    return Err(TorchError::Twice(name));
                }
                found.push((name, tensor));
                continue;
            }
            Object::Dict(entries) => saved.named(&name, entries.iter().copied())?,
            Object::List(items) | Object::Tuple(items) => {
                let numbers = (0..).map(Value::Int);
                saved.named(&name, numbers.zip(items.iter().copied()))?
            }
            _ => continue,
        };
        left.extend(items.into_iter().rev());
    }
    if found.is_empty() {
        return Err(TorchError::Layout {
            place: "the file".to_owned(),
            found: format!("{} without tensors", saved.describe(saved.pickle.root)),
            expected: "a dict of tensors, as written by torch.save(model.state_dict(), path)",
        });
    }
    Ok(found)
}

impl<'a> Saved<'a> {
    /// The items of a container with their names, each prefixed with the container's name.
    fn named(
        &self,
        container: &str,
        keyed: impl Iterator<Item = (Value<'a>, Value<'a>)>,
    ) -> Result<Vec<(String, Value<'a>)>, TorchError> {
        let mut named = Vec::new();
        for (key, value) in keyed {
            self.spend(1)?;
            let key = match key {
                Value::Text(key) => key.to_owned(),
                Value::Int(key) => key.to_string(),
                _ => continue,
            };
            self.spend(container.len() + key.len())?;
            named.push((joined(container, key), value));
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
