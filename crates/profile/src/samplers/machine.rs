//! Usage of the whole machine, from /proc.

use std::fs;

/// Memory of the machine, in bytes; `None` if the system does not report it.
pub(super) fn memory() -> Option<f64> {
    let text = fs::read_to_string("/proc/meminfo").ok()?;
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix("MemTotal:"))?;
    let number: f64 = line.trim().strip_suffix(" kB")?.trim().parse().ok()?;
    Some(number * 1024.0)
}

/// Memory in use, in bytes: the total memory minus the available memory.
pub(super) fn memory_used() -> Option<f64> {
    let text = fs::read_to_string("/proc/meminfo").ok()?;
    let of = |name: &str| -> Option<f64> {
        let line = text.lines().find_map(|line| line.strip_prefix(name))?;
        line.trim().strip_suffix(" kB")?.trim().parse().ok()
    };
    Some((of("MemTotal:")? - of("MemAvailable:")?) * 1024.0)
}

/// Clock ticks of the given cores since boot: the ticks in which they were busy, and all ticks.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Ticks {
    pub busy: f64,
    pub all: f64,
}

impl Ticks {
    /// Reads the ticks of the given cores; `None` if the system does not report them.
    pub fn of(cores: &[usize]) -> Option<Self> {
        Self::parse(&fs::read_to_string("/proc/stat").ok()?, cores)
    }

    /// Reads the lines `cpu0 user nice system idle iowait irq softirq steal …`.
    fn parse(text: &str, cores: &[usize]) -> Option<Self> {
        let mut sum = Ticks::default();
        for line in text.lines() {
            let mut words = line.split_whitespace();
            let name = words.next().and_then(|name| name.strip_prefix("cpu"));
            let core = name.and_then(|name| name.parse().ok());
            if !core.is_some_and(|core| cores.contains(&core)) {
                continue;
            }
            // Only eight columns are read, because `user` already includes the time of guests.
            let ticks: Vec<f64> = words.take(8).map_while(|word| word.parse().ok()).collect();
            let all: f64 = ticks.iter().sum();
            let idle: f64 = ticks.iter().skip(3).take(2).sum();
            sum.all += all;
            sum.busy += all - idle;
        }
        (sum.all > 0.0).then_some(sum)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_of_some_cores() {
        let text = "cpu  9 9 9 9 9 9 9 9 9 9\ncpu0 1 2 3 40 5 6 7 8 1 0\n\
                    cpu1 10 0 0 90 0 0 0 0 0 0\ncpu10 5 5 5 5 5 5 5 5 0 0\nintr 1 2\n";
        let found = Ticks::parse(text, &[0, 1]).unwrap();
        let (busy, all) = (27.0 + 10.0, 72.0 + 100.0);
        assert_eq!(found, Ticks { busy, all });
        assert_eq!(Ticks::parse(text, &[7]), None);
    }
}
