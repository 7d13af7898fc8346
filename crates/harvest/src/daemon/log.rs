//! The daemon's log, and a limit on the rate of lines about refused connections.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Writes a line to the log. The program passes a function that adds the time and escapes control characters.
pub type Log = Arc<dyn Fn(&str) + Send + Sync>;

/// Time between two lines about refused connections.
const PAUSE: Duration = Duration::from_secs(5);

/// Writes lines about refused connections, at most one in each [`PAUSE`], because anyone who can reach the port can
/// cause such lines.
pub struct Refusals {
    log: Log,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    last: Option<Instant>,
    unwritten: u64,
}

impl Refusals {
    /// Creates a limit on the lines about refused connections that are written to `log`.
    pub fn new(log: Log) -> Self {
        Refusals {
            log,
            state: Mutex::default(),
        }
    }

    /// Records that the connection from `peer` was closed.
    pub fn add(&self, peer: SocketAddr, reason: &str) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.last.is_some_and(|last| last.elapsed() < PAUSE) {
            state.unwritten += 1;
            return;
        }
        let others = match state.unwritten {
            0 => String::new(),
            count => format!(" ({count} earlier refusals were not logged)"),
        };
        *state = State {
            last: Some(Instant::now()),
            unwritten: 0,
        };
        drop(state);
        (self.log)(&format!(
            "refused a connection from {peer}: {reason}{others}"
        ));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strangers_cannot_fill_the_log() {
        let lines = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&lines);
        let log: Log = Arc::new(move |line: &str| kept.lock().unwrap().push(line.to_owned()));
        let refusals = Refusals::new(log);
        for _ in 0..1000 {
            refusals.add(([127, 0, 0, 1], 9).into(), "wrong secret");
        }
        let lines = lines.lock().unwrap();
        assert_eq!(
            *lines,
            ["refused a connection from 127.0.0.1:9: wrong secret"]
        );
    }
}
