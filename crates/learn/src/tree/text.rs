//! Writes trees as text.

use std::fmt;

use super::{Node, Step, Tree};

impl fmt::Display for Tree {
    /// Writes a line for each node, below the line of its parent and indented further. The line
    /// shows the comparison that leads to the node, the node's number of rows, and the number of
    /// rows of each class. The first line describes the root. A leaf's line ends with the predicted
    /// class.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let depths = self.depths();
        let questions = self.questions();
        for (index, node) in self.nodes.iter().enumerate() {
            let indent = 2 * depths[index];
            write!(f, "{:indent$}{}{}", "", questions[index], Rows(node))?;
            if node.split.is_none() {
                write!(f, " -> {}", node.class())?;
            }
            writeln!(f)?;
        }
        Ok(())
    }
}

impl Tree {
    /// For each node, the comparison that leads to it, followed by a colon; empty for the root.
    fn questions(&self) -> Vec<String> {
        let mut questions = vec![String::new(); self.nodes.len()];
        for split in self.nodes.iter().filter_map(|node| node.split) {
            let name = &self.features[split.feature];
            let threshold = number(split.threshold);
            questions[split.left] = format!("{name} <= {threshold}: ");
            questions[split.right] = format!("{name} > {threshold}: ");
        }
        questions
    }

    /// Describes a step of a row's path, such as `gpu_util 12.5 <= 20.23`.
    ///
    /// # Panics
    /// The step uses a feature that the tree does not have.
    pub fn describe(&self, step: &Step) -> String {
        let name = &self.features[step.feature];
        let sign = if step.left { "<=" } else { ">" };
        let threshold = number(step.threshold);
        if step.value.is_nan() {
            return format!("{name} missing, taken as {sign} {threshold}");
        }
        format!("{name} {} {sign} {threshold}", number(step.value))
    }
}

/// Displays the number of rows of a node, in total and by class, such as `25 rows (16, 8, 1)`.
struct Rows<'n>(&'n Node);

impl fmt::Display for Rows<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rows = self.0.rows();
        let counts: Vec<String> = self.0.counts.iter().map(usize::to_string).collect();
        let plural = if rows == 1 { "" } else { "s" };
        write!(f, "{rows} row{plural} ({})", counts.join(", "))
    }
}

/// Formats a number with at most six decimals and without trailing zeros.
fn number(value: f64) -> String {
    let text = format!("{value:.6}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0" } else { text }.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::Settings;
    use crate::{Column, Table};

    #[test]
    fn a_tree_prints_as_indented_lines() {
        let table = Table::new(vec![
            ("x".to_owned(), Column::Numeric(vec![1.0, 2.0, 4.0, 5.0])),
            (
                "y".to_owned(),
                Column::Numeric(vec![0.0, 0.0, 0.1, f64::NAN]),
            ),
        ]);
        let tree = Tree::fit(&table.unwrap(), &[0, 0, 1, 2], Settings::default()).unwrap();
        let expected = "\
4 rows (2, 1, 1)
  x <= 3: 2 rows (2, 0, 0) -> 0
  x > 3: 2 rows (0, 1, 1)
    x <= 4.5: 1 row (0, 1, 0) -> 1
    x > 4.5: 1 row (0, 0, 1) -> 2
";
        assert_eq!(tree.to_string(), expected);
        let path = tree.path(&[4.25, 0.0]);
        let words: Vec<String> = path.iter().map(|step| tree.describe(step)).collect();
        assert_eq!(words, ["x 4.25 > 3", "x 4.25 <= 4.5"]);
        let missing = tree.describe(&tree.path(&[f64::NAN, 0.0])[0]);
        assert_eq!(missing, "x missing, taken as <= 3");
    }

    #[test]
    fn numbers_have_no_zeros_at_the_end() {
        let texts = [29.642_999_999_9, 100.0, -0.000_000_01, 0.5].map(number);
        assert_eq!(texts, ["29.643", "100", "0", "0.5"]);
    }
}
