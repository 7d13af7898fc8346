//! Reads the examples in the documentation, so that tests can use them like a user's files.

use super::workspace;

/// A fenced block of a page, whose first line is "```EXTENSION KIND".
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Example {
    /// Extension of the file that the block represents, such as `toml`.
    pub extension: String,
    /// Kind of the file, such as `plan`.
    pub kind: String,
    /// Content of the file.
    pub text: String,
}

/// The examples of a page, by its path in the workspace.
///
/// # Panics
/// If the page is missing, or a block does not state its extension and kind.
#[must_use]
pub fn examples(page: &str) -> Vec<Example> {
    let path = workspace().join(page);
    let Ok(text) = std::fs::read_to_string(&path) else {
        panic!("{} is missing", path.display())
    };
    let blocks = text.split("\n```").skip(1).step_by(2);
    let example = |block: &str| {
        let (info, text) = block.split_once('\n')?;
        let (extension, kind) = info.split_once(' ')?;
        Some(Example {
            extension: extension.to_owned(),
            kind: kind.to_owned(),
            text: format!("{text}\n"),
        })
    };
    let Some(examples) = blocks.map(example).collect() else {
        panic!("{page}: each block must state its extension and kind")
    };
    examples
}
