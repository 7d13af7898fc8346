//! Finds the CPU cores that this process may use, and pins threads to cores.

use std::collections::BTreeSet;
use std::io;

/// Maximum number of cores in a CPU set of the operating system. Core numbers in lists must be
/// below this value.
const MOST: usize = 1024;

/// Parses a list of cores such as `0-3,8` and returns them in ascending order; `None` if the list is invalid.
pub(crate) fn parse(text: &str) -> Option<Vec<usize>> {
    let mut cores = BTreeSet::new();
    for part in text.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let number = |word: &str| word.trim().parse().ok().filter(|&core| core < MOST);
        let (first, last): (usize, usize) = (number(first)?, number(last)?);
        if first > last {
            return None;
        }
        cores.extend(first..=last);
    }
    Some(cores.into_iter().collect())
}

/// Formats a list of cores as text that [`parse`] reads.
pub(crate) fn text(cores: &[usize]) -> String {
    let runs = cores.chunk_by(|a, b| a + 1 == *b);
    let shown: Vec<String> = runs
        .map(|run| match run {
            [first, .., last] => format!("{first}-{last}"),
            _ => run[0].to_string(),
        })
        .collect();
    shown.join(",")
}

/// The cores that this process may use, in ascending order.
#[cfg(target_os = "linux")]
pub(crate) fn allowed() -> Vec<usize> {
    match rustix::thread::sched_getaffinity(None) {
        Ok(set) => (0..MOST).filter(|&core| set.is_set(core)).collect(),
        Err(_) => vec![0],
    }
}

/// The cores that this process may use, in ascending order.
#[cfg(not(target_os = "linux"))]
pub(crate) fn allowed() -> Vec<usize> {
    let count = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    (0..count).collect()
}

/// Pins the calling thread, and all threads and processes that it starts afterwards, to the given cores.
///
/// # Errors
/// The system refuses to pin the thread.
#[cfg(target_os = "linux")]
pub(crate) fn pin(cores: &[usize]) -> io::Result<()> {
    let mut set = rustix::thread::CpuSet::new();
    cores.iter().for_each(|&core| set.set(core));
    rustix::thread::sched_setaffinity(None, &set).map_err(io::Error::from)
}

/// Pins the calling thread, and all threads and processes that it starts afterwards, to the given cores.
///
/// # Errors
/// Returns an error unless the list equals [`allowed`], because threads cannot be pinned on this system.
#[cfg(not(target_os = "linux"))]
pub(crate) fn pin(cores: &[usize]) -> io::Result<()> {
    if cores == allowed() {
        Ok(())
    } else {
        Err(io::ErrorKind::Unsupported.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_cores() {
        assert_eq!(parse("0-3,8"), Some(vec![0, 1, 2, 3, 8]));
        assert_eq!(parse("8, 1-1 ,0"), Some(vec![0, 1, 8]));
        for bad in [
            "",
            "a",
            "3-1",
            "0-",
            "-1",
            "1,,2",
            "0-1024",
            "0-99999999999999999999",
        ] {
            assert_eq!(parse(bad), None, "{bad:?}");
        }
        for list in ["0-3,8", "0", "1-2,4-5"] {
            assert_eq!(text(&parse(list).unwrap()), list);
        }
    }
}
