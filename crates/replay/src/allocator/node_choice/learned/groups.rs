//! Sets of nodes that left or joined together.

/// Groups whose members are stored in one list. Members are indices of nodes or of pieces of an order.
#[derive(Debug, Clone)]
pub(super) struct Groups {
    /// Start of each group in `members`, followed by the end of the last group.
    starts: Vec<usize>,
    members: Vec<u32>,
}

impl Default for Groups {
    fn default() -> Self {
        Groups {
            starts: vec![0],
            members: Vec::new(),
        }
    }
}

impl Groups {
    /// Adds a group.
    pub fn push(&mut self, members: impl IntoIterator<Item = u32>) {
        self.members.extend(members);
        self.starts.push(self.members.len());
    }

    /// All groups, the oldest first.
    pub fn iter(&self) -> impl Iterator<Item = &[u32]> {
        let bounds = self.starts.windows(2);
        bounds.map(|bounds| &self.members[bounds[0]..bounds[1]])
    }

    /// The group with this number.
    pub fn get(&self, number: u32) -> &[u32] {
        let number = number as usize;
        &self.members[self.starts[number]..self.starts[number + 1]]
    }

    /// Total number of members of all groups.
    pub fn moves(&self) -> usize {
        self.members.len()
    }

    /// Removes the oldest groups, until at most `kept` members remain.
    pub fn forget(&mut self, kept: usize) {
        let surplus = self.members.len().saturating_sub(kept);
        let groups = self.starts.partition_point(|&start| start < surplus);
        let members = self.starts[groups];
        self.members.drain(..members);
        self.starts.drain(..groups);
        self.starts.iter_mut().for_each(|start| *start -= members);
    }

    /// Returns the groups with each node replaced by its piece. `piece_of` contains the piece of
    /// each node. A group lists each piece once. Groups with only one piece are omitted.
    pub fn of_pieces(&self, piece_of: &[u32]) -> Groups {
        let mut pieces = Groups::default();
        let mut group = Vec::new();
        for nodes in self.iter() {
            group.clear();
            group.extend(nodes.iter().map(|&node| piece_of[node as usize]));
            group.sort_unstable();
            group.dedup();
            if group.len() > 1 {
                pieces.push(group.iter().copied());
            }
        }
        pieces
    }

    /// The groups with at most `most` members.
    pub fn narrow(&self, most: usize) -> Groups {
        let mut narrow = Groups::default();
        for group in self.iter().filter(|group| group.len() <= most) {
            narrow.push(group.iter().copied());
        }
        narrow
    }

    /// Replaces each member m of the groups with `names[m]`.
    pub fn renamed(mut self, names: &[u32]) -> Groups {
        for member in &mut self.members {
            *member = names[*member as usize];
        }
        self
    }

    /// For each member, the numbers of the groups that contain it. Members must be less than
    /// `count`.
    pub fn by_member(&self, count: usize) -> Groups {
        let mut starts = vec![0; count + 1];
        for &member in &self.members {
            starts[member as usize + 1] += 1;
        }
        for member in 0..count {
            starts[member + 1] += starts[member];
        }
        let mut ends = starts.clone();
        let mut members = vec![0; self.members.len()];
        for (number, group) in (0..).zip(self.iter()) {
            for &member in group {
                let end = &mut ends[member as usize];
                members[*end] = number;
                *end += 1;
            }
        }
        Groups { starts, members }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn groups(of: &[&[u32]]) -> Groups {
        let mut groups = Groups::default();
        of.iter()
            .for_each(|group| groups.push(group.iter().copied()));
        groups
    }

    fn listed(groups: &Groups) -> Vec<&[u32]> {
        groups.iter().collect()
    }

    #[test]
    fn groups_of_nodes_become_groups_of_pieces() {
        let groups = groups(&[&[0, 1], &[3, 1, 2], &[0, 2, 4]]);
        let pieces = groups.of_pieces(&[0, 0, 1, 1, 2]);
        assert_eq!(listed(&pieces), [&[0, 1][..], &[0, 1, 2]]);
        assert_eq!(listed(&pieces.narrow(2)), [&[0, 1]]);
        assert_eq!(listed(&pieces.by_member(3)), [&[0, 1][..], &[0, 1], &[1]]);
        let middles = pieces.renamed(&[1, 3, 4]);
        assert_eq!(listed(&middles), [&[1, 3][..], &[1, 3, 4]]);
    }

    // Only whole groups are removed, the oldest first.
    #[test]
    fn the_oldest_groups_are_forgotten() {
        let mut groups = groups(&[&[0, 1], &[3, 1, 2], &[0, 2]]);
        groups.forget(7);
        assert_eq!(groups.moves(), 7);
        groups.forget(6);
        assert_eq!(listed(&groups), [&[3, 1, 2][..], &[0, 2]]);
        groups.forget(3);
        assert_eq!(listed(&groups), [&[0, 2]]);
        groups.forget(0);
        assert_eq!(groups.iter().count(), 0);
    }
}
