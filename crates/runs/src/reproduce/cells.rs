//! The table of an artifact as text cells, for Markdown and for pages.

use gleaner_domain::results::Named;
use gleaner_domain::results::reproduce::{
    Artifact, ReproducedRow, Rounding, Verdict, count_verdicts,
};

use gleaner_document::{Grid, Head};

/// Maximum number of values that are listed line by line. Larger tables are shown as counts by verdict.
const LISTED: usize = 40;

/// The table of an artifact. The table lists the values line by line, or counts them by verdict if there are many
/// values. If nothing is published, the table is a matrix of our values.
pub fn grid(artifact: &Artifact) -> Grid {
    let is_known = |row: &ReproducedRow| row.verdict != Verdict::Unpublished;
    if !artifact.rows.iter().any(is_known) {
        return matrix(artifact);
    }
    if artifact.rows.len() > LISTED {
        counted(artifact)
    } else {
        listed(artifact)
    }
}

/// The distinct names that `of` returns for the rows, in order of first occurrence.
fn names(artifact: &Artifact, of: fn(&ReproducedRow) -> &String) -> Vec<&str> {
    let mut names: Vec<&str> = Vec::new();
    for name in artifact.rows.iter().map(of) {
        if !names.contains(&name.as_str()) {
            names.push(name);
        }
    }
    names
}

/// A table with a line for each value. Columns that would be empty or constant are left out.
fn listed(artifact: &Artifact) -> Grid {
    let several = names(artifact, |row| &row.column).len() > 1;
    let noted = artifact.rows.iter().any(|row| !row.note.is_empty());
    let mut heads = vec![Head::text("")];
    heads.extend(several.then(|| Head::text("value")));
    let basis = artifact.basis.name();
    heads.extend([basis, "ours", "difference"].map(Head::number));
    heads.push(Head::text("verdict"));
    heads.extend(noted.then(|| Head::text("note")));
    let line = |row: &ReproducedRow| {
        let mut cells = vec![row.row.clone()];
        cells.extend(several.then(|| row.column.clone()));
        let [published, ours] = values(row, artifact.rounding).map(|v| with_unit(v, &row.unit));
        cells.extend([
            published,
            ours,
            difference(row),
            row.verdict.name().to_owned(),
        ]);
        cells.extend(noted.then(|| row.note.clone()));
        cells
    };
    Grid::of(&artifact.title, heads, &artifact.rows, line)
}

/// A table with a line for each row, or for each column if there are fewer columns than rows: the number of values with
/// each verdict, and the largest difference.
fn counted(artifact: &Artifact) -> Grid {
    let (rows, columns) = (
        names(artifact, |row| &row.row),
        names(artifact, |row| &row.column),
    );
    let of: fn(&ReproducedRow) -> &String = if rows.len() <= columns.len() {
        |row| &row.row
    } else {
        |row| &row.column
    };
    let group = |name: &str| -> Vec<&ReproducedRow> {
        artifact.rows.iter().filter(|row| of(row) == name).collect()
    };
    let totals = count_verdicts(&artifact.rows);
    let seen = |verdict: &&Verdict| totals[**verdict as usize] > 0;
    let verdicts: Vec<Verdict> = Verdict::ALL.iter().filter(seen).copied().collect();
    let mut heads = vec![Head::text(""), Head::number("values")];
    heads.extend(verdicts.iter().map(|verdict| Head::number(verdict.name())));
    heads.push(Head::number("greatest difference"));
    let noted = artifact.rows.iter().any(|row| !row.note.is_empty());
    heads.extend(noted.then(|| Head::text("note")));
    let line = |name: &&str| {
        let counts = count_verdicts(group(name));
        let mut cells = vec![(*name).to_owned(), group(name).len().to_string()];
        cells.extend(
            verdicts
                .iter()
                .map(|verdict| counts[*verdict as usize].to_string()),
        );
        let group = group(name).into_iter();
        let worst = group.clone().max_by(|a, b| size(a).total_cmp(&size(b)));
        cells.push(worst.map_or(String::new(), difference));
        let notes = group.map(|row| row.note.clone());
        cells.extend(noted.then(|| notes.max_by_key(String::len).unwrap_or_default()));
        cells
    };
    let groups = names(artifact, of);
    Grid::of(&artifact.title, heads, &groups, line)
}

