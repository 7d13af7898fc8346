//! Collects the faults in an input, up to a limit.

use gleaner_domain::error::{Fault, Faults, MAX_FAULTS, Result};

/// Collects the faults in an input. After [`MAX_FAULTS`] faults, an error makes the reader stop.
#[derive(Debug, Default)]
pub struct Gatherer {
    faults: Faults,
}

impl Gatherer {
    /// Adds a fault to the collection.
    ///
    /// # Errors
    /// The number of faults has reached [`MAX_FAULTS`]. The error contains all faults.
    pub fn add(&mut self, fault: Fault) -> Result<()> {
        self.faults.push(fault);
        if self.faults.0.len() < MAX_FAULTS {
            return Ok(());
        }
        std::mem::take(&mut self.faults).into_result(())
    }

    /// Whether no fault has been added so far.
    pub fn is_empty(&self) -> bool {
        self.faults.0.is_empty()
    }

    /// Returns the value if no fault was added.
    ///
    /// # Errors
    /// At least one fault was added. The error contains all faults.
    pub fn finish<T>(self, value: T) -> Result<T> {
        self.faults.into_result(value)
    }

    /// The faults that were added so far.
    pub fn into_faults(self) -> Faults {
        self.faults
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gleaner_domain::error::Error;

    #[test]
    fn reading_stops_at_the_maximum_number_of_faults() {
        let mut gatherer = Gatherer::default();
        for _ in 1..MAX_FAULTS {
            gatherer.add(Fault::default()).unwrap();
        }
        let Err(Error::Data(faults)) = gatherer.add(Fault::default()) else {
            panic!("expected the faults");
        };
        assert_eq!(faults.0.len(), MAX_FAULTS);
    }

    #[test]
    fn without_faults_the_value_is_returned() {
        assert_eq!(Gatherer::default().finish(7).unwrap(), 7);
    }
}
