//! Any text is either read as an expression that has a value, or rejected with a fault that states a position in the
//! text.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let names = ["rate", "nodes", "left"];
    match gleaner_expression::Expression::parse(text, &names) {
        Ok(expression) => drop(expression.value(&[6.0, 4.0, 0.5])),
        Err(fault) => assert!(fault.column <= text.chars().count() + 1),
    }
});
