//! Converts traces of spot instances to an event log of the available nodes.

use std::path::{Path, PathBuf};

use super::{Ingest, create_log};
use gleaner_domain::Observer;
use gleaner_domain::error::{Result, check_stop};
use gleaner_inputs::write::events;
use gleaner_logs::spot;
use gleaner_setup::ClassArgs;
use gleaner_setup::settings;
use gleaner_setup::settings::Spec;

settings! {
    /// Traces of spot instances, which count as idle nodes while they are available.
    #[derive(Debug, Clone)]
    pub struct SpotSettings {
        /// Event log to write: a name that ends in .gev, .parquet or .csv.
        pub output: PathBuf = PathBuf::new() => Spec::of("FILE").short('o').required();
        /// Time at which a trace in milliseconds begins, such as 2026-01-01T00:00:00Z [default:
        /// 1970-01-01T00:00:00].
        pub start: Option<String> = None => Spec::of("TIME");
        /// Time zone of local times, such as America/Chicago or -06:00 [default: local times stay as
        /// they are].
        pub timezone: Option<String> = None => Spec::of("ZONE");
        /// Stop at the first line that cannot be read or that contradicts itself.
        pub strict: bool = false => Spec::flag();
        /// The classes of the nodes.
        pub classes: ClassArgs;
    }
}

impl Ingest for SpotSettings {
    fn ingest(&self, files: &[PathBuf], observer: &dyn Observer) -> Result<()> {
        let output: &Path = &self.output;
        let format = events::Format::of(output)?;
        let options = spot::Options {
            start: self.start.clone(),
            timezone: self.timezone.clone(),
            strict: self.strict,
        };
        let log = spot::read(files, &options, observer)?;
        let mut writer = create_log(output, log.nodes(), log.clock(), &self.classes, observer)?;
        let summary = log.sweep(|time, changes| {
            check_stop(observer)?;
            writer.push(time, changes, None)
        })?;
        check_stop(observer)?;
        writer.finish(Some(&summary.quality))?;
        observer.remark(&summary.notes);
        observer.remark(&format.losses(Some(&summary.quality), false));
        observer.inform(&[format!("wrote {}\n{summary}", output.display())]);
        Ok(())
    }
}
