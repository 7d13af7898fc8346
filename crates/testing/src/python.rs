//! Finds a Python interpreter with PyTorch.

use std::process::Command;

/// A Python interpreter with PyTorch: the interpreter that `GLEANER_TEST_PYTHON` names or, if this variable is not set,
/// python3 or the system's Python. If none of them has PyTorch, prints that the test is skipped. `scripts/torch.sh`
/// installs PyTorch.
#[must_use]
pub fn python_with_torch() -> Option<String> {
    let named = std::env::var("GLEANER_TEST_PYTHON").ok();
    let candidates = match named {
        Some(named) => vec![named],
        None => vec!["python3".to_owned(), "/usr/bin/python3".to_owned()],
    };
    let has_torch = |python: &String| {
        let found = Command::new(python).args(["-c", "import torch"]).output();
        found.is_ok_and(|output| output.status.success())
    };
    let found = candidates.into_iter().find(has_torch);
    if found.is_none() {
        eprintln!("skipped: no Python interpreter has PyTorch; scripts/torch.sh installs it");
    }
    found
}
