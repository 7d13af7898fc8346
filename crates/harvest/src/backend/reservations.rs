//! Reads Slurm's node reservations.
//!
//! Slurm does not start a pilot on a node if a reservation of the node begins before the end of the pilot's wall time.
//! However, a reservation with the flag `IGNORE_JOBS` can be created while a pilot holds the node.

use std::time::{SystemTime, UNIX_EPOCH};

/// Reservations that begin more than this number of seconds from now are ignored.
const SOON: i64 = 24 * 3600;

/// A reservation that has not begun.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Reservation {
    /// Seconds until the reservation begins, at least 0.
    pub in_s: u64,
    /// The reserved nodes as a host list of Slurm, such as `n[1-4],n7`.
    pub nodes: String,
}

/// The reservations that begin soon, from the output of `scontrol --oneliner show reservations` with times in seconds
/// since 1970. A reservation without nodes reserves only licences or cores, and is skipped.
pub(super) fn parse(text: &str) -> Vec<Reservation> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let now = now.map_or(0, |since| since.as_secs() as i64);
    let reservation = |line: &str| {
        let field = |name: &str| {
            let mut words = line.split_whitespace();
            words.find_map(|word| word.strip_prefix(name)?.strip_prefix('='))
        };
        let begins: i64 = field("StartTime")?.parse().ok()?;
        let nodes = field("Nodes").filter(|nodes| !nodes.is_empty() && *nodes != "(null)")?;
        let in_s = begins - now;
        (0..=SOON).contains(&in_s).then(|| Reservation {
            in_s: in_s as u64,
            nodes: nodes.to_owned(),
        })
    };
    text.lines().filter_map(reservation).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_reservations_of_nodes_that_begin_soon_are_listed() {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
        let at = |seconds: i64| now.as_secs() as i64 + seconds;
        let line = |begins: i64, nodes: &str| {
            format!(
                "ReservationName=r StartTime={} EndTime=9999999999 Nodes={nodes} NodeCnt=2\n",
                at(begins)
            )
        };
        let text = [
            line(600, "n[1-2],n7"),
            line(-60, "n3"),
            line(2 * SOON, "n4"),
            line(60, "(null)"),
            "No reservations in the system\n".to_owned(),
        ];
        let found = parse(&text.concat());
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].nodes, "n[1-2],n7");
        assert!((595..=600).contains(&found[0].in_s));
    }
}
