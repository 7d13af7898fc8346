//! Idle nodes by hour and by weekday.

use gleaner_document::numbers::number;
use gleaner_document::{Grid, Head};
use gleaner_domain::words::duration;
use gleaner_inspect::{Calendar, Slot};

/// Length of the bar for the largest value, in characters.
const BAR: f64 = 40.0;

/// A table of the mean number of idle nodes by hour of the day.
pub fn hours(calendar: &Calendar) -> Grid {
    let names = (0..24).map(|hour| format!("{hour:02}"));
    slots("hour", names, &calendar.hours)
}

/// A table of the mean number of idle nodes by weekday.
pub fn weekdays(calendar: &Calendar) -> Grid {
    slots(
        "weekday",
        weekday_names().map(str::to_owned),
        &calendar.weekdays,
    )
}

/// Short names of the weekdays, from Monday.
pub fn weekday_names() -> [&'static str; 7] {
    ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]
}

/// A table of the mean number of idle nodes by hour or weekday, with bars that start at zero.
fn slots(name: &str, names: impl IntoIterator<Item = String>, slots: &[Slot]) -> Grid {
    let known = slots.iter().filter_map(|slot| slot.idle_nodes);
    let largest = known.fold(0.0, f64::max);
    let heads = [
        Head::text(name),
        Head::number("idle nodes, mean"),
        Head::number("covered by the log"),
        Head::bar(),
    ];
    let title = format!("Idle nodes by {name}");
    Grid::of(
        title,
        heads,
        names.into_iter().zip(slots),
        |(name, slot)| {
            [
                name,
                slot.idle_nodes.map_or("not in the log".to_owned(), number),
                duration(slot.seconds),
                slot.idle_nodes
                    .map_or(String::new(), |idle| bar(idle, largest)),
            ]
        },
    )
}

fn bar(value: f64, largest: f64) -> String {
    if largest > 0.0 {
        "#".repeat((BAR * value / largest).round() as usize)
    } else {
        String::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_start_at_zero() {
        assert_eq!(bar(0.5, 1.0).len(), 20);
        assert_eq!(bar(0.0, 0.0), "");
    }
}
