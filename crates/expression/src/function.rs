//! The functions that expressions can call.

/// A function that expressions can call, by its number of arguments.

#[derive(Debug, Clone, Copy)]
pub(crate) enum Function {
    /// A function of one number.
    One(fn(f64) -> f64),
    /// A function of two numbers.
    Two(fn(f64, f64) -> f64),
    /// A function of two or more numbers, applied from left to right.
    Fold(fn(f64, f64) -> f64),
}

/// Names of the functions, with their arguments.
pub const FUNCTIONS: [&str; 11] = [
    "min(a, b, ...)",
    "max(a, b, ...)",
    "abs(a)",
    "sqrt(a)",
    "exp(a)",
    "ln(a)",
    "log2(a)",
    "log10(a)",
    "pow(a, b)",
    "floor(a)",
    "ceil(a)",
];

impl Function {
    /// The function with this name.
    pub fn named(name: &str) -> Option<Self> {
        Some(match name {
            "min" => Function::Fold(least),
            "max" => Function::Fold(most),
            "abs" => Function::One(f64::abs),
            "sqrt" => Function::One(f64::sqrt),
            "exp" => Function::One(f64::exp),
            "ln" => Function::One(f64::ln),
            "log2" => Function::One(f64::log2),
            "log10" => Function::One(f64::log10),
            "pow" => Function::Two(f64::powf),
            "floor" => Function::One(f64::floor),
            "ceil" => Function::One(f64::ceil),
            _ => return None,
        })
    }

    /// Whether the function accepts this number of arguments.
    pub fn takes(self, arguments: usize) -> bool {
        match self {
            Function::One(_) => arguments == 1,
            Function::Two(_) => arguments == 2,
            Function::Fold(_) => arguments >= 2,
        }
    }

    /// The function's value for these arguments. The function must accept this number of arguments.
    pub fn value(self, mut arguments: impl Iterator<Item = f64>) -> f64 {
        let mut next = || arguments.next().unwrap_or(f64::NAN);
        match self {
            Function::One(of) => of(next()),
            Function::Two(of) => of(next(), next()),
            Function::Fold(of) => {
                let first = next();
                arguments.fold(first, of)
            }
        }
    }
}

/// The smaller of two numbers; NaN if either is NaN.
fn least(a: f64, b: f64) -> f64 {
    if a.is_nan() || b.is_nan() {
        f64::NAN
    } else {
        a.min(b)
    }
}

/// The larger of two numbers; NaN if either is NaN.
fn most(a: f64, b: f64) -> f64 {
    if a.is_nan() || b.is_nan() {
        f64::NAN
    } else {
        a.max(b)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_function_that_is_listed_is_known() {
        for listed in FUNCTIONS {
            let (name, arguments) = listed.split_once('(').unwrap();
            let function = Function::named(name).unwrap();
            let count = arguments.split(',').count();
            assert!(function.takes(count), "{listed}");
            assert_eq!(function.takes(count + 1), listed.contains("..."));
            assert!(!function.takes(0));
        }
    }
}
