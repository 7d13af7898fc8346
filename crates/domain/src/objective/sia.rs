//! The objective of Sia's scheduler (Jayaram Subramanya et al., SOSP 2023, section 3.4).
//!
//! A task's goodput is its speedup. If the task's nodes change, the goodput is multiplied by a restart factor. The
//! factor is lower for younger tasks and for tasks that have restarted more often. The goodput is raised to a power. A
//! negative power makes the objective fair, because it favours tasks with little goodput.

use std::fmt;
use std::str::FromStr;

/// The parameters of `sia(POWER, PENALTY)`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sia {
    /// Exponent of the goodput, not 0.
    power: f64,
    /// Value added for every task that holds nodes, in addition to the value of its goodput.
    penalty: f64,
}

impl Sia {
    /// Value per second of a task with this goodput; `None` if the goodput is 0 or the value is not finite.
    pub fn value(&self, goodput: f64) -> Option<f64> {
        let power = goodput.powf(self.power);
        let value = if self.power < 0.0 {
            self.penalty - power
        } else {
            self.penalty + power
        };
        (goodput > 0.0 && value.is_finite()).then_some(value)
    }

    /// The share of its goodput that a task keeps if its nodes change. The task was submitted `age` seconds ago and has
    /// restarted `restarts` times. Each restart takes `seconds`.
    ///
    /// A task that is younger than the duration of one restart loses nothing.
    pub fn restart_factor(age: f64, restarts: u32, seconds: f64) -> f64 {
        if age < seconds || seconds <= 0.0 {
            return 1.0;
        }
        (age - f64::from(restarts) * seconds).max(0.0) / (age + seconds)
    }
}

/// Parses `sia(POWER, PENALTY)`.
impl FromStr for Sia {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let fault = || {
            format!(
                "found {text:?}, expected sia(POWER, PENALTY) with a power from -10 to 10 other than 0 and a penalty from \
                 -1e6 to 1e6, such as sia(-0.5, 1.1)"
            )
        };
        let inner = text
            .strip_prefix("sia(")
            .and_then(|rest| rest.strip_suffix(')'));
        let (power, penalty) = inner
            .and_then(|inner| inner.split_once(','))
            .ok_or_else(fault)?;
        let number = |text: &str| text.trim().parse::<f64>().map_err(|_| fault());
        let sia = Sia {
            power: number(power)?,
            penalty: number(penalty)?,
        };
        let is_valid = (-10.0..=10.0).contains(&sia.power)
            && sia.power != 0.0
            && (-1e6..=1e6).contains(&sia.penalty);
        if is_valid { Ok(sia) } else { Err(fault()) }
    }
}

impl fmt::Display for Sia {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "sia({}, {})", self.power, self.penalty)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_negative_power_favours_tasks_with_little_goodput() {
        let sia: Sia = "sia(-0.5, 1.1)".parse().unwrap();
        assert_eq!(sia.value(4.0), Some(1.1 - 0.5));
        assert_eq!(sia.value(1.0), Some(1.1 - 1.0));
        assert_eq!(sia.value(0.0), None);
        let sia: Sia = "sia(1,-0.5)".parse().unwrap();
        assert_eq!(sia.value(4.0), Some(3.5));
    }

    // In the first case, the task was submitted 300 s ago and has restarted once. A restart takes 100 s.
    #[test]
    fn restarts_cost_young_tasks_more() {
        assert_eq!(Sia::restart_factor(300.0, 1, 100.0), 200.0 / 400.0);
        assert_eq!(Sia::restart_factor(300.0, 5, 100.0), 0.0);
        assert_eq!(Sia::restart_factor(99.0, 0, 100.0), 1.0);
        assert_eq!(Sia::restart_factor(10.0, 3, 0.0), 1.0);
    }

    #[test]
    fn faulty_parameters_are_refused() {
        for text in [
            "sia",
            "sia()",
            "sia(1)",
            "sia(0, 1)",
            "sia(a, 1)",
            "sia(1, nan)",
            "sia(11, 1)",
        ] {
            assert!(text.parse::<Sia>().is_err(), "{text}");
        }
    }
}
