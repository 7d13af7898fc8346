//! Converts lines of either format to polls.

use super::recommended::StateLine;
use super::states::StateClass;
use super::whisk::{self, BlockLine};
use crate::scheduler::{At, Input, Log, NodeSet, Reason, note_others};
use gleaner_domain::error::Result;
use gleaner_domain::words::counted;
use gleaner_io::input::Line;

/// The states of nodes at a given time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Poll<'p> {
    /// Seconds since 1970; later than the time of the previous poll.
    pub time: i64,
    /// The nodes that the poll mentions, each once, as indexes into the names. The names are in the order in which
    /// polls first mention them, unless the user gave a list of nodes.
    pub nodes: &'p [(u32, StateClass)],
    /// The class of all other nodes. If `None`, they keep the state that an earlier poll gave them.
    pub others: Option<StateClass>,
}

/// A function that receives polls in chronological order.
pub(super) type Each<'e> = dyn FnMut(&Poll<'_>) -> Result<()> + 'e;

/// Reads polls line by line. Only the current poll and the names of the nodes are in memory.
pub(super) struct PollReader {
    nodes: NodeSet,
    form: Option<Form>,
    /// Time of the current poll; `None` before the first poll, and between blocks.
    time: Option<i64>,
    /// The place at which the current block begins.
    begun: Option<At>,
    /// Time of the last complete poll.
    last: i64,
    /// The nodes of the current poll.
    listed: Listed,
}

/// The format of all polls. The first line determines it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Recommended,
    Whisk,
}

/// The nodes of a poll with their classes, and the position of each node in this list.
#[derive(Default)]
struct Listed {
    nodes: Vec<(u32, StateClass)>,
    /// For every node, its position in `nodes`. Positions are not reset between polls: a position is valid only if the
    /// entry of `nodes` at this position names the node.
    places: Vec<u32>,
}

/// The time of the first poll of a file; `None` if no line has a time.
///
/// # Errors
/// The file cannot be read.
pub(super) fn first_time(input: &mut Input<'_>) -> Result<Option<i64>> {
    while let Some(line) = input.next_line()? {
        let of_line = StateLine::parse(&line.text).map(|line| line.time);
        if let Some(time) = of_line.ok().or_else(|| whisk::begin(&line.text)) {
            return Ok(Some(time));
        }
    }
    Ok(None)
}

impl PollReader {
    /// Creates a reader. `nodes` is the list of nodes from the user, or empty if the user gave none.
    pub fn new(nodes: NodeSet) -> Self {
        PollReader {
            nodes,
            form: None,
            time: None,
            begun: None,
            last: i64::MIN,
            listed: Listed::default(),
        }
    }

    /// Reads a file, and passes its complete polls to `each`. A poll can continue in the next file.
    ///
    /// # Errors
    /// The file cannot be read, `each` fails, or there is a fault and the reader is strict.
    pub fn file(
        &mut self,
        input: &mut Input<'_>,
        log: &mut Log,
        each: &mut Each<'_>,
    ) -> Result<()> {
        log.begin(input.path());
        while let Some(line) = input.next_line()? {
            if log.counts.take(&line)? {
                self.line(&line, log, each)?;
            }
        }
        Ok(())
    }

    /// Passes the last poll to `each`.
    ///
    /// # Errors
    /// Same as for [`PollReader::file`].
    pub fn finish(&mut self, log: &mut Log, each: &mut Each<'_>) -> Result<()> {
        match self.form {
            Some(Form::Whisk) => self.drop_open(log),
            _ => self.end(each),
        }
    }

    /// The nodes in the user's list or, if there is no list, all nodes that polls have named.
    pub fn into_nodes(self) -> NodeSet {
        self.nodes
    }

    /// Leaves out a block that lacks its last line. Nodes that such a block does not list may be idle, so their class
    /// is unknown.
    fn drop_open(&mut self, log: &mut Log) -> Result<()> {
        self.listed.clear();
        if let (Some(time), Some(at)) = (self.time.take(), self.begun) {
            let found = format_args!("a poll at {time} without ---- at its end");
            log.fault(Reason::Unreadable, at, found)?;
        }
        Ok(())
    }

    /// The class of nodes that a poll does not list; `None` if they keep their state.
    pub fn others(&self) -> Option<StateClass> {
        (self.form == Some(Form::Whisk)).then_some(StateClass::Busy)
    }

