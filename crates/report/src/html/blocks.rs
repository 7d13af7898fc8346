//! The HTML of sections and of the blocks in them.

use super::escape::escape;
use crate::{Block, Fact, Figure, Grid, Section};
use gleaner_document::{Head, Kind};

/// A section with its heading.
pub(super) fn section(section: &Section) -> String {
    let id = &section.id;
    let blocks: String = section.blocks.iter().map(block).collect();
    format!(
        "<section aria-labelledby=\"{id}\">\n<h2 id=\"{id}\">{}</h2>\n{}{blocks}</section>\n",
        escape(&section.title),
        paragraph("lead", &section.lead)
    )
}

fn block(block: &Block) -> String {
    match block {
        Block::Facts(facts) => self::facts(facts),
        Block::Grid(grid) => table(grid),
        Block::Folded(grid) => folded(grid),
        Block::Figure(shown) => figure(shown),
        Block::Note(text) => paragraph("note", text),
    }
}

/// The key facts as tiles, and a folded table of all facts if some of them are not key facts.
fn facts(facts: &[Fact]) -> String {
    let (main, others): (Vec<&Fact>, Vec<&Fact>) = facts.iter().partition(|fact| fact.is_main);
    let tiles = match main.as_slice() {
        [] => String::new(),
        main => format!(
            "<dl class=\"tiles\">\n{}</dl>\n",
            main.iter().map(|fact| tile(fact)).collect::<String>()
        ),
    };
    let all = if others.is_empty() {
        String::new()
    } else {
        folded(&Fact::grid("All figures", facts))
    };
    tiles + &all
}

fn tile(fact: &Fact) -> String {
    let title = match fact.meaning {
        "" => String::new(),
        meaning => format!(" title=\"{}\"", escape(meaning)),
    };
    let remark = match fact.remark.as_str() {
        "" => String::new(),
        remark => format!(" <small>{}</small>", escape(remark)),
    };
    let (label, value) = (escape(&fact.label), escape(&fact.value));
    format!("<div{title}><dt>{label}</dt><dd>{value}{remark}</dd></div>\n")
}

/// The placeholder of a chart, which the page's script fills, and a table of the chart's numbers.
fn figure(figure: &Figure) -> String {
    let (id, title, text) = (&figure.id, escape(&figure.title), escape(&figure.text));
    format!(
        "<figure aria-labelledby=\"{id}\">\n\
         <figcaption><h3 id=\"{id}\">{title}</h3>\n<p>{text}</p></figcaption>\n\
         <div class=\"chart\" data-figure=\"{id}\" role=\"img\" \
         aria-label=\"Chart: {title}. {text} The table below has the numbers.\"></div>\n\
         {}</figure>\n",
        folded(&figure.numbers)
    )
}

fn folded(grid: &Grid) -> String {
    format!(
        "<details>\n<summary>Table: {}</summary>\n{}</details>\n",
        escape(&grid.title),
        table(grid)
    )
}

/// A table in its own region, which can be scrolled horizontally with the mouse or the keyboard.
pub(super) fn table(grid: &Grid) -> String {
    let title = escape(&grid.title);
    let shown = |column: &usize| grid.heads[*column].kind != Kind::Bar;
    let columns: Vec<usize> = (0..grid.heads.len()).filter(shown).collect();
    let heads = columns.iter().map(|&column| head(&grid.heads[column]));
    let rows = grid.rows.iter().map(|cells| {
        let cells = columns
            .iter()
            .map(|&column| cell(grid, column, &cells[column]));
        format!("<tr>{}</tr>\n", cells.collect::<String>())
    });
    format!(
        "<div class=\"scroll\" role=\"region\" aria-label=\"{title}\" tabindex=\"0\">\n\
         <table>\n<caption><span>{title}</span></caption>\n<thead><tr>{}</tr></thead>\n\
         <tbody>\n{}</tbody>\n</table>\n</div>\n",
        heads.collect::<String>(),
        rows.collect::<String>()
    )
}

fn head(head: &Head) -> String {
    let class = if head.kind == Kind::Number {
        " class=\"n\""
    } else {
        ""
    };
    let title = match head.meaning {
        "" => String::new(),
        meaning => format!(" title=\"{}\"", escape(meaning)),
    };
    format!(
        "<th scope=\"col\"{class}{title}>{}</th>",
        escape(&head.name)
    )
}

fn cell(grid: &Grid, column: usize, text: &str) -> String {
    // Browsers collapse ordinary spaces, but keep em spaces.
    let label = text.trim_start_matches(' ');
    let indent = "\u{2003}".repeat((text.len() - label.len()) / 2);
    let text = indent + &escape(label);
    match (column, grid.heads[column].kind) {
        (0, _) => format!("<th scope=\"row\">{text}</th>"),
        (_, Kind::Number) => format!("<td class=\"n\">{text}</td>"),
        _ => format!("<td>{text}</td>"),
    }
}

/// A paragraph; an empty string if the text is empty.
pub(super) fn paragraph(class: &str, text: &str) -> String {
    match text {
        "" => String::new(),
        text => format!("<p class=\"{class}\">{}</p>\n", escape(text)),
    }
}
