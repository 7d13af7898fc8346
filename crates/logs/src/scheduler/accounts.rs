//! Reads accounting logs of PBS and Cobalt, which have one record for the start and one for the end
//! of each job.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::account_line::AccountLine;
use super::clock::epoch;
use super::collector::{At, Collector, LookedUp};
use super::counts::Reason;
use super::reader::LineReader;
use super::record::{Job, Moment, Nodes, Record, Run};
use super::select::Selection;
use crate::occupancy::Hold;
use gleaner_domain::Stamp;
use gleaner_domain::error::Result;
use gleaner_io::input::Line;

/// Extracts lists of hosts from a record; `None` if the record names no nodes.
pub(super) type Hosts = fn(&AccountLine<'_>) -> Option<Vec<Cow<'static, str>>>;

/// Reads the accounting records of one kind of log.
pub(super) struct AccountReader {
    hosts: Hosts,
    /// The jobs and reservations that have begun but not ended, by [`key`].
    open: BTreeMap<String, Open>,
    /// For each node that is down, the start of its outage, and the place of the record in the log. The start is a
    /// local time if the clock of the log was unknown when the record was read.
    down: BTreeMap<String, (Moment, At)>,
    /// The time of the last start or end of a job.
    last: Option<Moment>,
}

/// A running job, or a reservation that holds its nodes.
struct Open {
    from: i64,
    /// The planned end of a reservation, in seconds since 1970; `None` for a job.
    planned: Option<i64>,
    hold: Hold,
    held: LookedUp,
    submit: Option<Moment>,
    at: At,
}

impl AccountReader {
    /// A reader for one kind of log. `hosts` extracts the node names from the records of such a log.
    pub fn new(hosts: Hosts) -> Self {
        AccountReader {
            hosts,
            open: BTreeMap::new(),
            down: BTreeMap::new(),
            last: None,
        }
    }

    /// The time of a record in seconds since 1970. A local time occurs twice if the clock was put back over it. In that
    /// case, chooses an occurrence that is not before the last start or end of a job.
    fn stamp(&self, stamp: Stamp, at: At, collector: &mut Collector<'_>) -> Result<i64> {
        let times = [self.last, Some(Moment::Written(stamp))];
        let [_, second] = collector.log.seconds(at, times)?;
        Ok(second.unwrap_or_default())
    }

    /// Records that a job started or ended at `second`, according to a record with the timestamp `stamp`.
    /// The timestamp is a local time and `second` is in UTC, so the pair shows the log's offset from UTC.
    fn learn(&mut self, stamp: Stamp, second: i64, collector: &mut Collector<'_>) {
        collector.written(stamp, second);
        self.last = Some(Moment::Second(second));
    }

    /// Handles a record according to its type, such as `S` for the start and `E` for the end of a job.
    fn record(
        &mut self,
        record: &AccountLine<'_>,
        at: At,
        collector: &mut Collector<'_>,
    ) -> Result<()> {
        if !collector
            .log
            .selects(|selection| self.takes(record, selection))
        {
            return Ok(());
        }
        match record.kind {
            "S" => self.started(record, Hold::Running, at, collector),
            "B" => self.started(record, Hold::Reserved, at, collector),
            "E" => self.ended(record, at, collector),
            "R" if record.value("end").is_some() => self.ended(record, at, collector),
            "R" | "A" => self.stopped(Hold::Running, record, at, collector),
            "F" | "K" => self.stopped(Hold::Reserved, record, at, collector),
            "ND" => self.node_down(record, at, collector),
            "NU" => self.node_up(record, at, collector),
            _ => {
                collector.log.leave_out(Reason::OtherRecord);
                Ok(())
            }
        }
    }

    /// Whether the record is used: true except for the starts and ends of jobs in queues that the user did not select.
    /// A start record states the queue. An end record without a queue is used if the start record of the same job was
    /// used.
    fn takes(&self, record: &AccountLine<'_>, selection: &Selection) -> bool {
        let is_end = matches!(record.kind, "E" | "R");
        if selection.is_all() || record.kind != "S" && !is_end {
            return true;
        }
        match record.value("queue") {
            Some(queue) => selection.takes_partition(&queue),
            None => is_end && self.open.contains_key(&key(Hold::Running, record.id)),
        }
    }

    /// Handles the start of a job or a reservation. If an earlier hold of the same kind with the same id is still
    /// open, counts a fault and ends that hold at the new start, or at its own start if that is later.
    fn started(
        &mut self,
        record: &AccountLine<'_>,
        hold: Hold,
        at: At,
        collector: &mut Collector<'_>,
    ) -> Result<()> {
        let Some(from) = time(record, "start", at, collector)? else {
            return Ok(());
        };
        if hold == Hold::Running {
            self.learn(record.stamp, from, collector);
        }
        let id = key(hold, record.id);
        if let Some(before) = self.open.remove(&id) {
            let found = format_args!("{} started again", record.id);
            collector.log.fault(Reason::StartsAgain, at, found)?;
            let until = from.max(before.from);
            before.report(Some(until), collector)?;
        }
        let planned = record.value("end").as_deref().and_then(epoch);
        // A job holds nodes even if its record does not name them.
        let hosts = named((self.hosts)(record), record, at, collector)?.unwrap_or_default();
        let open = Open {
            from,
            planned: planned.filter(|end| hold == Hold::Reserved && *end > from),
            hold,
            held: collector.look_up(at, &Nodes::Named(&hosts))?,
            submit: submission(record),
            at,
        };
        self.open.insert(id, open);
        Ok(())
    }

    /// Handles the end of a job. The end record normally repeats the start and the nodes. If it does not, they are
    /// taken from the start record.
    fn ended(
        &mut self,
        record: &AccountLine<'_>,
        at: At,
        collector: &mut Collector<'_>,
    ) -> Result<()> {
        let Some(to) = time(record, "end", at, collector)? else {
            return Ok(());
        };
        self.learn(record.stamp, to, collector);
        let open = self.open.remove(&key(Hold::Running, record.id));
        let from = match (record.value("start"), &open) {
            (Some(_), _) => match time(record, "start", at, collector)? {
                Some(from) => from,
                None => return Ok(()),
            },
            (None, Some(open)) => open.from,
            (None, None) => {
                collector.log.leave_out(Reason::NeverStarted);
                return Ok(());
            }
        };
        match (open, (self.hosts)(record)) {
            (Some(open), None) if from <= to => Open { from, ..open }.report(Some(to), collector),
            (_, hosts) => {
                // The job held nodes even if its records do not name them.
                let hosts = named(hosts, record, at, collector)?.unwrap_or_default();
                let job = Job {
                    submit: submission(record),
                    runs: &[Run::between(from, Some(to), Nodes::Named(&hosts))],
                    ..Job::default()
                };
                collector.take(at, &Record::Job(job))
            }
        }
    }

    /// Ends a job or a reservation at the time at which `record` was written. A reservation ends at its planned end if
    /// that is earlier.
    fn stopped(
        &mut self,
        hold: Hold,
        record: &AccountLine<'_>,
        at: At,
        collector: &mut Collector<'_>,
    ) -> Result<()> {
        let Some(open) = self.open.remove(&key(hold, record.id)) else {
            collector.log.leave_out(Reason::OtherRecord);
            return Ok(());
        };
        let stamp = self.stamp(record.stamp, at, collector)?;
        let to = open.planned.map_or(stamp, |planned| planned.min(stamp));
        open.report(Some(to.max(open.from)), collector)
    }

    /// Begins an outage of the node that went down, unless the log already shows the node as down.
    fn node_down(
        &mut self,
        record: &AccountLine<'_>,
        at: At,
        collector: &mut Collector<'_>,
    ) -> Result<()> {
        let mut since = Moment::Written(record.stamp);
        if self.last.is_some() || collector.log.clock.has_zone() {
            since = Moment::Second(self.stamp(record.stamp, at, collector)?);
        }
        self.down.entry(record.id.to_owned()).or_insert((since, at));
        Ok(())
    }

    /// Ends the outage of the node that came up again.
    fn node_up(
        &mut self,
        record: &AccountLine<'_>,
        at: At,
        collector: &mut Collector<'_>,
    ) -> Result<()> {
        let Some((since, _)) = self.down.remove(record.id) else {
            collector.log.leave_out(Reason::NoOutage);
            return Ok(());
        };
        let [from] = collector.log.seconds(at, [Some(since)])?;
        let to = self.stamp(record.stamp, at, collector)?;
        let lists = [Cow::Borrowed(record.id)];
        let nodes = Nodes::Named(&lists);
        let run = Run::between(from.unwrap_or_default(), Some(to), nodes);
        collector.take(at, &Record::Hold(Hold::Down, run))
    }
}

impl LineReader for AccountReader {
    fn line(&mut self, line: &Line<'_>, collector: &mut Collector<'_>) -> Result<()> {
        let at = collector.log.at(line.place);
        match AccountLine::parse(&line.text) {
            Ok(record) => self.record(&record, at, collector),
            Err(found) => collector.log.fault(Reason::Unreadable, at, found),
        }
    }

    fn finish(&mut self, collector: &mut Collector<'_>) -> Result<()> {
        for open in std::mem::take(&mut self.open).into_values() {
            let planned = open.planned;
            open.report(planned, collector)?;
        }
        for (node, (since, at)) in std::mem::take(&mut self.down) {
            let [from] = collector.log.seconds(at, [Some(since)])?;
            let lists = [Cow::Owned(node)];
            let nodes = Nodes::Named(&lists);
            let run = Run::between(from.unwrap_or_default(), None, nodes);
            collector.take(at, &Record::Hold(Hold::Down, run))?;
        }
        Ok(())
    }
}

impl Open {
    /// Reports the job or the reservation. `to` is the end in seconds since 1970; `None` if unknown.
    fn report(&self, to: Option<i64>, collector: &mut Collector<'_>) -> Result<()> {
        let nodes = Nodes::Found(&self.held.nodes, self.held.lack.as_ref());
        let run = Run::between(self.from, to, nodes);
        let record = match self.hold {
            Hold::Running => Record::Job(Job {
                submit: self.submit,
                runs: &[run],
                ..Job::default()
            }),
            hold => Record::Hold(hold, run),
        };
        collector.take(self.at, &record)
    }
}

/// The node lists of a record. If there are none, counts a fault and returns `None`.
fn named(
    hosts: Option<Vec<Cow<'static, str>>>,
    record: &AccountLine<'_>,
    at: At,
    collector: &mut Collector<'_>,
) -> Result<Option<Vec<Cow<'static, str>>>> {
    if hosts.is_none() {
        let found = format_args!("{} of {} without nodes", record.kind, record.id);
        collector.log.fault(Reason::NoNodes, at, found)?;
    }
    Ok(hosts)
}

/// The time at which a job was submitted, if the record states it.
fn submission(record: &AccountLine<'_>) -> Option<Moment> {
    let value = record.value("qtime").or_else(|| record.value("ctime"))?;
    epoch(&value).map(Moment::Second)
}

/// The key of a job or a reservation in `AccountReader::open`. A job and a reservation can have the same id.
fn key(hold: Hold, id: &str) -> String {
    format!("{} {id}", hold.name())
}

/// A time attribute of a record, in seconds since 1970. If it is missing or invalid, counts a fault
/// and returns `None`.
fn time(
    record: &AccountLine<'_>,
    name: &str,
    at: At,
    collector: &mut Collector<'_>,
) -> Result<Option<i64>> {
    let value = record.value(name);
    let time = value.as_deref().and_then(epoch);
    collector.log.clock.count_epochs();
    if time.is_none() {
        let value = value.as_deref().unwrap_or("nothing");
        let found = format_args!("{value:?} is not a valid {name} in epoch seconds");
        collector.log.fault(Reason::Unreadable, at, found)?;
    }
    Ok(time)
}
