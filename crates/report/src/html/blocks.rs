//! The HTML of sections and of the blocks in them.

use super::escape::escape;
use crate::{Block, Figure, Grid, Head, Section, Tile};

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
        Block::Tiles(tiles) => format!(
            "<dl class=\"tiles\">\n{}</dl>\n",
            tiles.iter().map(tile).collect::<String>()
        ),
        Block::Grid(grid) => table(grid),
        Block::Folded(grid) => folded(grid),
        Block::Figure(shown) => figure(shown),
        Block::Note(text) => paragraph("note", text),
    }
}

fn tile(tile: &Tile) -> String {
    format!(
        "<div><dt>{}</dt><dd>{}{}</dd></div>\n",
        escape(&tile.name),
        escape(&tile.value),
        match tile.remark.as_str() {
            "" => String::new(),
            remark => format!(" <small>{}</small>", escape(remark)),
        }
    )
}

/// The place of a chart, which the page's script fills, and a table of its numbers.
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

/// A table in a region of its own that can be scrolled sideways, also by keyboard.
fn table(grid: &Grid) -> String {
    let title = escape(&grid.title);
    let heads: String = grid.heads.iter().map(head).collect();
    let rows: String = grid
        .rows
        .iter()
        .map(|cells| row(&grid.heads, cells))
        .collect();
    format!(
        "<div class=\"scroll\" role=\"region\" aria-label=\"{title}\" tabindex=\"0\">\n\
         <table>\n<caption><span>{title}</span></caption>\n<thead><tr>{heads}</tr></thead>\n\
         <tbody>\n{rows}</tbody>\n</table>\n</div>\n"
    )
}

fn head(head: &Head) -> String {
    let class = if head.numeric { " class=\"n\"" } else { "" };
    format!("<th scope=\"col\"{class}>{}</th>", escape(&head.name))
}

fn row(heads: &[Head], cells: &[String]) -> String {
    let cells = heads
        .iter()
        .zip(cells)
        .enumerate()
        .map(|(column, (head, cell))| {
            let cell = escape(cell);
            match (column, head.numeric) {
                (0, _) => format!("<th scope=\"row\">{cell}</th>"),
                (_, true) => format!("<td class=\"n\">{cell}</td>"),
                (_, false) => format!("<td>{cell}</td>"),
            }
        });
    format!("<tr>{}</tr>\n", cells.collect::<String>())
}

/// A paragraph; nothing if the text is empty.
pub(super) fn paragraph(class: &str, text: &str) -> String {
    match text {
        "" => String::new(),
        text => format!("<p class=\"{class}\">{}</p>\n", escape(text)),
    }
}
