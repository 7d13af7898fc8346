//! Tests the values of expressions, the faults of invalid expressions and their positions, and the parsing of random
//! strings.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use gleaner_expression::{Expression, MAX_DEPTH, MAX_LENGTH};
use proptest::prelude::*;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

const NAMES: [&str; 4] = ["rate", "nodes", "left", "min_nodes"];

fn value(text: &str, values: [f64; 4]) -> f64 {
    Expression::parse(text, &NAMES).unwrap().value(&values)
}

// The expected values were worked out by hand.
#[test]
fn values_follow_the_rules_of_arithmetic() {
    let values = [6.0, 4.0, 3.0, 2.0];
    for (text, expected) in [
        ("rate", 6.0),
        ("1 / 2", 0.5),
        ("1 + 2 * 3", 7.0),
        ("(1 + 2) * 3", 9.0),
        ("10 - 3 - 2", 5.0),
        ("-rate + 1", -5.0),
        ("2 * -rate", -12.0),
        ("7 % 4", 3.0),
        ("1e3 + 1E-1 + 1_000", 2000.1),
        ("inf", f64::INFINITY),
        ("min(rate, nodes, left)", 3.0),
        ("max(rate, nodes)", 6.0),
        ("pow(nodes, 0.5)", 2.0),
        ("sqrt(nodes) + abs(-1) + exp(0) + ln(1)", 4.0),
        ("log2(8) + log10(100) + floor(1.7) + ceil(1.2)", 8.0),
        ("if left > 0 { rate / left } else { 0 }", 2.0),
        ("if left < 3 { 1 } else if left <= 3 { 2 } else { 3 }", 2.0),
        ("if !(rate == 6) || nodes != 4 { 1 } else { 0 }", 0.0),
        ("rate * if left >= 3 && nodes > 3 { 2 } else { 1 }", 12.0),
        ("  rate\n\t+ nodes ", 10.0),
        ("if 0 * inf < 1 { 1 } else { 2 }", 2.0),
    ] {
        assert_eq!(value(text, values), expected, "{text}");
    }
    assert!(value("min(1, 0 / 0)", values).is_nan());
    assert!(value("max(0 / 0, 1)", values).is_nan());
}

#[test]
fn faults_say_where_and_what() {
    for (text, column, part) in [
        ("", 1, "the end"),
        ("rate *", 7, "the end"),
        ("rate rate", 6, "`rate`, expected an operator"),
        (
            "rate + lft",
            8,
            "`lft`, expected one of rate, nodes, left, min_nodes",
        ),
        ("min", 1, "arguments in brackets"),
        ("min(1)", 1, "min of 1 numbers, expected min(a, b, ...)"),
        ("abs(1, 2)", 1, "abs(a)"),
        ("2 + avg(1, 2)", 5, "one of the functions min, max"),
        ("2 ^ 3", 3, "pow(a, b)"),
        ("rate // 2", 6, "`//`"),
        ("rate /* half */ / 2", 6, "`/*`"),
        ("rate = 3", 6, "`==`"),
        ("rate > 3", 1, "`rate > 3`, expected a number"),
        ("(rate > 3) * 2", 2, "expected a number"),
        ("if rate { 1 } else { 2 }", 4, "a condition such as"),
        ("if rate > 1 { 2 }", 1, "else"),
        ("if rate > 1 { 2; } else { 3 }", 16, "';'"),
        ("if rate > 1 { let } else { 3 }", 19, "a number, a name"),
        (
            "if rate > 1 { } else { 3 }",
            1,
            "an expression in the braces",
        ),
        ("1 < 2 < 3", 7, "joined by && or ||"),
        ("(1 + 2", 1, "`(`, which is never closed"),
        ("1 + 2)", 6, "no bracket is open"),
        ("min(1, 2}", 9, "`}`, expected `)`"),
        ("\"text\"", 1, "'\"'"),
        ("rate.max(2)", 1, "a number, a name"),
        ("1..2", 1, "a number, a name"),
        ("5u32", 1, "a number such as"),
        ("1e999", 1, "a number such as"),
        ("*rate", 1, "a number, a name"),
        ("&rate", 1, "a number, a name"),
        ("rate as u8", 1, "a number, a name"),
        ("rate & left", 1, "a number"),
        ("{ rate }", 1, "a number, a name"),
        ("min::<rate>(1, 2)", 4, "':'"),
        ("rate + \u{3b1}", 8, "'\u{3b1}'"),
        ("1 +\n lft", 6, "`lft`"),
    ] {
        let fault = Expression::parse(text, &NAMES).unwrap_err();
        assert_eq!(fault.column, column, "{text}: {fault}");
        assert!(fault.to_string().contains(part), "{text}: {fault}");
    }
}

