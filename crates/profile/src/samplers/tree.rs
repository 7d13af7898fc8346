//! Finds the processes of a workload in /proc. This method is used if there are no control groups.
//!
//! A process belongs to the workload if it is in the workload's process group, or if it descends from one of the
//! workload's processes. The process remains a member after its parent has ended. When a child ends, the kernel adds
//! the child's CPU time to a counter of the process that waits for the child. A process that starts and ends between
//! two polls is therefore counted too.
//!
//! This method misses a process that leaves the group and loses its parent between two polls. If no other process
//! waits for a process, the method also misses the CPU time that the process used after its last poll.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::time::Duration;

/// Process id and start time. The id alone is not unique, because the system reuses ids.
type Id = (u32, u64);

/// The status of a process in /proc.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stat {
    id: Id,
    parent: u32,
    group: u32,
    /// CPU time of the process itself, in ticks.
    own: u64,
    /// CPU time, in ticks, of the children for which the process has waited. Includes the descendants for which these
    /// children had waited.
    waited: u64,
}

impl Stat {
    /// Parses `/proc/PID/stat`. The name, in parentheses, may contain any characters.
    fn parse(text: &str) -> Option<Self> {
        let (pid, rest) = text.split_once(' ')?;
        let fields: Vec<&str> = rest.rsplit_once(')')?.1.split_whitespace().collect();
        // The first field after the name is the third field of the file.
        let number = |field: usize| fields.get(field - 3)?.parse::<u64>().ok();
        let short = |field: usize| u32::try_from(number(field)?).ok();
        Some(Stat {
            id: (pid.parse().ok()?, number(22)?),
            parent: short(4)?,
            group: short(5)?,
            own: number(14)? + number(15)?,
            waited: number(16)? + number(17)?,
        })
    }
}

/// The processes of a workload, and their CPU time.
#[derive(Debug)]
pub(super) struct Tree {
    group: u32,
    known: BTreeMap<Id, Stat>,
    ticks: u64,
}

impl Tree {
    /// Starts to sample a process group.
    pub fn new(group: u32) -> Self {
        let mut tree = Tree {
            group,
            known: BTreeMap::new(),
            ticks: 0,
        };
        tree.poll();
        tree
    }

    /// Samples all processes of the system.
    pub fn poll(&mut self) {
        let stats: Vec<Stat> = ids().filter_map(stat).collect();
        self.take(&stats);
    }

    /// Updates the tree from samples of all processes.
    fn take(&mut self, stats: &[Stat]) {
        let now = self.members(stats);
        for (id, stat) in &now {
            let before = self.known.get(id);
            let (own, waited) = before.map_or((0, 0), |before| (before.own, before.waited));
            let counted = self.counted_of_gone(*id, &now);
            self.ticks += stat.own.saturating_sub(own);
            // When a child ends, `waited` grows by the child's total CPU time. `ticks` already contains the part that
            // polls saw. For example, if a child was last seen with 30 ticks and ended with 43 ticks, 13 ticks are
            // added.
            self.ticks += stat.waited.saturating_sub(waited + counted);
        }
        self.known = now;
    }

    /// The processes of the workload.
    fn members(&self, stats: &[Stat]) -> BTreeMap<Id, Stat> {
        let is_rooted =
            |stat: &&Stat| stat.group == self.group || self.known.contains_key(&stat.id);
        let rooted = stats.iter().filter(is_rooted);
        let mut found: BTreeMap<Id, Stat> = rooted.map(|stat| (stat.id, *stat)).collect();
        let mut pids: BTreeSet<u32> = found.keys().map(|id| id.0).collect();
        // Descendants of members are also members. Each round adds the children of the members found so far.
        loop {
            let before = found.len();
            for stat in stats.iter().filter(|stat| pids.contains(&stat.parent)) {
                found.insert(stat.id, *stat);
            }
            if found.len() == before {
                return found;
            }
            pids.extend(found.keys().map(|id| id.0));
        }
    }

    /// Ticks already counted for the processes that have ended since the last poll and for which `id` has waited,
    /// directly or through other ended processes.
    fn counted_of_gone(&self, id: Id, now: &BTreeMap<Id, Stat>) -> u64 {
        let gone = self
            .known
            .values()
            .filter(|stat| !now.contains_key(&stat.id));
        let heirs = gone.filter(|stat| self.heir(stat, now) == Some(id.0));
        heirs.map(|stat| stat.own + stat.waited).sum()
    }

