//! The HTML page that contains the sections.

use super::blocks::{paragraph, section};
use super::escape::escape;
use super::packed::{hash, pack};
use super::{SCRIPT, STYLE, data};
use crate::Document;
use gleaner_domain::error::Result;

/// Renders a document as a page. `library` is the source of the charting library.
pub(super) fn write(document: &Document, library: &str) -> Result<String> {
    let figures = data::json(document)?;
    let (figures, packed) = (pack(&figures)?, pack(library)?);
    let sections: String = document.sections.iter().map(section).collect();
    Ok(format!(
        "{}<body>\n{}<main id=\"main\">\n\
         <noscript><p class=\"lead\">The charts need JavaScript. The tables show the same numbers \
         without it.</p></noscript>\n{sections}</main>\n{}\
         <script type=\"application/gzip\" id=\"figures\">{figures}</script>\n\
         <script type=\"application/gzip\" id=\"library\">{packed}</script>\n\
         </body>\n</html>\n",
        head(document, library),
        header(document),
        footer(library),
    ))
}

fn head(document: &Document, library: &str) -> String {
    // The page loads nothing from elsewhere. The policy allows inline styles because plotly.js sets
    // them on its elements.
    let policy = format!(
        "default-src 'none'; base-uri 'none'; form-action 'none'; img-src data: blob:; \
         style-src 'unsafe-inline'; script-src {} {}",
        hash(SCRIPT),
        hash(library)
    );
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{policy}\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <meta name=\"generator\" content=\"gleaner {}\">\n\
         <title>{} – Gleaner</title>\n<style>{STYLE}</style>\n<script>{SCRIPT}</script>\n</head>\n",
        env!("CARGO_PKG_VERSION"),
        escape(&document.title)
    )
}

fn header(document: &Document) -> String {
    let links: String = document
        .sections
        .iter()
        .map(|section| {
            format!(
                "<li><a href=\"#{}\">{}</a></li>\n",
                section.id,
                escape(&section.title)
            )
        })
        .collect();
    format!(
        "<a class=\"skip\" href=\"#main\">Skip to the content</a>\n<header>\n\
         <div class=\"bar\"><p class=\"brand\">Gleaner report</p>\
         <button type=\"button\" id=\"theme\" hidden>Dark</button></div>\n\
         <h1>{}</h1>\n{}<nav aria-label=\"Sections\"><ul>\n{links}</ul></nav>\n</header>\n",
        escape(&document.title),
        paragraph("lead", &document.lead)
    )
}

fn footer(library: &str) -> String {
    let version = library
        .lines()
        .nth(1)
        .unwrap_or_default()
        .trim_start_matches("* ");
    format!(
        "<footer><p>Made by gleaner {}. Charts by {}, © Plotly, Inc., MIT licence.</p></footer>\n",
        env!("CARGO_PKG_VERSION"),
        escape(version)
    )
}
