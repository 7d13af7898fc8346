//! Formats the best settings of a sweep for the terminal, for HTML pages and as JSON, and lists the runs of a sweep.

use std::borrow::Borrow;
use std::fmt::Write;

use serde_json::{Map, Value, json};

use super::scale::{Scale, plain};
use super::table::shown;
use super::{Sweep, SweepRun};
use gleaner_document::{Block, Fact};
use gleaner_domain::error::Result;
use gleaner_domain::results::Direction;
use gleaner_domain::results::sweep::{
    Best, Field, Group, Interval, Metric, Mode, best, only_repeats,
};
use gleaner_domain::words::counted;

/// The contents of `summary.json`: the numbers of runs and settings, the kind of repetitions behind the intervals, and
/// the best settings. The best settings are given for the requested metric, and for every metric that is to be
/// minimised or maximised.
pub fn summary(sweep: &Sweep<'_>) -> Value {
    let all = sweep.mode.metrics().iter();
    let of_all = all.filter_map(|metric| Some((metric.name.into(), entry(sweep, metric)?)));
    json!({
        "runs": sweep.runs.len(),
        "settings": sweep.groups.len(),
        "metric": sweep.by.name,
        "ties_by": ties(sweep),
        "intervals": sweep.over,
        "best": entry(sweep, &sweep.by),
        "best_by_metric": Value::Object(of_all.collect::<Map<String, Value>>()),
    })
}

/// The figures that break ties between equally good settings.
fn ties(sweep: &Sweep<'_>) -> Vec<&'static str> {
    let ties = sweep.mode.ties(&sweep.by);
    ties.iter().map(|metric| metric.name).collect()
}

fn entry(sweep: &Sweep<'_>, metric: &Metric) -> Option<Value> {
    let best = sweep.best(metric)?;
    let group = &sweep.groups[best.group];
    let mut settings = sweep.first_of(best.group).settings.clone();
    if let Some(settings) = settings.as_object_mut() {
        settings.retain(|name, _| !only_repeats(name));
    }
    let keys: Vec<&str> = (group.runs)
        .iter()
        .map(|&run| sweep.runs[run].key.as_str())
        .collect();
    Some(json!({
        "value": best.spread.mean,
        "standard_deviation": best.spread.deviation,
        "standard_error": best.spread.standard_error(),
        "low": best.spread.low(),
        "high": best.spread.high(),
        "seeds": group.seeds(),
        "windows": group.windows(),
        "direction": metric.best,
        "settings": settings,
        "settings_as_good": best.as_good,
        "settings_within_deviation": best.within_spread,
        "runs": keys,
    }))
}

/// The name of the placer setting in sweeps of simulations.
const PLACER: &str = "placer";

/// Returns a caveat on comparisons of placers; `None` if the sweep does not compare placers.
pub fn note_on_placers<'a>(varied: impl IntoIterator<Item = &'a str>) -> Option<&'static str> {
    varied.into_iter().any(|name| name == PLACER).then_some(
        "In these simulations, the placement affects only which jobs fit, not how fast they run. \
         The results therefore do not show which placer is best.",
    )
}

/// The output at the end of a sweep. `found_done` is the number of runs that were already done when the command
/// started.
pub fn ended(sweep: &Sweep<'_>, found_done: usize) -> Vec<Block> {
    let runs = format!("{}, {found_done} of them already done", sweep.runs.len());
    let varied = varied(sweep.runs.iter().map(Ok), sweep.mode.settings()).unwrap_or_default();
    let varied = varied.into_iter().filter(|f| !only_repeats(f.name));
    let varied: Vec<&Field> = varied.collect();
    let settings = |group: usize| {
        let run = sweep.first_of(group);
        varied
            .iter()
            .map(|field| (field.name, cell(run, field)))
            .collect()
    };
    let note = note_on_placers(varied.iter().map(|field| field.name));
    let best = best_settings(&sweep.groups, sweep.mode, &sweep.by, settings);
    let facts = [vec![Fact::new("runs", runs)], best].map(Block::Facts);
    let note = note.map(|note| Block::Note(note.to_owned()));
    facts.into_iter().chain(note).collect()
}

