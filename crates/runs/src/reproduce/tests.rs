//! Tests of the tables of published values and of the Markdown document.

use super::*;
use gleaner_domain::results::reproduce::Rounding;

fn row(row: &str, column: &str, published: Option<f64>, ours: Option<f64>) -> ReproducedRow {
    let difference = published
        .zip(ours)
        .map(|(published, ours)| ours / published - 1.0);
    ReproducedRow {
        system: System::Sysu,
        artifact: "t-1".to_owned(),
        row: row.to_owned(),
        column: column.to_owned(),
        unit: String::new(),
        basis: Basis::Published,
        published,
        reproduced: ours,
        decimals: 0,
        difference,
        verdict: match difference {
            None => Verdict::Unpublished,
            Some(share) if share.abs() < 0.001 => Verdict::Equal,
            Some(_) => Verdict::Within5,
        },
        note: String::new(),
    }
}

fn artifact(rows: Vec<ReproducedRow>) -> Artifact {
    Artifact {
        id: "t-1".to_owned(),
        system: System::Sysu,
        title: "Table 1".to_owned(),
        text: "Two rows.".to_owned(),
        source: "a | b".to_owned(),
        basis: Basis::Published,
        rounding: Rounding::Nearest,
        drawing: None,
        rows,
    }
}

#[test]
fn a_few_values_are_listed() {
    let mut further = row("y", "a", Some(100.0), Some(96.0));
    further.note = "why|so".to_owned();
    let told = markdown(&[artifact(vec![
        row("x", "a", Some(100.0), Some(100.04)),
        further,
    ])]);
    let expected = "\
### Table 1

Two rows.

Published: a | b.

|  | published | ours | difference | verdict | note |
|---|---:|---:|---:|---|---|
| x | 100 | 100 | 0 | equal |  |
| y | 100 | 96 | −4.0 % | within 5 % | why\\|so |
";
    assert!(told.ends_with(expected), "{told}");
    assert!(
        told.contains("| The reproduction of Lucid (SYSU) | published | 1 | 0 | 1 | 0 |"),
        "{told}"
    );
}

#[test]
fn many_values_are_counted() {
    let of = |k: usize, ours| {
        row(
            ["x", "y"][k % 2],
            &(k / 2).to_string(),
            Some(100.0),
            Some(ours),
        )
    };
    let rows = (0..50)
        .map(|k| of(k, if k == 7 { 97.0 } else { 100.0 }))
        .collect();
    let counted = grid(&artifact(rows));
    let expected = [
        ["x", "25", "25", "0", "0"],
        ["y", "25", "24", "1", "−3.0 %"],
    ];
    assert_eq!(
        counted.rows,
        expected.map(|cells| cells.map(str::to_owned).to_vec())
    );
}

#[test]
fn ours_alone_are_a_matrix() {
    let texts = |cells: &[&str]| {
        cells
            .iter()
            .map(|cell| (*cell).to_owned())
            .collect::<Vec<_>>()
    };
    let mut rows = vec![
        row("x", "a", None, Some(1.0)),
        row("x", "b", None, Some(-0.2)),
    ];
    rows[1].unit = "%".to_owned();
    let single = grid(&artifact(rows.clone()));
    assert_eq!(single.rows, [texts(&["a", "1"]), texts(&["b (%)", "0"])]);
    rows.push(row("y", "a", None, Some(2.0)));
    let told = grid(&artifact(rows.clone()));
    assert_eq!(told.heads[2].name, "b (%)");
    assert_eq!(told.rows, [texts(&["x", "1", "0"]), texts(&["y", "2", ""])]);
    rows.iter_mut().for_each(|row| row.unit = "%".to_owned());
    let told = grid(&artifact(rows));
    assert_eq!([&told.heads[0].name, &told.heads[2].name], ["in %", "b"]);
}

#[test]
fn digits_that_would_hide_a_difference_are_shown() {
    let mut near = row("x", "a", Some(100.0), Some(100.4));
    near.verdict = Verdict::Within1;
    let told =
        |row: &ReproducedRow, rounding| cells::values(row, rounding).map(Option::unwrap_or_default);
    assert_eq!(told(&near, Rounding::Nearest), ["100", "100.4"]);
    near.reproduced = Some(101.9);
    assert_eq!(told(&near, Rounding::Down), ["100", "101"]);
}
