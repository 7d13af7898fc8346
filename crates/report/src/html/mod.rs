//! Renders a document as one HTML file that needs no network access.
//!
//! The page contains the figures' data and the charting library, plotly.js, both compressed. The page's own script
//! decompresses both and draws the figures. A content security policy in the page allows only this script and the
//! charting library. Therefore, text that was left unescaped by mistake cannot run a script.

use gleaner_domain::error::Result;

use super::Document;

mod blocks;
mod data;
mod escape;
mod library;
mod notebook;
mod packed;
mod page;

/// The style sheet of all pages.
const STYLE: &str = include_str!("report.css");
/// The script that decompresses the page's figures and the charting library, and draws the figures. The parts of the
/// script share one scope.
const SCRIPT: &str = concat!(
    "\"use strict\";\n(() => {\n",
    include_str!("script/theme.js"),
    include_str!("script/data.js"),
    include_str!("script/axes.js"),
    include_str!("script/curves.js"),
    include_str!("script/panels.js"),
    include_str!("script/spans.js"),
    include_str!("script/bars.js"),
    include_str!("script/heat.js"),
    include_str!("script/draw.js"),
    include_str!("script/controls.js"),
    include_str!("script/page.js"),
    "})();\n"
);

/// Renders a document as a page. The same document always results in the same bytes.
///
/// # Errors
/// The charting library cannot be found in its crate.
pub fn page(document: &Document) -> Result<String> {
    page::write(document, &library::source()?)
}

/// Renders the facts, notes and tables as HTML that needs no style sheet. The HTML is kept small, because notebooks
/// store their output. Figures and folded tables are left out.
pub fn notebook(document: &Document) -> String {
    notebook::write(document)
}
