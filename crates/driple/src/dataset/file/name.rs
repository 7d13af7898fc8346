//! Names of tensors in a data set's file.

/// The parts of a data set, in the order of the fields of [`super::super::Dataset`].
pub(super) const PARTS: [&str; 3] = ["train", "val", "test"];
/// The last components of tensor names: adjacency matrices, features and labels of a batch.
pub(super) const FIELDS: [&str; 3] = ["adj", "x", "y"];
/// The name of the tensor that holds the largest value of each label in the training set.
pub(super) const MAXIMUM: &str = "y_train_max";

/// The parsed name of a tensor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Name {
    /// Index into [`PARTS`].
    pub part: usize,
    pub batch: usize,
    /// The index of the run (a sequence of graphs of equal size); 0 if the name contains no such
    /// index.
    pub run: usize,
    /// Index into [`FIELDS`].
    pub field: usize,
}

impl Name {
    /// Parses a name such as `train.0.adj` or `train.0.1.adj`. Returns `None` if the name is not of
    /// this form.
    pub fn parse(name: &str) -> Option<Name> {
        let fields: Vec<&str> = name.splitn(5, '.').collect();
        let (part, batch, run, field) = match *fields.as_slice() {
            [part, batch, field] => (part, batch, "0", field),
            [part, batch, run, field] => (part, batch, run, field),
            _ => return None,
        };
        Some(Name {
            part: PARTS.iter().position(|&known| known == part)?,
            batch: number(batch)?,
            run: number(run)?,
            field: FIELDS.iter().position(|&known| known == field)?,
        })
    }

    /// The name as text, including the index of the run if `runs` is true.
    pub fn text(self, runs: bool) -> String {
        let batch = self.batch_text(runs);
        format!("{batch}.{}", FIELDS[self.field])
    }

    /// The name as text, without the field: `train.0` or `train.0.1`.
    pub fn batch_text(self, runs: bool) -> String {
        let batch = format!("{}.{}", PARTS[self.part], self.batch);
        if runs {
            return format!("{batch}.{}", self.run);
        }
        batch
    }
}

/// Parses a number in a name: digits without leading zeros.
fn number(text: &str) -> Option<usize> {
    let digits = text.bytes().all(|byte| byte.is_ascii_digit());
    let plain = digits && (text == "0" || !text.starts_with('0'));
    text.parse().ok().filter(|_| plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_and_written() {
        let name = Name {
            part: 1,
            batch: 12,
            run: 3,
            field: 2,
        };
        assert_eq!(name.text(true), "val.12.3.y");
        assert_eq!(Name::parse("val.12.3.y"), Some(name));
        assert_eq!(Name::parse("val.12.y"), Some(Name { run: 0, ..name }));
    }

    #[test]
    fn other_names_are_not_parsed() {
        let names = [
            "",
            "train",
            "train.adj",
            "train.x.adj",
            "train.0.z",
            "all.0.x",
            "train.00.x",
            "train.+1.x",
            "train.0.1.2.x",
            "train.99999999999999999999.x",
            "train..x",
        ];
        assert!(names.iter().all(|name| Name::parse(name).is_none()));
    }
}
