//! Which jobs of a log are used.

/// Selects jobs by partition and state. An empty list selects all.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Selection {
    /// Names of partitions.
    pub partitions: Vec<String>,
    /// States, in upper or lower case.
    pub states: Vec<String>,
}

impl Selection {
    /// Whether a job of this partition and state is used. A job may list several partitions. Only the first word of a
    /// state counts, as in `CANCELLED by 1000`.
    pub(super) fn takes(&self, partition: &str, state: &str) -> bool {
        let in_partition = |name: &String| partition.split(',').any(|part| part == name);
        let state = state.split(' ').next().unwrap_or_default();
        (self.partitions.is_empty() || self.partitions.iter().any(in_partition))
            && (self.states.is_empty() || self.states.iter().any(|s| s.eq_ignore_ascii_case(state)))
    }

    /// Whether all jobs are used.
    pub fn is_all(&self) -> bool {
        self.partitions.is_empty() && self.states.is_empty()
    }
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
