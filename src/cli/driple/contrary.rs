//! Detects options that contradict the model or checkpoint from which a training run starts.

use std::fmt::Display;

use gleaner_domain::error::{Error, Result};

/// Collects the options that contradict the model or checkpoint from which a training run
/// starts.
#[derive(Debug, Default)]
pub struct Contrary(Vec<String>);

impl Contrary {
    /// Records an option if the requested value differs from `known`.
    pub fn add<T: PartialEq + serde::Serialize>(
        &mut self,
        option: &str,
        asked: Option<T>,
        known: T,
    ) {
        if let Some(asked) = asked.filter(|asked| *asked != known) {
            let (asked, known) = (words(&asked), words(&known));
            self.0
                .push(format!("{option} is {asked}, expected {known}"));
        }
    }

    /// Succeeds if no option was recorded.
    ///
    /// # Errors
    /// [`Error::Usage`] if options were recorded. The message lists these options.
    pub fn into_result(self, whose: &str) -> Result<()> {
        if self.0.is_empty() {
            return Ok(());
        }
        let faults = self.0.join("; ");
        Err(Error::Usage(format!(
            "options contradict {whose}: {faults}; leave them out"
        )))
    }
}

fn words(value: &impl serde::Serialize) -> impl Display {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(text)) => text,
        Ok(serde_json::Value::Null) | Err(_) => "none".to_owned(),
        Ok(other) => other.to_string(),
    }
}
