//! Renders blocks as text for a terminal.

use std::ops::Range;

use super::{Block, Fact, Grid, Kind, indented};

/// Maximum width of a line, in characters. A line can exceed this width if a single column is too wide.
const WIDTH: usize = 100;
/// Number of spaces between columns.
const GAP: usize = 2;

/// Renders the blocks as text, with an empty line between them. Figures and folded tables are omitted.
pub fn text(blocks: &[Block]) -> String {
    let parts = blocks.iter().filter_map(|block| match block {
        Block::Facts(facts) => Some(lines(facts)),
        Block::Grid(grid) => Some(table(grid)),
        Block::Note(note) => Some(paragraph(note)),
        Block::Folded(_) | Block::Figure(_) => None,
    });
    let parts: Vec<String> = parts.filter(|part| !part.is_empty()).collect();
    parts.join("\n")
}

/// Renders one line for each fact: its label, indented by its depth, and its value.
fn lines(facts: &[Fact]) -> String {
    let label = |fact: &Fact| indented(&fact.label, fact.depth);
    let widths = facts.iter().map(|fact| length(&label(fact)));
    let width = widths.max().unwrap_or(0);
    let line = |fact: &Fact| ended(format!("{:width$}  {}", label(fact), fact.told()));
    facts.iter().map(line).collect()
}

/// Renders a table. A table that is too wide is split into several tables, each of which repeats the first
/// column.
fn table(grid: &Grid) -> String {
    let widths = (0..grid.heads.len()).map(|column| {
        let cells = grid.rows.iter().map(|row| length(&row[column]));
        cells.fold(length(&grid.heads[column].name), usize::max)
    });
    let widths: Vec<usize> = widths.collect();
    let heads: Vec<&str> = grid.heads.iter().map(|head| head.name.as_str()).collect();
    let parts = parts(&widths).into_iter().map(|columns| {
        let line = |cells: &[&str]| {
            let shown = columns.clone().map(|column| {
                let (cell, width) = (cells[column], widths[column]);
                let gap = " ".repeat(GAP);
                match grid.heads[column].kind {
                    Kind::Number => format!("{gap}{cell:>width$}"),
                    Kind::Text | Kind::Bar => format!("{gap}{cell:width$}"),
                }
            });
            let first = format!("{:width$}", cells[0], width = widths[0]);
            ended(std::iter::once(first).chain(shown).collect())
        };
        let rows = grid.rows.iter().map(|row| {
            let cells: Vec<&str> = row.iter().map(String::as_str).collect();
            line(&cells)
        });
        std::iter::once(line(&heads))
            .chain(rows)
            .collect::<String>()
    });
    let title = match grid.title.as_str() {
        "" => String::new(),
        title => paragraph(title),
    };
    title + &parts.collect::<Vec<String>>().join("\n")
}

/// Splits the columns after the first into ranges whose lines fit into [`WIDTH`].
fn parts(widths: &[usize]) -> Vec<Range<usize>> {
    let Some(&name) = widths.first() else {
        return Vec::new();
    };
    let mut parts = Vec::new();
    let (mut first, mut used) = (1, name);
    for (column, width) in widths.iter().enumerate().skip(1) {
        if used + GAP + width > WIDTH && column > first {
            parts.push(first..column);
            (first, used) = (column, name);
        }
        used += GAP + width;
    }
    parts.push(first..widths.len());
    parts
}

/// Wraps text at spaces into lines of at most [`WIDTH`] characters.
fn paragraph(text: &str) -> String {
    let (mut out, mut used) = (String::new(), 0);
    for word in text.split(' ') {
        let length = length(word);
        if used > 0 && used + 1 + length > WIDTH {
            out.push('\n');
            used = 0;
        } else if used > 0 {
            out.push(' ');
            used += 1;
        }
        out.push_str(word);
        used += length;
    }
    ended(out)
}

fn length(text: &str) -> usize {
    text.chars().count()
}

fn ended(line: String) -> String {
    line.trim_end().to_owned() + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Head;

    fn cells(cells: &[&str]) -> Vec<String> {
        cells.iter().map(|cell| (*cell).to_owned()).collect()
    }

    // Small fixed example: a fact and one of its parts.
    #[test]
    fn facts_are_aligned_and_indented() {
        let mut part = Fact::main("used", "60.0 h").remark("(60.0 %)");
        part.depth = 1;
        let facts = vec![Fact::new("idle", "100.0 h"), part];
        let expected = "idle    100.0 h\n  used  60.0 h (60.0 %)\n";
        assert_eq!(text(&[Block::Facts(facts)]), expected);
    }

    // Small fixed example: the first column is followed by three columns of 40 characters, two of which fit on a line.
    #[test]
    fn wide_tables_are_divided_and_columns_aligned() {
        let name = |place: usize| format!("{place:x>40}");
        let heads = (1..=3).map(|place| Head::number(name(place)));
        let mut grid = Grid::new("", [Head::text("a")].into_iter().chain(heads));
        grid.row(cells(&["row", "1", "22", "3"]));
        let lines: Vec<String> = text(&[Block::Grid(grid)])
            .lines()
            .map(str::to_owned)
            .collect();
        assert_eq!(lines.len(), 5);
        assert_eq!(lines[1], format!("row{:>42}{:>42}", "1", "22"));
        assert_eq!(
            (lines[2].as_str(), &lines[4]),
            ("", &format!("row{:>42}", "3"))
        );
    }

    // Small fixed example: a table with a text, a number and a bar column.
    #[test]
    fn texts_and_bars_are_aligned_to_the_left() {
        let heads = [Head::text("hour"), Head::number("idle"), Head::bar()];
        let mut grid = Grid::new("Hours", heads);
        grid.row(cells(&["00", "1.5", "###"]));
        grid.row(cells(&["01", "10", ""]));
        let expected = "Hours\nhour  idle\n00     1.5  ###\n01      10\n";
        assert_eq!(text(&[Block::Grid(grid)]), expected);
    }

    // Derived by formula: 20 words of 4 letters and the 19 spaces between them take 99 of a line's 100 characters.
    #[test]
    fn notes_are_wrapped_between_words() {
        let note = ["word"; 41].join(" ");
        let lines: Vec<usize> = text(&[Block::Note(note)]).lines().map(length).collect();
        assert_eq!(lines, [99, 99, 4]);
    }
}
