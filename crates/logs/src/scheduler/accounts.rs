//! Reads accounting logs of PBS and Cobalt, which have a record for the start and the end of each
//! job.

use std::collections::BTreeMap;
use std::path::Path;

use super::clock::epoch;
use super::collector::{HoldCollector, Runs};
use super::counts::Reason;
use super::reader::LineReader;
use super::record::Record;
use gleaner_core::domain::{Stamp, Time};
use gleaner_core::error::Result;
use gleaner_io::input::{Line, Place};
use gleaner_occupancy::Hold;

/// Extracts lists of hosts from a record; `None` if the record names no nodes.
pub(super) type Hosts = fn(&Record<'_>) -> Option<Vec<String>>;

/// Reads accounting records.
pub(super) struct AccountReader {
    hosts: Hosts,
    /// The jobs and reservations that have begun and not ended, by [`key`].
    open: BTreeMap<String, Open>,
    /// The nodes that are down, and since when. The time is local if the log's clock was not known
    /// when the record was read.
    down: BTreeMap<String, Stamp>,
    /// When the last job started or ended.
    last: Option<Stamp>,
}

/// A running job, or a reservation that holds its nodes.
struct Open {
    from: i64,
    /// The planned end of a reservation, in seconds since 1970; `None` for a job.
    planned: Option<i64>,
    hold: Hold,
    runs: Runs,
}

impl AccountReader {
    /// A reader for one kind of log. `hosts` knows how that log names nodes.
    pub fn new(hosts: Hosts) -> Self {
        AccountReader {
            hosts,
            open: BTreeMap::new(),
            down: BTreeMap::new(),
            last: None,
        }
    }

    /// The time of a record in seconds since 1970. Of the two times that a repeated local hour can
    /// mean, it takes one that is not before the last start or end of a job.
    fn stamp(&self, stamp: Stamp, place: Place<'_>, collector: &mut HoldCollector) -> Result<i64> {
        let [_, second] = collector.seconds(place, [self.last, Some(stamp)])?;
        Ok(second.unwrap_or_default())
    }

    /// Notes that a job started or ended at this second, in a record written then. The log's clock
    /// is learnt from the pair: the record's stamp is local time, and the second is in UTC.
    fn learn(&mut self, stamp: Stamp, second: i64, collector: &mut HoldCollector) {
        collector.clock.learn(stamp, second);
        collector.span.record(second);
        self.last = Some(Stamp::Epoch(Time::from_seconds(second)));
    }

    /// Handles a record by its type, such as `S` for the start and `E` for the end of a job.
    fn record(
        &mut self,
        record: &Record<'_>,
        place: Place<'_>,
        collector: &mut HoldCollector,
    ) -> Result<()> {
        match record.kind {
            "S" => self.started(record, Hold::Running, place, collector),
            "B" => self.started(record, Hold::Reserved, place, collector),
            "E" => self.ended(record, place, collector),
            "R" if record.value("end").is_some() => self.ended(record, place, collector),
            "R" | "A" => self.stopped(Hold::Running, record, place, collector),
            "F" | "K" => self.stopped(Hold::Reserved, record, place, collector),
            "ND" => self.node_down(record, place, collector),
            "NU" => self.node_up(record, place, collector),
            _ => {
                collector.log_counts.leave_out(Reason::OtherRecord);
                Ok(())
            }
        }
    }

    /// A job or a reservation began. If it was already open, its nodes are held until this start.
    fn started(
        &mut self,
        record: &Record<'_>,
        hold: Hold,
        place: Place<'_>,
        collector: &mut HoldCollector,
    ) -> Result<()> {
        let Some(from) = time(record, "start", place, collector)? else {
            return Ok(());
        };
        if hold == Hold::Running {
            self.learn(record.stamp, from, collector);
        }
        let id = key(hold, record.id);
        if let Some(before) = self.open.remove(&id) {
            collector.fault(
                Reason::StartsAgain,
                place,
                format_args!("{} started again", record.id),
            )?;
            let until = from.max(before.from);
            collector.hold_runs(&before.runs, hold, before.from, Some(until))?;
        }
        let planned = record.value("end").as_deref().and_then(epoch);
        if let Some(runs) = self.runs(record, place, collector)? {
            let open = Open {
                from,
                planned: planned.filter(|end| hold == Hold::Reserved && *end > from),
                hold,
                runs,
            };
            self.open.insert(id, open);
        }
        Ok(())
    }

    /// A job ended. Its end record names its start and nodes too; what it lacks comes from the
    /// start record.
    fn ended(
        &mut self,
        record: &Record<'_>,
        place: Place<'_>,
        collector: &mut HoldCollector,
    ) -> Result<()> {
        let Some(to) = time(record, "end", place, collector)? else {
            return Ok(());
        };
        self.learn(record.stamp, to, collector);
        let open = self.open.remove(&key(Hold::Running, record.id));
        let from = match (record.value("start"), &open) {
            (Some(_), _) => match time(record, "start", place, collector)? {
                Some(from) => from,
                None => return Ok(()),
            },
            (None, Some(open)) => open.from,
            (None, None) => {
                collector.log_counts.leave_out(Reason::NeverStarted);
                return Ok(());
            }
        };
        match (open, (self.hosts)(record)) {
            (Some(open), None) if from <= to => {
                collector.hold_runs(&open.runs, Hold::Running, from, Some(to))
            }
            _ => match self.runs(record, place, collector)? {
                Some(_) => collector.hold(place, Hold::Running, from, Some(to)),
                None => Ok(()),
            },
        }
    }

    /// A job or a reservation ended when this record was written.
    fn stopped(
        &mut self,
        hold: Hold,
        record: &Record<'_>,
        place: Place<'_>,
        collector: &mut HoldCollector,
    ) -> Result<()> {
        let Some(open) = self.open.remove(&key(hold, record.id)) else {
            collector.log_counts.leave_out(Reason::OtherRecord);
            return Ok(());
        };
        let stamp = self.stamp(record.stamp, place, collector)?;
        let to = open.planned.map_or(stamp, |planned| planned.min(stamp));
        collector.hold_runs(&open.runs, open.hold, open.from, Some(to.max(open.from)))
    }

    /// A node went down: its outage begins, unless it is already down.
    fn node_down(
        &mut self,
        record: &Record<'_>,
        place: Place<'_>,
        collector: &mut HoldCollector,
    ) -> Result<()> {
        let mut since = record.stamp;
        if self.last.is_some() || collector.clock.has_zone() {
            since = Stamp::Epoch(Time::from_seconds(self.stamp(since, place, collector)?));
        }
        self.down.entry(record.id.to_owned()).or_insert(since);
        Ok(())
    }

    /// A node is up again: its outage ends.
    fn node_up(
        &mut self,
        record: &Record<'_>,
        place: Place<'_>,
        collector: &mut HoldCollector,
    ) -> Result<()> {
        let Some(since) = self.down.remove(record.id) else {
            collector.log_counts.leave_out(Reason::NoOutage);
            return Ok(());
        };
        let [from] = collector.seconds(place, [Some(since)])?;
        let (from, to) = (
            from.unwrap_or_default(),
            self.stamp(record.stamp, place, collector)?,
        );
        if collector.look_up(place, [record.id], None)?.is_some() {
            collector.hold(place, Hold::Down, from, Some(to))?;
        }
        Ok(())
    }

    /// The nodes of a record. Returns `None` if there are none, and counts that as a fault.
    fn runs(
        &self,
        record: &Record<'_>,
        place: Place<'_>,
        collector: &mut HoldCollector,
    ) -> Result<Option<Runs>> {
        let Some(hosts) = (self.hosts)(record) else {
            let found = format_args!("{} of {} without nodes", record.kind, record.id);
            collector.fault(Reason::NoNodes, place, found)?;
            return Ok(None);
        };
        let runs = collector.look_up(place, hosts.iter().map(String::as_str), None)?;
        Ok(runs.map(<[_]>::to_vec))
    }
}

impl LineReader for AccountReader {
    fn line(&mut self, line: &Line<'_>, collector: &mut HoldCollector) -> Result<()> {
        match Record::parse(&line.text) {
            Ok(record) => self.record(&record, line.place, collector),
            Err(found) => collector.fault(Reason::Unreadable, line.place, found),
        }
    }

    fn finish(&mut self, collector: &mut HoldCollector) -> Result<()> {
        for open in std::mem::take(&mut self.open).into_values() {
            collector.hold_runs(&open.runs, open.hold, open.from, open.planned)?;
        }
        for (node, since) in std::mem::take(&mut self.down) {
            // A stamp that is still local has no known clock. So it cannot be ambiguous, and no
            // message needs a place.
            let nowhere = Place::line(Path::new(""), 0);
            let [from] = collector.seconds(nowhere, [Some(since)])?;
            let looked = collector.nodes.look_up([node.as_str()]);
            if looked.is_ok() {
                let runs = collector.nodes.runs().to_vec();
                collector.hold_runs(&runs, Hold::Down, from.unwrap_or_default(), None)?;
            }
        }
        Ok(())
    }
}

/// The key in the map of open jobs and reservations. Jobs and reservations have separate ids.
fn key(hold: Hold, id: &str) -> String {
    format!("{} {id}", hold.name())
}

/// A time attribute of a record, in seconds since 1970. Returns `None` if it is missing or invalid,
/// and counts that as a fault.
fn time(
    record: &Record<'_>,
    name: &str,
    place: Place<'_>,
    collector: &mut HoldCollector,
) -> Result<Option<i64>> {
    let value = record.value(name);
    let time = value.as_deref().and_then(epoch);
    collector.clock.count_epochs();
    if time.is_none() {
        let value = value.as_deref().unwrap_or("nothing");
        let found = format_args!("{value:?} is not a valid {name} in epoch seconds");
        collector.fault(Reason::Unreadable, place, found)?;
    }
    Ok(time)
}
