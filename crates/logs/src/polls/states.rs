//! The node states that polls show.

/// A class of node states, which determines whether a node counts as idle.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum StateClass {
    /// Idle: no job runs on the node.
    Idle,
    /// Idle: backfill has planned the node for a waiting job.
    Planned,
    /// Idle: only a job that yields to every other job (a pilot) runs on the node.
    Pilot,
    /// Idle, but powered down, powering down or powering up.
    PoweredDown,
    /// The node accepts no jobs: it is down, drained, reserved, in maintenance or not responding.
    Unavailable,
    /// A job runs on the node.
    Busy,
}

impl StateClass {
    /// All classes.
    pub const ALL: [StateClass; 6] = [
        StateClass::Idle,
        StateClass::Planned,
        StateClass::Pilot,
        StateClass::PoweredDown,
        StateClass::Unavailable,
        StateClass::Busy,
    ];

    /// The index of the class in [`StateClass::ALL`].
    pub fn index(self) -> usize {
        self as usize
    }

    /// The class of a state as `sinfo` prints it, such as `idle`, `MIXED+` or `drng*`; `None` if the word is unknown.
    /// The state can be in its long or short form, and in upper or lower case.
    ///
    /// The last character of a state can be a flag. For example, a node in state `idle~` is powered down, and a node in
    /// state `idle*` does not respond.
    pub fn of(state: &str) -> Option<Self> {
        let state = state.to_ascii_lowercase();
        let word = state.trim_end_matches(FLAGS);
        let flags = &state[word.len()..];
        let class = Self::of_word(word)?;
        let is_idle = matches!(class, StateClass::Idle | StateClass::Planned);
        Some(if flags.contains(NO_JOBS) {
            StateClass::Unavailable
        } else if flags.contains(POWER) && is_idle {
            StateClass::PoweredDown
        } else {
            class
        })
    }

    /// Whether a node of this class counts as idle. `is_powered_down_idle` decides this for
    /// [`StateClass::PoweredDown`].
    pub fn is_idle(self, is_powered_down_idle: bool) -> bool {
        match self {
            StateClass::Idle | StateClass::Planned | StateClass::Pilot => true,
            StateClass::PoweredDown => is_powered_down_idle,
            StateClass::Unavailable | StateClass::Busy => false,
        }
    }

    fn of_word(word: &str) -> Option<Self> {
        let begins = |starts: &[&str]| starts.iter().any(|start| word.starts_with(start));
        Some(match word {
            "idle" => StateClass::Idle,
            "planned" | "plnd" => StateClass::Planned,
            "pilot" => StateClass::Pilot,
            "powered_down" | "power_down" | "power_up" | "pow_dn" | "pow_up" => {
                StateClass::PoweredDown
            }
            _ if word.starts_with("powering_") => StateClass::PoweredDown,
            "drng" | "unk" | "unknown" | "inval" | "no_respond" => StateClass::Unavailable,
            _ if begins(&[
                "drain", "down", "maint", "res", "fail", "fut", "boot", "reboot",
            ]) =>
            {
                StateClass::Unavailable
            }
            "allocated" | "alloc" | "mixed" | "mix" | "completing" | "comp" | "busy"
            | "blocked" | "perfctrs" | "npc" => StateClass::Busy,
            _ => return None,
        })
    }
}

/// The flags that `sinfo` appends to a state. `-` means that backfill has planned the node, and `+` means that a job is
/// completing.
const FLAGS: [char; 10] = ['*', '$', '@', '^', '~', '!', '%', '#', '-', '+'];

/// Flags of nodes that accept no jobs: not responding, in a maintenance reservation, waiting for a reboot, or
/// rebooting.
const NO_JOBS: [char; 4] = ['*', '$', '@', '^'];

/// Flags of nodes that are powered down, powering down or powering up.
const POWER: [char; 4] = ['~', '!', '%', '#'];

#[cfg(test)]
mod tests {
    use super::*;

    // The long and short words come from sinfo's manual, and the rules from the documentation of
    // `gleaner ingest sinfo`.
    #[test]
    fn states_of_slurm_have_classes() {
        let words = |class| match class {
            StateClass::Idle => "idle IDLE idle-",
            StateClass::Planned => "planned plnd planned-",
            StateClass::Pilot => "pilot",
            StateClass::PoweredDown => {
                "idle~ idle! idle% idle# planned~ powered_down powering_down powering_up pow_dn"
            }
            StateClass::Unavailable => {
                "idle* idle$ idle@ idle^ mixed* allocated$ drained drain draining drng drained~ \
                 down down* maint reserved resv reserved- fail failing failg inval unknown unk \
                 future futr boot reboot_issued powered_down*"
            }
            StateClass::Busy => {
                "allocated alloc allocated+ mixed mix mixed- mixed# completing comp busy blocked"
            }
        };
        for class in StateClass::ALL {
            for word in words(class).split_whitespace() {
                assert_eq!(StateClass::of(word), Some(class), "{word}");
            }
        }
        for word in ["offline", "", "*", "idle+drain", "idl"] {
            assert_eq!(StateClass::of(word), None, "{word}");
        }
    }
}
