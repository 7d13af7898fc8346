//! A report as one HTML file that needs no network.
//!
//! The figures' data and the charting library, plotly.js, are in the page, compressed; the
//! page's own script inflates them and draws. A policy in the page lets no other script
//! run, so that even a text that slipped through unescaped could do nothing.

use crate::error::Result;

use super::Report;

mod blocks;
mod data;
mod escape;
mod library;
mod packed;
mod page;

/// The style sheet.
const STYLE: &str = include_str!("report.css");
/// The script that inflates the page's figures and the charting library, and draws. Its
/// parts share one scope.
const SCRIPT: &str = concat!(
    "\"use strict\";\n(() => {\n",
    include_str!("script/theme.js"),
    include_str!("script/data.js"),
    include_str!("script/axes.js"),
    include_str!("script/curves.js"),
    include_str!("script/spans.js"),
    include_str!("script/bars.js"),
    include_str!("script/heat.js"),
    include_str!("script/draw.js"),
    include_str!("script/controls.js"),
    include_str!("script/page.js"),
    "})();\n"
);

/// The page: the same report gives the same bytes.
///
/// # Errors
/// The charting library cannot be found in its crate.
pub fn page(report: &Report) -> Result<String> {
    page::write(report, &library::source()?)
}
