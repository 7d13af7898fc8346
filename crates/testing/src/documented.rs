//! Compares or updates the tables in the documentation that are generated from declarations in the code.

use super::workspace;

/// If this environment variable is set, the tables are written instead of compared.
const WRITE: &str = "WRITE_DOCS";

/// Compares the tables of a page with the tables generated from the code, or writes them if
/// `WRITE_DOCS` is set. Each table comes with the heading or text that precedes it: exactly one line
/// of the page must begin with this text. The tables must be in the order in which they occur on the
/// page. `command` is the command that runs the test.
///
/// # Panics
/// If the page or the place of a table is missing, or a table differs.
pub fn check_tables(page: &str, tables: &[(&str, String)], command: &str) {
    let path = workspace().join(page);
    let Ok(text) = std::fs::read_to_string(&path) else {
        panic!("{} is missing", path.display())
    };
    let expected = rewritten(&text, tables);
    if std::env::var_os(WRITE).is_some() {
        let written = std::fs::write(&path, expected);
        assert!(written.is_ok(), "{} cannot be written", path.display());
        return;
    }
    let differs = text.lines().zip(expected.lines()).find(|(a, b)| a != b);
    assert!(
        text == expected,
        "{page}, {differs:?}: update the tables with {WRITE}=1 {command}"
    );
}

/// Returns the page, with its tables replaced with those in `tables`.
fn rewritten(page: &str, tables: &[(&str, String)]) -> String {
    let (mut out, mut rest) = (String::new(), page);
    for (before, table) in tables {
        let before = format!("\n{before}");
        assert_eq!(page.matches(&before).count(), 1, "{before}");
        let place = rest.find(&before).and_then(|at| {
            let start = at + rest[at..].find("\n|")? + 1;
            Some((start, start + rest[start..].find("\n\n")? + 1))
        });
        let Some((start, end)) = place else {
            panic!("no table after {before}")
        };
        out += &rest[..start];
        out += table;
        rest = &rest[end..];
    }
    out + rest
}