    fn line(&mut self, line: &Line<'_>, log: &mut Log, each: &mut Each<'_>) -> Result<()> {
        let at = log.at(line.place);
        let of_first = || whisk::begin(&line.text).map_or(Form::Recommended, |_| Form::Whisk);
        match *self.form.get_or_insert_with(of_first) {
            Form::Recommended => match StateLine::parse(&line.text) {
                Ok(state) if !line.ended && !self.nodes.has_all(state.list) => {
                    let found = "a last line without a line break, so its list may be incomplete";
                    log.fault(Reason::Unreadable, at, found)
                }
                Ok(line) => self.state_line(line, at, log, each),
                Err(found) => log.fault(Reason::Unreadable, at, found),
            },
            Form::Whisk => match BlockLine::parse(&line.text) {
                Ok(line) => self.block_line(line, at, log, each),
                Err(found) => log.fault(Reason::Unreadable, at, found),
            },
        }
    }

    /// Handles a line of the recommended format. The line continues the current poll or begins the next one.
    fn state_line(
        &mut self,
        line: StateLine<'_>,
        at: At,
        log: &mut Log,
        each: &mut Each<'_>,
    ) -> Result<()> {
        if self.time.is_some_and(|time| line.time < time) {
            return self.earlier(line.time, at, log);
        }
        if self.time != Some(line.time) {
            self.end(each)?;
            self.time = Some(line.time);
        }
        self.list(line.state, line.list, at, log)
    }

    /// Handles a line of a block. After a block that was left out, lines are ignored until the next
    /// block begins.
    fn block_line(
        &mut self,
        line: BlockLine<'_>,
        at: At,
        log: &mut Log,
        each: &mut Each<'_>,
    ) -> Result<()> {
        match line {
            BlockLine::Begin(time) => {
                self.drop_open(log)?;
                if time <= self.last {
                    return self.earlier(time, at, log);
                }
                (self.time, self.begun) = (Some(time), Some(at));
                Ok(())
            }
            BlockLine::End => self.end(each),
            _ if self.time.is_none() => Ok(()),
            BlockLine::Header | BlockLine::Pilots("") => Ok(()),
            BlockLine::Pilots(list) => self.list("pilot", list, at, log),
            BlockLine::Nodes { state, list } => self.list(state, list, at, log),
        }
    }

    fn earlier(&self, time: i64, at: At, log: &mut Log) -> Result<()> {
        let before = self.time.unwrap_or(self.last);
        log.fault(
            Reason::Earlier,
            at,
            format_args!("the poll at {time} follows the poll at {before}"),
        )
    }

    /// Adds the nodes of `list` to the current poll, with the class of `state`.
    fn list(&mut self, state: &str, list: &str, at: At, log: &mut Log) -> Result<()> {
        let class = StateClass::of(state);
        if class.is_none() {
            log.fault(Reason::UnknownState, at, format_args!("{state:?}"))?;
        }
        let class = class.unwrap_or(StateClass::Busy);
        let looked = match self.nodes.look_up([list], None) {
            Ok(looked) => looked,
            Err(error) => {
                let found = format_args!("a list of nodes with {error}");
                return log.fault(Reason::Unreadable, at, found);
            }
        };
        note_others(&self.nodes, log, at, &looked)?;
        let runs = self.nodes.runs().iter();
        let nodes = runs.flat_map(|run| run.first..run.first + run.count);
        let again = nodes.filter(|node| !self.listed.add(*node, class)).count();
        if again > 0 {
            let found = counted(again, "node");
            log.fault(Reason::ListedTwice, at, found)?;
        }
        Ok(())
    }

    /// Passes the current poll to `each`, if there is one.
    fn end(&mut self, each: &mut Each<'_>) -> Result<()> {
        let Some(time) = self.time.take() else {
            return Ok(());
        };
        let poll = Poll {
            time,
            nodes: &self.listed.nodes,
            others: self.others(),
        };
        each(&poll)?;
        self.last = time;
        self.listed.clear();
        Ok(())
    }
}

impl Listed {
    /// Adds a node. If the node is already listed, keeps its first class and returns false. The node of a pilot is an
    /// exception, because it is listed both for the pilot and for its own state. In this case, keeps the pilot's class
    /// and returns true.
    fn add(&mut self, node: u32, class: StateClass) -> bool {
        let index = node as usize;
        if index >= self.places.len() {
            self.places.resize(index + 1, 0);
        }
        let listed = self.nodes.get_mut(self.places[index] as usize);
        let Some((_, earlier)) = listed.filter(|(listed, _)| *listed == node) else {
            self.places[index] = self.nodes.len() as u32;
            self.nodes.push((node, class));
            return true;
        };
        let is_pilot = |class| class == StateClass::Pilot;
        let is_other = is_pilot(*earlier) || is_pilot(class);
        if is_pilot(class) {
            *earlier = class;
        }
        is_other
    }

    fn clear(&mut self) {
        self.nodes.clear();
    }
}
