//! Writes a [`Model`] to files for other solvers: CPLEX `.lp` and free-format `.mps`.
//!
//! The `.lp` file maximises the objective; the `.mps` file minimises the negated objective. Numbers are
//! written with enough digits to be read back exactly.

use std::io::{self, Write};

use crate::model::{Column, Model, Row};

/// Terms per line of an `.lp` file. Some readers accept at most 510 characters per line.
const TERMS_PER_LINE: usize = 8;

/// Name of a column fixed at 0. It represents an expression without terms, which the `.lp` format cannot represent
/// otherwise.
const NOTHING: &str = "nothing";

/// Writes `model` in the CPLEX `.lp` format.
///
/// A row with two different bounds becomes two rows, `name_lo` and `name_up`, because not every
/// reader accepts both bounds in one row.
///
/// # Errors
/// Writing to `out` fails.
pub fn write_lp(model: &Model, out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "\\ {}", model.name)?;
    writeln!(out, "Maximize\n obj:")?;
    let objective: Vec<(usize, f64)> = model
        .columns
        .iter()
        .enumerate()
        .map(|(i, c)| (i, c.objective))
        .filter(|term| term.1 != 0.0)
        .collect();
    lp_terms(model, &objective, out)?;
    writeln!(out, "Subject To")?;
    for row in &model.rows {
        lp_row(model, row, out)?;
    }
    writeln!(out, "Bounds")?;
    if objective.is_empty() || model.rows.iter().any(|r| r.terms.is_empty()) {
        writeln!(out, " {NOTHING} = 0")?;
    }
    for column in model.columns.iter().filter(|c| !is_binary(c)) {
        let (lower, upper) = (lp_number(column.lower), lp_number(column.upper));
        writeln!(out, " {lower} <= {} <= {upper}", column.name)?;
    }
    lp_names("Binaries", model, is_binary, out)?;
    lp_names("Generals", model, |c| c.integer && !is_binary(c), out)?;
    writeln!(out, "End")
}

fn is_binary(column: &Column) -> bool {
    column.integer && column.lower == 0.0 && column.upper == 1.0
}

fn lp_row(model: &Model, row: &Row, out: &mut impl Write) -> io::Result<()> {
    let name = &row.name;
    let sides: &[(String, &str, f64)] = match (row.lower.is_finite(), row.upper.is_finite()) {
        (true, true) if row.lower == row.upper => &[(name.clone(), "=", row.lower)],
        (true, true) => &[
            (format!("{name}_lo"), ">=", row.lower),
            (format!("{name}_up"), "<=", row.upper),
        ],
        (true, false) => &[(name.clone(), ">=", row.lower)],
        (false, true) => &[(name.clone(), "<=", row.upper)],
        (false, false) => &[],
    };
    for (name, relation, bound) in sides {
        writeln!(out, " {name}:")?;
        lp_terms(model, &row.terms, out)?;
        writeln!(out, "  {relation} {}", lp_number(*bound))?;
    }
    Ok(())
}

fn lp_terms(model: &Model, terms: &[(usize, f64)], out: &mut impl Write) -> io::Result<()> {
    if terms.is_empty() {
        return writeln!(out, "  + 1 {NOTHING}");
    }
    for line in terms.chunks(TERMS_PER_LINE) {
        for &(column, coefficient) in line {
            let sign = if coefficient < 0.0 { '-' } else { '+' };
            let size = lp_number(coefficient.abs());
            write!(out, " {sign} {size} {}", model.columns[column].name)?;
        }
        writeln!(out)?;
    }
    Ok(())
}

fn lp_names(
    section: &str,
    model: &Model,
    belongs: impl Fn(&Column) -> bool,
    out: &mut impl Write,
) -> io::Result<()> {
    let names: Vec<&str> = model
        .columns
        .iter()
        .filter(|c| belongs(c))
        .map(|c| c.name.as_str())
        .collect();
    if names.is_empty() {
        return Ok(());
    }
    writeln!(out, "{section}")?;
    for line in names.chunks(TERMS_PER_LINE) {
        writeln!(out, " {}", line.join(" "))?;
    }
    Ok(())
}

fn lp_number(value: f64) -> String {
    if value.is_infinite() {
        let sign = if value < 0.0 { '-' } else { '+' };
        return format!("{sign}inf");
    }
    number(value)
}

/// The shortest string that parses as exactly `value`.
fn number(value: f64) -> String {
    let size = value.abs();
    if value == 0.0 {
        "0".to_owned()
    } else if (1e-5..1e15).contains(&size) {
        format!("{value}")
    } else {
        format!("{value:e}")
    }
}

/// Writes `model` in the free `.mps` format.
///
/// The file minimises the negated objective, because CBC ignores a section that asks to maximise. So
/// its optimum is the negated optimum of the model.
///
/// # Errors
/// Writing to `out` fails.
pub fn write_mps(model: &Model, out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "* The objective is negated: minimise it.")?;
    writeln!(out, "NAME {} FREE", model.name)?;
    writeln!(out, "ROWS\n N obj")?;
    for row in &model.rows {
        writeln!(out, " {} {}", mps_kind(row), row.name)?;
    }
    mps_columns(model, out)?;
    writeln!(out, "RHS")?;
    for row in &model.rows {
        let bound = if row.lower.is_finite() {
            row.lower
        } else {
            row.upper
        };
        if bound.is_finite() && bound != 0.0 {
            writeln!(out, " rhs {} {}", row.name, number(bound))?;
        }
    }
    mps_ranges(model, out)?;
    writeln!(out, "BOUNDS")?;
    for column in &model.columns {
        mps_bounds(column, out)?;
    }
    writeln!(out, "ENDATA")
}