/// The best value of a metric, and the settings that reach it. `settings` returns a group's settings that differ
/// between runs, with their names and values.
pub fn best_settings<'a>(
    groups: &[Group],
    mode: Mode,
    metric: &Metric,
    settings: impl FnOnce(usize) -> Vec<(&'a str, String)>,
) -> Vec<Fact> {
    let means = groups.iter().filter_map(|group| group.mean(mode, metric));
    let scale = Scale::of(metric.name, metric.kind, means);
    let which = match metric.best {
        Some(Direction::Min) => "lowest",
        _ => "highest",
    };
    let label = format!("{which} {}", scale.title);
    let Some(best) = best(groups, mode, metric) else {
        return vec![Fact::main(
            label,
            "none: no combination of settings has a value in all of its runs",
        )];
    };
    let remark = over_repetitions(&scale, &best, &groups[best.group])
        + &equals(mode, metric, &best)
        + &left_out(groups, mode, metric);
    let value = match best.spread.interval {
        // `remark` contains the ends of the interval.
        Some(Interval::Percentile(_)) => scale.tell(best.spread.mean),
        _ => scale.mean(&best.spread),
    };
    let value = Fact::main(label, value);
    let mut facts = vec![value.remark(format!("({remark})"))];
    facts.extend(settings(best.group).into_iter().map(|(name, value)| Fact {
        depth: 1,
        ..Fact::main(name, value)
    }));
    facts
}

/// If there are several repetitions, states that the value is a mean, and gives its interval or the reason why there is
/// none. Also states how many other settings are within one standard deviation.
fn over_repetitions(scale: &Scale, best: &Best, group: &Group) -> String {
    let (over, spread) = (group.over, &best.spread);
    let Some(deviation) = spread.deviation else {
        return String::new();
    };
    let near = match best.within_spread {
        0 => String::new(),
        others => format!(
            ", with {} within it; {} may tell them apart",
            counted(others, "other setting"),
            over.more()
        ),
    };
    let interval = match spread.interval {
        Some(Interval::Student(_)) => " ± half of its 95 % interval".to_owned(),
        Some(Interval::Percentile(ends)) => {
            format!("; 95 % bootstrap interval {}", scale.range(ends))
        }
        None => over
            .why_no_interval(spread.repetitions)
            .map_or(String::new(), |why| format!("; {why}")),
    };
    format!(
        "mean of {}{interval}; standard deviation {}{near}; ",
        counted(spread.repetitions, over.noun()),
        scale.length(deviation)
    )
}

/// States how many other settings reach the same value, and which metrics break the tie.
fn equals(mode: Mode, metric: &Metric, best: &Best) -> String {
    match best.as_good {
        0 | 1 => "no other settings reach it".to_owned(),
        settings => {
            let ties = mode.ties(metric);
            let ties: Vec<String> = ties.iter().map(|metric| plain(metric.name)).collect();
            let others = counted(settings - 1, "other setting");
            format!(
                "also reached by {others}; ties are broken by {}",
                ties.join(", then ")
            )
        }
    }
}

/// States how many settings are not compared, because some of their runs lack the metric. For example, a search has no
/// best trial if no trial finished before the end of the log.
fn left_out(groups: &[Group], mode: Mode, metric: &Metric) -> String {
    let lacking = groups.iter().filter(|g| g.mean(mode, metric).is_none());
    match lacking.count() {
        0 => String::new(),
        1 => "; 1 other setting is not compared, because some of its runs lack this figure"
            .to_owned(),
        settings => format!(
            "; {settings} other settings are not compared, because some of their runs lack this figure"
        ),
    }
}

/// A line for each run, whether it is done or not. Runs are created one at a time, because there may be millions of
/// them.
///
/// # Errors
/// Returns the error of `run` if it cannot create a run.
pub fn listing(
    count: usize,
    run: &dyn Fn(usize) -> Result<SweepRun>,
    settings: &[Field],
    is_done: &dyn Fn(usize) -> bool,
) -> Result<String> {
    let varied = varied((0..count).map(run), settings)?;
    let mut out = String::new();
    for index in 0..count {
        let state = if is_done(index) { "done" } else { "to do" };
        let run = run(index)?;
        let _ = write!(out, "{}  {state:5}", run.key);
        for field in &varied {
            let _ = write!(out, "  {}={}", field.name, cell(&run, field));
        }
        out.push('\n');
    }
    Ok(out)
}

fn cell(run: &SweepRun, field: &Field) -> String {
    let text = shown(run.settings.pointer(field.pointer));
    if text.is_empty() { "-".into() } else { text }
}

/// The settings that differ between runs.
fn varied<R: Borrow<SweepRun>>(
    mut runs: impl Iterator<Item = Result<R>>,
    settings: &[Field],
) -> Result<Vec<&Field>> {
    let Some(first) = runs.next().transpose()? else {
        return Ok(Vec::new());
    };
    let (first, mut differs) = (&first.borrow().settings, vec![false; settings.len()]);
    for run in runs {
        let run = run?;
        let other = &run.borrow().settings;
        for (Field { pointer, .. }, differs) in settings.iter().zip(&mut differs) {
            *differs = *differs || other.pointer(pointer) != first.pointer(pointer);
        }
    }
    let all = settings.iter().zip(differs);
    Ok(all
        .filter(|(_, differs)| *differs)
        .map(|(field, _)| field)
        .collect())
}
