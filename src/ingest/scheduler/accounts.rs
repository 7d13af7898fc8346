//! Accounting logs of PBS and Cobalt: a record as each job starts and ends.

use std::collections::BTreeMap;

use super::clock::{Local, epoch};
use super::input::{Line, Place};
use super::intake::{Intake, Runs};
use super::reader::LineReader;
use super::record::Record;
use super::tally::Reason;
use crate::error::Result;
use crate::occupancy::Hold;

/// Splits what a record says of its nodes into lists of hosts; `None` where it says nothing.
pub(super) type Hosts = fn(&Record<'_>) -> Option<Vec<String>>;

/// Reads accounting records.
pub(super) struct AccountReader {
    hosts: Hosts,
    open: BTreeMap<String, Open>,
    /// Nodes that are down, and since when: not known as seconds since 1970 until the
    /// distance of the log's clock is.
    down: BTreeMap<String, Local>,
    /// What local time is ahead of UTC, in seconds, where a record told both.
    ahead: Option<i64>,
}

/// A job that runs, or a reservation that holds its nodes.
struct Open {
    from: i64,
    /// When a reservation is to end.
    planned: Option<i64>,
    hold: Hold,
    runs: Runs,
}

impl AccountReader {
    /// A reader for a kind of log.
    pub fn new(hosts: Hosts) -> Self {
        AccountReader {
            hosts,
            open: BTreeMap::new(),
            down: BTreeMap::new(),
            ahead: None,
        }
    }

    /// A record's time as seconds since 1970.
    fn stamp(&self, stamp: Local, intake: &Intake) -> i64 {
        let second = intake.clock.second(stamp);
        match intake.clock.has_zone() {
            true => second,
            false => second - self.ahead.unwrap_or(0),
        }
    }

    /// Learns what local time is ahead of UTC from a record that was written at `epoch`.
    fn learn(&mut self, stamp: Local, epoch: i64) {
        const QUARTER: i64 = 15 * 60;
        let Local::Civil(stamp) = stamp else {
            return;
        };
        let difference = stamp - epoch;
        let ahead = (difference + QUARTER / 2).div_euclid(QUARTER) * QUARTER;
        // No zone is further ahead; such a record was written late.
        if ahead.abs() <= 15 * 3600 && (difference - ahead).abs() <= QUARTER / 3 {
            self.ahead = Some(ahead);
        }
    }

    fn record(&mut self, record: &Record<'_>, place: Place<'_>, intake: &mut Intake) -> Result<()> {
        match record.kind {
            "S" => self.started(record, Hold::Running, place, intake),
            "B" => self.started(record, Hold::Reserved, place, intake),
            "E" => self.ended(record, place, intake),
            "R" if record.value("end").is_some() => self.ended(record, place, intake),
            "R" | "A" => self.stopped(&key(Hold::Running, record.id), record.stamp, intake),
            "F" | "K" => self.stopped(&key(Hold::Reserved, record.id), record.stamp, intake),
            "ND" => {
                let stamp = record.stamp;
                self.down.entry(record.id.to_owned()).or_insert(stamp);
                Ok(())
            }
            "NU" => self.node_up(record, place, intake),
            _ => {
                intake.tally.leave_out(Reason::OtherRecord);
                Ok(())
            }
        }
    }

    fn started(
        &mut self,
        record: &Record<'_>,
        hold: Hold,
        place: Place<'_>,
        intake: &mut Intake,
    ) -> Result<()> {
        let Some(from) = time(record, "start", place, intake)? else {
            return Ok(());
        };
        if hold == Hold::Running {
            self.learn(record.stamp, from);
            intake.span.record(from);
        }
        let id = key(hold, record.id);
        if let Some(before) = self.open.remove(&id) {
            intake.fault(
                Reason::StartsAgain,
                place,
                format_args!("{} started again", record.id),
            )?;
            let until = from.max(before.from);
            intake.hold_runs(&before.runs, hold, before.from, Some(until))?;
        }
        let planned = record.value("end").as_deref().and_then(epoch);
        if let Some(runs) = self.runs(record, place, intake)? {
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

    fn ended(&mut self, record: &Record<'_>, place: Place<'_>, intake: &mut Intake) -> Result<()> {
        let Some(to) = time(record, "end", place, intake)? else {
            return Ok(());
        };
        self.learn(record.stamp, to);
        intake.span.record(to);
        let open = self.open.remove(&key(Hold::Running, record.id));
        let from = match (record.value("start"), &open) {
            (Some(_), _) => match time(record, "start", place, intake)? {
                Some(from) => from,
                None => return Ok(()),
            },
            (None, Some(open)) => open.from,
            (None, None) => {
                intake.tally.leave_out(Reason::NeverStarted);
                return Ok(());
            }
        };
        match (open, (self.hosts)(record)) {
            (Some(open), None) if from <= to => {
                intake.hold_runs(&open.runs, Hold::Running, from, Some(to))
            }
            _ => match self.runs(record, place, intake)? {
                Some(_) => intake.hold(place, Hold::Running, from, Some(to)),
                None => Ok(()),
            },
        }
    }

    /// Something that was open ended as a record was written.
    fn stopped(&mut self, id: &str, stamp: Local, intake: &mut Intake) -> Result<()> {
        let Some(open) = self.open.remove(id) else {
            intake.tally.leave_out(Reason::OtherRecord);
            return Ok(());
        };
        let stamp = self.stamp(stamp, intake);
        let to = open.planned.map_or(stamp, |planned| planned.min(stamp));
        intake.hold_runs(&open.runs, open.hold, open.from, Some(to.max(open.from)))
    }

    fn node_up(
        &mut self,
        record: &Record<'_>,
        place: Place<'_>,
        intake: &mut Intake,
    ) -> Result<()> {
        let Some(since) = self.down.remove(record.id) else {
            intake.tally.leave_out(Reason::NoOutage);
            return Ok(());
        };
        let (from, to) = (self.stamp(since, intake), self.stamp(record.stamp, intake));
        if intake.look_up(place, [record.id], None)?.is_some() {
            intake.hold(place, Hold::Down, from, Some(to))?;
        }
        Ok(())
    }

    /// The nodes of a record, where there are some; that there are none is counted.
    fn runs(
        &self,
        record: &Record<'_>,
        place: Place<'_>,
        intake: &mut Intake,
    ) -> Result<Option<Runs>> {
        let Some(hosts) = (self.hosts)(record) else {
            let found = format_args!("{} of {} without nodes", record.kind, record.id);
            intake.fault(Reason::NoNodes, place, found)?;
            return Ok(None);
        };
        let runs = intake.look_up(place, hosts.iter().map(String::as_str), None)?;
        Ok(runs.map(<[_]>::to_vec))
    }
}

impl LineReader for AccountReader {
    fn line(&mut self, line: &Line<'_>, intake: &mut Intake) -> Result<()> {
        match Record::parse(&line.text) {
            Ok(record) => self.record(&record, line.place, intake),
            Err(found) => intake.fault(Reason::Unreadable, line.place, found),
        }
    }

    fn finish(&mut self, intake: &mut Intake) -> Result<()> {
        for open in std::mem::take(&mut self.open).into_values() {
            intake.hold_runs(&open.runs, open.hold, open.from, open.planned)?;
        }
        for (node, since) in std::mem::take(&mut self.down) {
            let from = self.stamp(since, intake);
            let looked = intake.nodes.look_up([node.as_str()]);
            if looked.is_ok() {
                let runs = intake.nodes.runs().to_vec();
                intake.hold_runs(&runs, Hold::Down, from, None)?;
            }
        }
        Ok(())
    }
}

/// Jobs and reservations have ids of their own.
fn key(hold: Hold, id: &str) -> String {
    format!("{} {id}", hold.name())
}

/// A time of a record, in epoch seconds; that it is none is counted.
fn time(
    record: &Record<'_>,
    name: &str,
    place: Place<'_>,
    intake: &mut Intake,
) -> Result<Option<i64>> {
    let value = record.value(name);
    let time = value.as_deref().and_then(epoch);
    if time.is_none() {
        let value = value.as_deref().unwrap_or("nothing");
        let found = format_args!("{value:?} for {name}, in epoch seconds");
        intake.fault(Reason::Unreadable, place, found)?;
    }
    Ok(time)
}
