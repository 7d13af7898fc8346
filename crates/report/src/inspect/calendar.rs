//! Idle nodes by hour and by weekday.

use crate::figure::{Axis, Colour, Heat, Marks, Part};
use crate::numbers::number;
use crate::{Figure, Grid, Head};
use gleaner_inspect::{Inspection, Slot};
use gleaner_runs::inspect as told;

/// Idle nodes by hour of the day, on average.
pub(super) fn hours(log: &Inspection) -> Figure {
    let calendar = &log.calendar;
    bars("hours", told::hours(calendar), &calendar.hours)
}

/// Idle nodes by weekday, on average.
pub(super) fn weekdays(log: &Inspection) -> Figure {
    let calendar = &log.calendar;
    bars("weekdays", told::weekdays(calendar), &calendar.weekdays)
}

/// A bar for each hour or weekday. `numbers` is a table of the values.
fn bars(id: &str, numbers: Grid, slots: &[Slot]) -> Figure {
    let names: Vec<String> = numbers.rows.iter().map(|row| row[0].clone()).collect();
    Figure {
        id: id.to_owned(),
        title: numbers.title.clone(),
        text: text(&names, slots),
        x: Axis::names(&numbers.heads[0].name, names),
        y: Axis::linear("idle nodes"),
        numbers,
        marks: Marks::Groups(vec![Part {
            name: "Idle nodes".to_owned(),
            colour: Colour::Series(0),
            values: slots
                .iter()
                .map(|slot| slot.idle_nodes.unwrap_or(0.0))
                .collect(),
            labels: slots.iter().map(label).collect(),
        }]),
    }
}

fn label(slot: &Slot) -> String {
    slot.idle_nodes.map_or("not in the log".to_owned(), number)
}

/// The hours or days with the most and the fewest idle nodes, and the number of hours or days that
/// the log does not cover.
fn text(names: &[String], slots: &[Slot]) -> String {
    let covered = names.iter().zip(slots);
    let covered = covered.filter_map(|(name, slot)| Some((name, slot.idle_nodes?)));
    let covered: Vec<(&String, f64)> = covered.collect();
    let most = covered.iter().max_by(|a, b| a.1.total_cmp(&b.1));
    let least = covered.iter().min_by(|a, b| a.1.total_cmp(&b.1));
    let extremes = match (most, least) {
        (Some((most, high)), Some((least, low))) if high > low => format!(
            " Most: {most} ({}); fewest: {least} ({}).",
            number(*high),
            number(*low)
        ),
        _ => String::new(),
    };
    let missing = match slots.len() - covered.len() {
        0 => String::new(),
        missing => format!(
            " {missing} of {} bars are missing, because the log does not cover these times.",
            slots.len()
        ),
    };
    format!("Averages over the time that the log covers.{extremes}{missing}")
}

/// A heat map of idle nodes by weekday and hour, on average.
pub(super) fn week(log: &Inspection) -> Figure {
    let week = &log.calendar.week;
    let hours: Vec<String> = (0..24).map(|hour| format!("{hour:02}")).collect();
    let heads = hours.iter().map(Head::number);
    let heads = std::iter::once(Head::text("weekday")).chain(heads);
    let mut numbers = Grid::new("Idle nodes by weekday and hour, on average", heads);
    let brief = |slot: &Slot| slot.idle_nodes.map_or(String::new(), number);
    let labels: Vec<Vec<String>> = week
        .iter()
        .map(|day| day.iter().map(brief).collect())
        .collect();
    let days = told::weekday_names();
    for (day, labels) in days.iter().zip(&labels) {
        numbers.row(std::iter::once((*day).to_owned()).chain(labels.iter().cloned()));
    }
    let values = |day: &Vec<Slot>| day.iter().map(|slot| slot.idle_nodes).collect();
    Figure {
        id: "week".to_owned(),
        title: "Idle nodes by weekday and hour".to_owned(),
        text: "Averages over the time that the log covers. The stronger the colour, the more \
               nodes are idle."
            .to_owned(),
        x: Axis::names("hour", hours),
        y: Axis::names("", days.map(str::to_owned).to_vec()),
        numbers,
        marks: Marks::Heat(Heat {
            title: "idle nodes".to_owned(),
            values: week.iter().map(values).collect(),
            labels,
            notes: Vec::new(),
            log: false,
        }),
    }
}