#[test]
fn length_and_depth_are_bounded() {
    let deep = |depth| format!("{}1{}", "(".repeat(depth), ")".repeat(depth));
    assert_eq!(value(&deep(MAX_DEPTH), [0.0; 4]), 1.0);
    assert!(Expression::parse(&deep(MAX_DEPTH + 1), &NAMES).is_err());
    let long = |terms| vec!["1"; terms].join("+");
    assert_eq!(value(&long(MAX_LENGTH / 2), [0.0; 4]), 500.0);
    assert!(Expression::parse(&long(MAX_LENGTH / 2 + 1), &NAMES).is_err());
    assert!(Expression::parse(&format!("{}1", "-".repeat(900)), &NAMES).is_err());
    assert!(Expression::parse(&format!("{}1", "- ".repeat(400)), &NAMES).is_err());
}

#[test]
fn an_expression_knows_its_variables() {
    let of = |text| Expression::parse(text, &NAMES).unwrap();
    let used = |text| {
        (0..NAMES.len())
            .filter(|&i| of(text).uses(i))
            .collect::<Vec<_>>()
    };
    assert_eq!(used("1"), []);
    assert_eq!(used("if left > 0 { rate } else { 0 }"), [0, 2]);
    assert_eq!(
        used("min(-nodes, 2) + if !(min_nodes > 0 || left > 1) {1} else {2}"),
        [1, 2, 3]
    );
}

#[test]
fn products_with_one_wanted_variable_are_taken_apart() {
    let values = [6.0, 4.0, 3.0, 2.0];
    let scaled = |text: &str| {
        let expression = Expression::parse(text, &NAMES).unwrap();
        let scaled = expression.scaled(|variable| variable < 2)?;
        Some((scaled.variable, scaled.factor(&values)))
    };
    assert_eq!(scaled("rate"), Some((0, 1.0)));
    assert_eq!(scaled("rate / left"), Some((0, 1.0 / 3.0)));
    assert_eq!(scaled("left * nodes / (min_nodes / 3)"), Some((1, 4.5)));
    assert_eq!(scaled("(1 + left) * rate"), Some((0, 4.0)));
    for other in [
        "left",
        "1 / rate",
        "rate * nodes",
        "rate + 1",
        "-rate",
        "left / (1 / rate / nodes)",
    ] {
        assert_eq!(scaled(other), None, "{other}");
    }
}

/// The text of an expression, and its value, which the test computes without parsing the text.
#[derive(Debug, Clone)]
struct Known {
    text: String,
    value: f64,
}

const VALUES: [f64; 4] = [6.25, 4.0, 0.75, -2.5];

fn known() -> impl Strategy<Value = Known> {
    let leaf = prop_oneof![
        (0_u32..1000).prop_map(|n| Known {
            text: format!("{n}"),
            value: f64::from(n)
        }),
        (0.0..10.0_f64).prop_map(|x| Known {
            text: format!("{x:?}"),
            value: x
        }),
        (0..NAMES.len()).prop_map(|i| Known {
            text: NAMES[i].into(),
            value: VALUES[i]
        }),
    ];
    leaf.prop_recursive(4, 24, 3, |inner| {
        let of = |text: String, value: f64| Known { text, value };
        let pair = (inner.clone(), inner.clone());
        prop_oneof![
            pair.clone().prop_map(move |(a, b)| of(
                format!("({} + {})", a.text, b.text),
                a.value + b.value
            )),
            pair.clone()
                .prop_map(move |(a, b)| of(format!("({}-{})", a.text, b.text), a.value - b.value)),
            pair.clone().prop_map(move |(a, b)| of(
                format!("({} * {})", a.text, b.text),
                a.value * b.value
            )),
            pair.clone()
                .prop_map(move |(a, b)| of(format!("({}/{})", a.text, b.text), a.value / b.value)),
            inner
                .clone()
                .prop_map(move |a| of(format!("(-{})", a.text), -a.value)),
            pair.clone().prop_map(move |(a, b)| {
                let least = if a.value <= b.value {
                    a.value
                } else if b.value < a.value {
                    b.value
                } else {
                    f64::NAN
                };
                of(format!("min({}, {})", a.text, b.text), least)
            }),
            pair.clone().prop_map(move |(a, b)| of(
                format!("pow({}, {})", a.text, b.text),
                a.value.powf(b.value)
            )),
            (pair, inner.clone(), inner).prop_map(move |((a, b), c, d)| {
                let value = if a.value > b.value || a.value < 0.0 {
                    c.value
                } else {
                    d.value
                };
                let text = format!(
                    "(if {} > {} || !({} >= 0) {{ {} }} else {{ {} }})",
                    a.text, b.text, a.text, c.text, d.text
                );
                // `!(a >= 0)` holds for NaN.
                of(text, if a.value.is_nan() { c.value } else { value })
            }),
        ]
    })
}