/// The absolute value of a difference; 0 if the verdict is `equal`.
fn size(row: &ReproducedRow) -> f64 {
    let share = row.difference.filter(|_| row.verdict != Verdict::Equal);
    share.map_or(0.0, f64::abs)
}

/// A table of our values by row and column. A single row is transposed.
fn matrix(artifact: &Artifact) -> Grid {
    let (rows, columns) = (
        names(artifact, |row| &row.row),
        names(artifact, |row| &row.column),
    );
    let units = names(artifact, |row| &row.unit);
    // If all values share a unit, the unit is the heading of the name column.
    let common = match units.as_slice() {
        [unit] if !unit.is_empty() => format!("in {unit}"),
        _ => String::new(),
    };
    let head = |column: &&str| {
        let mut own = artifact.rows.iter().filter(|row| row.column == **column);
        match own.find(|row| units.len() > 1 && !row.unit.is_empty()) {
            Some(row) => format!("{column} ({})", row.unit),
            None => (*column).to_owned(),
        }
    };
    let cell = |row: &str, column: &str| {
        let mut all = artifact.rows.iter();
        let found = all.find(|value| value.row == row && value.column == column);
        let ours = found.and_then(|value| values(value, artifact.rounding)[1].clone());
        ours.unwrap_or_default()
    };
    let (heads, lines): (Vec<String>, Vec<Vec<String>>) = match rows.as_slice() {
        [only] => {
            let line = |column: &&str| vec![head(column), cell(only, column)];
            (vec![(*only).to_owned()], columns.iter().map(line).collect())
        }
        several => {
            let line = |row: &&str| {
                let cells = columns.iter().map(|column| cell(row, column));
                std::iter::once((*row).to_owned()).chain(cells).collect()
            };
            let heads = columns.iter().map(head).collect();
            (heads, several.iter().map(line).collect())
        }
    };
    let heads = heads.into_iter().map(Head::number);
    let heads = std::iter::once(Head::text(common)).chain(heads);
    Grid::of(&artifact.title, heads, lines, |line| line)
}

/// The published value and ours, with the published number of decimals. Our value gets one more decimal if the two
/// values differ but would otherwise look equal.
pub fn values(row: &ReproducedRow, rounding: Rounding) -> [Option<String>; 2] {
    let text = |value: f64, decimals: u32| {
        let text = format!("{value:.*}", decimals as usize);
        if text
            .trim_start_matches('-')
            .trim_matches(['0', '.'])
            .is_empty()
        {
            text.trim_start_matches('-').to_owned()
        } else {
            text.replace('-', "−")
        }
    };
    let published = row.published.map(|value| text(value, row.decimals));
    let cut = |decimals: u32| {
        row.reproduced
            .map(|value| text(rounding.cut(value, decimals), decimals))
    };
    let ours = cut(row.decimals);
    let ours = match (&published, ours, row.verdict) {
        (Some(published), Some(_), Verdict::Equal) => Some(published.clone()),
        (Some(published), Some(ours), _) if *published == ours => cut(row.decimals + 1),
        (_, ours, _) => ours,
    };
    [published, ours]
}

fn with_unit(value: Option<String>, unit: &str) -> String {
    match (value, unit) {
        (None, _) => "–".to_owned(),
        (Some(value), "") => value,
        (Some(value), unit) => format!("{value} {unit}"),
    }
}

/// The difference in percent, with a sign; 0 if the verdict is `equal`.
fn difference(row: &ReproducedRow) -> String {
    let share = match (row.difference, row.verdict) {
        (_, Verdict::Equal) => return "0".to_owned(),
        (None, _) => return "–".to_owned(),
        (Some(share), _) => 100.0 * share,
    };
    let sign = if share < 0.0 { "−" } else { "+" };
    match share.abs() {
        size if size < 0.1 => format!("{sign}{size:.3} %"),
        size if size < 1.0 => format!("{sign}{size:.2} %"),
        size => format!("{sign}{size:.1} %"),
    }
}
