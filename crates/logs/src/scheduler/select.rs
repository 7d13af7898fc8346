//! The selection of a log's jobs by partition and state.

use gleaner_domain::error::Fault;
use gleaner_io::input::Place;

/// Selects jobs by partition and state. An empty list does not restrict the selection.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Selection {
    /// Names of partitions or queues.
    pub partitions: Vec<String>,
    /// States, in upper or lower case.
    pub states: Vec<String>,
}

impl Selection {
    /// Whether a job of this partition and state is used. Only the first word of a state counts, such as `CANCELLED` in
    /// `CANCELLED by 1000`.
    pub(super) fn takes(&self, partition: &str, state: &str) -> bool {
        let state = state.split(' ').next().unwrap_or_default();
        self.takes_partition(partition)
            && (self.states.is_empty() || self.states.iter().any(|s| s.eq_ignore_ascii_case(state)))
    }

    /// Whether a job of this partition is used, whatever its state. A job can list several partitions, separated by
    /// commas.
    pub(super) fn takes_partition(&self, partition: &str) -> bool {
        let is_in = |name: &String| partition.split(',').any(|part| part == name);
        self.partitions.is_empty() || self.partitions.iter().any(is_in)
    }

    /// Whether all jobs are used.
    pub fn is_all(&self) -> bool {
        self.partitions.is_empty() && self.states.is_empty()
    }
}

/// The fault to report for a table that lacks the column by which jobs are selected.
pub(super) fn no_column(column: &str, place: Place<'_>) -> Fault {
    let expected = format!("the column {column}, by which --partition selects jobs");
    Fault::of(place.file, "none in the header", expected).at(place.within())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jobs_are_selected_by_partition_and_state() {
        let list = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
        let selection = Selection {
            partitions: list(&["gpu", "debug"]),
            states: list(&["completed", "CANCELLED"]),
        };
        assert!(selection.takes("gpu", "COMPLETED"));
        assert!(selection.takes("long,debug", "CANCELLED by 1000"));
        assert!(!selection.takes("gpu-long", "COMPLETED"));
        assert!(!selection.takes("gpu", "FAILED"));
        assert!(Selection::default().takes("", ""));
    }
}
