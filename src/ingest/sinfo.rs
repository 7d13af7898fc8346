//! Converts polls of node states to an event log of idle nodes.

use std::path::{Path, PathBuf};

use super::unknown::MaxUnknown;
use super::{Ingest, create_log};
use gleaner_domain::Observer;
use gleaner_domain::error::{Result, check_stop};
use gleaner_inputs::write::events;
use gleaner_logs::polls;
use gleaner_setup::settings::Spec;
use gleaner_setup::{ClassArgs, named_values, settings};
use serde::Serialize;

settings! {
    /// Polls of node states, such as repeated calls of Slurm's sinfo.
    #[derive(Debug, Clone)]
    pub struct SinfoSettings {
        /// Event log to write: a name that ends in .gev, .parquet or .csv.
        pub output: PathBuf = PathBuf::new() => Spec::of("FILE").short('o').required();
        /// Nodes of the machine: a list such as n[001-128], or a file. The file contains such lists, or the
        /// output of `scontrol show nodes` or `sinfo -N` [default: the nodes that the polls name].
        pub nodes: Option<PathBuf> = None => Spec::of("LIST|FILE");
        /// Start of the event log, such as 2026-01-01T00:00:00 or 2026-01-01T00:00:00Z [default: the
        /// first poll].
        pub from: Option<String> = None => Spec::of("TIME");
        /// End of the event log [default: the last poll].
        pub to: Option<String> = None => Spec::of("TIME");
        /// Time zone of the event log, such as America/Chicago or -06:00 [default: UTC].
        pub timezone: Option<String> = None => Spec::of("ZONE");
        /// Longest gap between two polls of a node, in seconds, during which the node is assumed to keep its state. In
        /// a longer gap, the state is assumed to last for one interval between polls, and is unknown for the rest of
        /// the gap [default: 5 times the median interval of the polls].
        pub max_gap: Option<u32> = None => Spec::of("SECONDS").within("at least 1", |seconds| *seconds >= 1);
        /// State that the event log shows for nodes while their state is unknown.
        pub unknown: IdleOrBusy = IdleOrBusy::Busy => Spec::of("STATE");
        /// Maximum share of the idle time that falls on nodes in an unknown state; `any` accepts every log. Periods
        /// during which the states of all nodes are unknown do not count.
        pub max_unknown: MaxUnknown = MaxUnknown::DEFAULT => Spec::of("SHARE");
        /// Whether powered-down nodes count as idle.
        pub powered_down: IdleOrBusy = IdleOrBusy::Busy => Spec::of("STATE");
        /// Time at which the event log places a change of state between two polls.
        pub times: ChangeTimes = ChangeTimes::Polled => Spec::of("TIMES");
        /// Seed of the random times, with --times spread.
        pub seed: u64 = 0 => Spec::of("NUMBER");
        /// Stop at the first line that cannot be read or that contradicts itself.
        pub strict: bool = false => Spec::flag();
        /// The classes of the nodes.
        pub classes: ClassArgs;
    }
}

/// Whether an event log shows certain nodes as idle or as busy.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum IdleOrBusy {
    /// As busy.
    Busy,
    /// As idle.
    Idle,
}

named_values!(IdleOrBusy:
    IdleOrBusy::Busy => "As busy",
    IdleOrBusy::Idle => "As idle",
);

/// Time at which an event log places a change of state between two polls.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ChangeTimes {
    /// At the later poll.
    Polled,
    /// At a random time between the polls.
    Spread,
}

named_values!(ChangeTimes:
    ChangeTimes::Polled => "At the later poll: replays overestimate efficiency if polls are far apart",
    ChangeTimes::Spread => "At a random time between polls: replays underestimate efficiency if nodes leave in groups",
);

impl SinfoSettings {
    fn options(&self) -> polls::Options {
        polls::Options {
            nodes: self.nodes.clone(),
            from: self.from.clone(),
            to: self.to.clone(),
            timezone: self.timezone.clone(),
            max_gap: self.max_gap.map(i64::from),
            is_unknown_idle: self.unknown == IdleOrBusy::Idle,
            is_powered_down_idle: self.powered_down == IdleOrBusy::Idle,
            spread: (self.times == ChangeTimes::Spread).then_some(self.seed),
            strict: self.strict,
            ..polls::Options::default()
        }
    }
}

impl Ingest for SinfoSettings {
    fn ingest(&self, files: &[PathBuf], observer: &dyn Observer) -> Result<()> {
        let output: &Path = &self.output;
        let format = events::Format::of(output)?;
        let log = polls::read(files, &self.options(), observer)?;
        let mut writer = create_log(output, log.nodes(), log.clock(), &self.classes, observer)?;
        let summary = log.sweep(|time, changes| {
            check_stop(observer)?;
            writer.push(time, changes, None)
        })?;
        check_stop(observer)?;
        let first = files.first().map_or(Path::new(""), PathBuf::as_path);
        let remedy = "raise --max-gap, so that states are assumed to last longer, or accept any share with \
                      --max-unknown any";
        self.max_unknown.check(&summary.quality, first, remedy)?;
        writer.finish(Some(&summary.quality))?;
        observer.remark(&summary.notes);
        observer.remark(&format.losses(Some(&summary.quality), false));
        observer.inform(&[format!("wrote {}\n{summary}", output.display())]);
        Ok(())
    }
}
