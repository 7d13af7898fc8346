//! Checks that the samples of the state cover every minute without a gap, and that they agree with
//! runs and outcomes.

use super::sweep::Counts;
use super::{Report, Terms, Violation};
use gleaner_domain::results::schedule::{Samples, Schedule, State};

const MINUTE: i64 = 60;

/// A second at which the schedule samples the state.
pub(super) struct Mark<'a> {
    pub time: i64,
    state: &'a State,
}

impl Mark<'_> {
    pub fn compare(&self, counts: &Counts, report: &mut Report) {
        for (field, found, expected) in counts.against(self.state) {
            report.require(found == expected, || Violation::Sample {
                time: self.time,
                field,
                found,
                expected,
            });
        }
    }
}

/// Returns the first and last minute of every stretch of samples, in order. If the samples are not consecutive, reports
/// a violation and returns an empty list.
pub(super) fn marks<'a>(
    schedule: &'a Schedule,
    terms: &Terms,
    report: &mut Report,
) -> Vec<Mark<'a>> {
    if let Some((samples, why)) = wrong_times(schedule, terms) {
        report.add(Violation::SampleTimes {
            first: samples.first,
            count: samples.count,
            why,
        });
        return Vec::new();
    }
    let mut marks = Vec::with_capacity(2 * schedule.samples.len());
    for samples in &schedule.samples {
        let times = [samples.first, last(samples)];
        let times = &times[..times.len().min(samples.count as usize)];
        let mark = |&time| Mark {
            time,
            state: &samples.state,
        };
        marks.extend(times.iter().map(mark));
    }
    marks
}

fn last(samples: &Samples) -> i64 {
    let minutes = i64::from(samples.count) - 1;
    samples.first.saturating_add(minutes * MINUTE)
}

/// The first stretch of samples at wrong times, and the reason why the times are wrong.
fn wrong_times<'a>(schedule: &'a Schedule, terms: &Terms) -> Option<(&'a Samples, &'static str)> {
    let samples = &schedule.samples;
    let (first, end) = (samples.first()?, samples.last()?);
    let odd = |samples: &&Samples| samples.first.rem_euclid(MINUTE) != 0 || samples.count == 0;
    if let Some(samples) = samples.iter().find(odd) {
        return Some((samples, "not at whole minutes"));
    }
    let gap = |pair: &&[Samples]| pair[1].first != last(&pair[0]).saturating_add(MINUTE);
    if let Some(pair) = samples.windows(2).find(gap) {
        return Some((
            &pair[1],
            "does not begin one minute after the previous samples",
        ));
    }
    if first.first < terms.start || first.first >= terms.start.saturating_add(MINUTE) {
        return Some((
            first,
            "does not begin in the first minute of the simulation",
        ));
    }
    let ended = schedule.jobs.iter().map(|job| job.end).max()?;
    if last(end) > ended || ended.saturating_sub(last(end)) >= MINUTE {
        return Some((end, "does not end in the minute in which the last job ends"));
    }
    None
}