    /// Finds the nearest ancestor that still exists.
    fn heir(&self, stat: &Stat, now: &BTreeMap<Id, Stat>) -> Option<u32> {
        let mut parent = stat.parent;
        for _ in 0..self.known.len() {
            if now.keys().any(|id| id.0 == parent) {
                return Some(parent);
            }
            parent = self
                .known
                .values()
                .find(|other| other.id.0 == parent)?
                .parent;
        }
        None
    }

    /// CPU time of the processes, including the time that they had used before their first samples.
    pub fn cpu(&self) -> Duration {
        let ticks_a_second = rustix::param::clock_ticks_per_second().max(1);
        Duration::from_secs_f64(self.ticks as f64 / ticks_a_second as f64)
    }

    /// Process ids of the workload.
    pub fn processes(&self) -> Vec<u32> {
        self.known.keys().map(|id| id.0).collect()
    }
}

fn ids() -> impl Iterator<Item = u32> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

fn stat(pid: u32) -> Option<Stat> {
    Stat::parse(&fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)
}

/// Memory that processes hold, in bytes. Shared pages are counted once for each process.
pub(super) fn resident(processes: &[u32]) -> f64 {
    let pages = |pid: &u32| -> Option<u64> {
        let text = fs::read_to_string(format!("/proc/{pid}/statm")).ok()?;
        text.split_whitespace().nth(1)?.parse().ok()
    };
    let pages: u64 = processes.iter().filter_map(pages).sum();
    pages as f64 * rustix::param::page_size() as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stat(pid: u32, parent: u32, group: u32, own: u64, waited: u64) -> Stat {
        Stat {
            id: (pid, 0),
            parent,
            group,
            own,
            waited,
        }
    }

    fn tree(stats: &[Stat]) -> Tree {
        let mut tree = Tree {
            group: 10,
            known: BTreeMap::new(),
            ticks: 0,
        };
        tree.take(stats);
        tree
    }

    #[test]
    fn fields_are_found_behind_any_name() {
        let text = "12 (a) b (c)) S 3 4 5 0 -1 4194560 1 2 3 4 50 60 7 8 20 0 1 0 999 1 1";
        let found = Stat::parse(text).unwrap();
        let expected = Stat {
            id: (12, 999),
            parent: 3,
            group: 4,
            own: 110,
            waited: 15,
        };
        assert_eq!(found, expected);
        assert_eq!(Stat::parse("12 (a) S 1"), None);
    }

    #[test]
    fn descendants_belong_to_the_tree_and_others_do_not() {
        let mut tree = tree(&[
            stat(10, 1, 10, 5, 0),
            stat(11, 10, 11, 7, 0),
            stat(12, 11, 11, 1, 0),
            stat(13, 1, 13, 100, 0),
        ]);
        assert_eq!((tree.ticks, tree.processes()), (13, vec![10, 11, 12]));
        // Process 11 ends. Process 12 becomes a child of process 1 and stays in the tree.
        tree.take(&[stat(10, 1, 10, 5, 9), stat(12, 1, 11, 3, 0)]);
        // Since the last poll, process 12 has used 2 more ticks, and process 11 used 2 more ticks before it ended.
        assert_eq!((tree.ticks, tree.processes()), (17, vec![10, 12]));
    }

    #[test]
    fn the_time_of_a_process_is_counted_once() {
        let mut tree = tree(&[stat(10, 1, 10, 5, 0), stat(11, 10, 10, 40, 0)]);
        // Process 10 waited for process 11, and for another process that no poll has seen.
        tree.take(&[stat(10, 1, 10, 6, 43 + 20)]);
        assert_eq!(tree.ticks, 45 + 1 + 3 + 20);
        // A child and its own child both end between two polls.
        let mut tree = self::tree(&[
            stat(10, 1, 10, 0, 0),
            stat(11, 10, 10, 4, 0),
            stat(12, 11, 10, 6, 0),
        ]);
        tree.take(&[stat(10, 1, 10, 0, 11)]);
        assert_eq!(tree.ticks, 11);
        // If a process ends and no other process waits for it, only the CPU time that the polls saw is counted.
        let mut tree = self::tree(&[stat(10, 1, 10, 0, 0), stat(12, 1, 10, 6, 0)]);
        tree.take(&[stat(10, 1, 10, 2, 0)]);
        assert_eq!(tree.ticks, 8);
    }
}