fn same(a: f64, b: f64) -> bool {
    a == b || (a.is_nan() && b.is_nan())
}

proptest! {
    #![proptest_config(gleaner_testing::cases(2000))]

    #[test]
    fn values_are_those_of_direct_formulas(known in known()) {
        prop_assume!(known.text.len() <= MAX_LENGTH);
        match Expression::parse(&known.text, &NAMES) {
            Ok(expression) => prop_assert!(
                same(expression.value(&VALUES), known.value),
                "{} is {}, expected {}", known.text, expression.value(&VALUES), known.value
            ),
            // A generated expression can exceed only the limit on its depth.
            Err(fault) => prop_assert!(fault.expected.contains("nested brackets"), "{}: {fault}", known.text),
        }
    }

    #[test]
    fn a_scaled_variable_times_its_factor_is_the_expression(known in known(), other in known()) {
        let text = format!("{} * rate / {}", known.text, other.text);
        prop_assume!(text.len() <= MAX_LENGTH);
        if let Ok(expression) = Expression::parse(&text, &NAMES)
            && let Some(scaled) = expression.scaled(|variable| variable == 0)
        {
            let product = scaled.factor(&VALUES) * VALUES[0];
            let value = expression.value(&VALUES);
            let near = (product - value).abs() <= 1e-12 * value.abs() + 1e-290;
            // A factor may overflow or underflow although the whole product does not, and a subnormal
            // factor has few digits.
            let is_extreme = |value: f64| value.abs() > 1e290 || value.abs() < 1e-290;
            prop_assert!(near || same(product, value) || is_extreme(value) || is_extreme(known.value));
        }
    }
}

const TOKENS: [&str; 40] = [
    "rate",
    "nodes",
    "left",
    "min_nodes",
    "min",
    "max",
    "pow",
    "if",
    "else",
    "inf",
    "1",
    "0.5",
    "1e9",
    "+",
    "-",
    "*",
    "/",
    "%",
    "(",
    ")",
    "{",
    "}",
    ",",
    "<",
    ">",
    "<=",
    "==",
    "=",
    "!",
    "&&",
    "||",
    "|",
    "&",
    ".",
    "..",
    " ",
    "_",
    "let",
    "match",
    "unsafe",
];

/// Parses a million strings: none causes a panic, and the position of every fault is within its string.
#[test]
fn texts_at_random_are_parsed_or_refused() {
    let mut rng = ChaCha8Rng::seed_from_u64(7);
    let mut sound = 0;
    for round in 0..1_000_000 {
        let length = rng.random_range(0..24);
        let text: String = match round % 10 {
            0 => (0..length)
                .map(|_| char::from_u32(rng.random_range(0..0x3000)).unwrap_or(' '))
                .collect(),
            1 => (0..length)
                .map(|_| char::from(rng.random_range(32..127_u8)))
                .collect(),
            _ => (0..length)
                .map(|_| TOKENS[rng.random_range(0..TOKENS.len())])
                .collect(),
        };
        match Expression::parse(&text, &NAMES) {
            Ok(expression) => {
                expression.value(&VALUES);
                sound += 1;
            }
            Err(fault) => {
                let length = text.chars().count();
                assert!(
                    (1..=length + 1).contains(&fault.column),
                    "{text:?}: {fault}"
                );
            }
        }
    }
    assert!(sound > 1000, "only {sound} of the texts were expressions");
}