/// The MPS letter of the row's type. A row with two bounds is written as its lower bound and a range.
fn mps_kind(row: &Row) -> char {
    match (row.lower.is_finite(), row.upper.is_finite()) {
        (true, true) if row.lower == row.upper => 'E',
        (true, _) => 'G',
        (false, true) => 'L',
        (false, false) => 'N',
    }
}

/// The COLUMNS section, with markers around each run of integer columns.
fn mps_columns(model: &Model, out: &mut impl Write) -> io::Result<()> {
    let mut entries: Vec<Vec<(usize, f64)>> = vec![Vec::new(); model.columns.len()];
    for (i, row) in model.rows.iter().enumerate() {
        for &(column, coefficient) in &row.terms {
            entries[column].push((i, coefficient));
        }
    }
    writeln!(out, "COLUMNS")?;
    let mut inside = false;
    for (column, entries) in model.columns.iter().zip(&entries) {
        if column.integer != inside {
            inside = column.integer;
            let marker = if inside { "INTORG" } else { "INTEND" };
            writeln!(out, " marker 'MARKER' '{marker}'")?;
        }
        let name = &column.name;
        writeln!(out, " {name} obj {}", number(-column.objective))?;
        for &(row, coefficient) in entries {
            writeln!(
                out,
                " {name} {} {}",
                model.rows[row].name,
                number(coefficient)
            )?;
        }
    }
    if inside {
        writeln!(out, " marker 'MARKER' 'INTEND'")?;
    }
    Ok(())
}

fn mps_ranges(model: &Model, out: &mut impl Write) -> io::Result<()> {
    let mut rows = model
        .rows
        .iter()
        .filter(|r| r.lower.is_finite() && r.upper.is_finite() && r.lower != r.upper)
        .peekable();
    if rows.peek().is_some() {
        writeln!(out, "RANGES")?;
    }
    for row in rows {
        writeln!(out, " range {} {}", row.name, number(row.upper - row.lower))?;
    }
    Ok(())
}

fn mps_bounds(column: &Column, out: &mut impl Write) -> io::Result<()> {
    let name = &column.name;
    match (column.lower.is_finite(), column.upper.is_finite()) {
        (false, false) => return writeln!(out, " FR bound {name}"),
        (false, true) => writeln!(out, " MI bound {name}")?,
        (true, _) => writeln!(out, " LO bound {name} {}", number(column.lower))?,
    }
    if column.upper.is_finite() {
        writeln!(out, " UP bound {name} {}", number(column.upper))
    } else {
        writeln!(out, " PL bound {name}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn model() -> Model {
        let mut model = Model {
            name: "small".to_owned(),
            ..Model::default()
        };
        let a = model.add_binary("a".to_owned(), 0.1 + 0.2);
        let b = model.add_column(Column {
            name: "b".to_owned(),
            lower: -1.5,
            upper: f64::INFINITY,
            integer: false,
            objective: -1e300,
        });
        let terms = vec![(a, 2.0), (b, -1.0)];
        model.add_row("both".to_owned(), terms.clone(), 1.0, 4.0);
        model.add_row("one".to_owned(), terms, f64::NEG_INFINITY, 3.5);
        model.add_row("none".to_owned(), Vec::new(), 1.0, 1.0);
        model
    }

    // Small fixed example of the `.lp` format.
    #[test]
    fn lp_text() {
        let mut out = Vec::new();
        write_lp(&model(), &mut out).unwrap();
        let expected = "\\ small
Maximize
 obj:
 + 0.30000000000000004 a - 1e300 b
Subject To
 both_lo:
 + 2 a - 1 b
  >= 1
 both_up:
 + 2 a - 1 b
  <= 4
 one:
 + 2 a - 1 b
  <= 3.5
 none:
  + 1 nothing
  = 1
Bounds
 nothing = 0
 -1.5 <= b <= +inf
Binaries
 a
End
";
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }

    // Small fixed example of the `.mps` format.
    #[test]
    fn mps_text() {
        let mut out = Vec::new();
        write_mps(&model(), &mut out).unwrap();
        let expected = "* The objective is negated: minimise it.
NAME small FREE
ROWS
 N obj
 G both
 L one
 E none
COLUMNS
 marker 'MARKER' 'INTORG'
 a obj -0.30000000000000004
 a both 2
 a one 2
 marker 'MARKER' 'INTEND'
 b obj 1e300
 b both -1
 b one -1
RHS
 rhs both 1
 rhs one 3.5
 rhs none 1
RANGES
 range both 3
BOUNDS
 LO bound a 0
 UP bound a 1
 LO bound b -1.5
 PL bound b
ENDATA
";
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }
}
