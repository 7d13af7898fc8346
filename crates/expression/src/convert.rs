//! Converts the parser's syntax trees to checked expressions.

use proc_macro2::Span;
use syn::spanned::Spanned;
use syn::{BinOp, Block, Expr, Lit, Stmt, UnOp};

use crate::function::{FUNCTIONS, Function};
use crate::node::{Comparison, Condition, Node, Operator};
use crate::{Fault, MAX_DEPTH};

/// The name of infinity in expressions.
const INFINITY: &str = "inf";

const OPERAND: &str = "a number, a name, or a bracket";

/// Parses an expression that has passed [`scan::check`](crate::scan::check).
pub fn parse(text: &str, variables: &[&str]) -> Result<Node, Fault> {
    // Line breaks become spaces, so that a column reported by the parser is a position in the text.
    let line: String = text
        .chars()
        .map(|c| if c.is_whitespace() { ' ' } else { c })
        .collect();
    check_signs(&line)?;
    let syntax = syn::parse_str::<Expr>(&line).map_err(|error| of_parser(&line, &error))?;
    Converter {
        line: &line,
        variables,
    }
    .number(&syntax)
}

/// Rejects long sequences of signs, on which the parser would recurse deeply.
fn check_signs(line: &str) -> Result<(), Fault> {
    let mut signs = 0;
    for (column, character) in (1..).zip(line.chars()) {
        match character {
            '-' | '!' | '*' | '&' => signs += 1,
            ' ' => {}
            _ => signs = 0,
        }
        if signs > MAX_DEPTH {
            return Err(Fault {
                column,
                found: "a long sequence of signs".to_owned(),
                expected: OPERAND.to_owned(),
            });
        }
    }
    Ok(())
}

/// Converts an error of the parser to a fault.
fn of_parser(line: &str, error: &syn::Error) -> Fault {
    let message = error.to_string();
    // The parser reports a position for an error at the end of a bracket, but none for an error at the end of the text.
    let is_end = message.starts_with("unexpected end of input") && error.span().start().column == 0;
    let column = if is_end {
        line.trim_end().chars().count() + 1
    } else {
        error.span().start().column + 1
    };
    let (found, expected) = match message.as_str() {
        _ if is_end => ("the end".to_owned(), OPERAND.to_owned()),
        "comparison operators cannot be chained" => (
            "a second comparison".to_owned(),
            "comparisons joined by && or ||".to_owned(),
        ),
        "unexpected token" => (rest(line, column), "an operator, or the end".to_owned()),
        _ => (rest(line, column), OPERAND.to_owned()),
    };
    Fault {
        column,
        found,
        expected,
    }
}

/// The first characters of the line from the given column, quoted for a message.
fn rest(line: &str, column: usize) -> String {
    let rest: String = line.chars().skip(column - 1).take(12).collect();
    match rest.trim_end() {
        "" => "the end".to_owned(),
        rest => format!("`{rest}`"),
    }
}

struct Converter<'a> {
    line: &'a str,
    variables: &'a [&'a str],
}

impl Converter<'_> {
    fn number(&self, syntax: &Expr) -> Result<Node, Fault> {
        match syntax {
            Expr::Lit(literal) if literal.attrs.is_empty() => self.literal(&literal.lit),
            Expr::Path(_) => self.name(syntax),
            Expr::Paren(of) => self.number(&of.expr),
            Expr::Unary(unary) if matches!(unary.op, UnOp::Neg(_)) => {
                Ok(Node::Negative(Box::new(self.number(&unary.expr)?)))
            }
            Expr::Binary(binary) => {
                let Some(operator) = arithmetic(&binary.op) else {
                    return Err(self.wrong(syntax, "a number"));
                };
                let sides = [self.number(&binary.left)?, self.number(&binary.right)?];
                Ok(Node::Arithmetic(operator, Box::new(sides)))
            }
            Expr::Call(call) => self.call(call),
            Expr::If(branch) => {
                let condition = Box::new(self.condition(&branch.cond)?);
                let yes = self.only(&branch.then_branch, syntax)?;
                let Some((_, otherwise)) = &branch.else_branch else {
                    return Err(self.wrong(syntax, "an `else { ... }` after it"));
                };
                let no = match otherwise.as_ref() {
                    Expr::Block(block) if block.label.is_none() => {
                        self.only(&block.block, syntax)?
                    }
                    further => self.number(further)?,
                };
                Ok(Node::If(condition, Box::new([yes, no])))
            }
            _ => Err(self.wrong(syntax, OPERAND)),
        }
    }

    fn condition(&self, syntax: &Expr) -> Result<Condition, Fault> {
        match syntax {
            Expr::Paren(of) => self.condition(&of.expr),
            Expr::Unary(unary) if matches!(unary.op, UnOp::Not(_)) => {
                Ok(Condition::Not(Box::new(self.condition(&unary.expr)?)))
            }
            Expr::Binary(binary) => {
                let (left, right) = (&binary.left, &binary.right);
                let both = || Ok(Box::new([self.condition(left)?, self.condition(right)?]));
                match (&binary.op, comparison(&binary.op)) {
                    (_, Some(comparison)) => {
                        let sides = [self.number(left)?, self.number(right)?];
                        Ok(Condition::Compare(comparison, sides))
                    }
                    (BinOp::And(_), _) => Ok(Condition::And(both()?)),
                    (BinOp::Or(_), _) => Ok(Condition::Or(both()?)),
                    _ => Err(self.wrong(syntax, "a condition such as left > 0")),
                }
            }
            _ => Err(self.wrong(syntax, "a condition such as left > 0")),
        }
    }

    fn literal(&self, literal: &Lit) -> Result<Node, Fault> {
        let (digits, suffix) = match literal {
            Lit::Int(whole) => (whole.base10_digits(), whole.suffix()),
            Lit::Float(float) => (float.base10_digits(), float.suffix()),
            _ => return Err(self.wrong(literal, OPERAND)),
        };
        let number = digits
            .parse()
            .ok()
            .filter(|number: &f64| number.is_finite());
        match number.filter(|_| suffix.is_empty()) {
            Some(number) => Ok(Node::Number(number)),
            None => Err(self.wrong(literal, "a number such as 0.5 or 1e6")),
        }
    }

    fn name(&self, syntax: &Expr) -> Result<Node, Fault> {
        let name = self.identifier(syntax)?;
        if name == INFINITY {
            return Ok(Node::Number(f64::INFINITY));
        }
        let known = self.variables.iter().position(|known| *known == name);
        known.map(Node::Variable).ok_or_else(|| {
            let expected = match Function::named(&name) {
                Some(_) => "its arguments in brackets after it".to_owned(),
                None => format!("one of {}", self.variables.join(", ")),
            };
            self.wrong(syntax, expected)
        })
    }

    fn call(&self, call: &syn::ExprCall) -> Result<Node, Fault> {
        let name = self.identifier(&call.func)?;
        let Some(function) = Function::named(&name) else {
            let names: Vec<&str> = FUNCTIONS
                .iter()
                .filter_map(|f| f.split('(').next())
                .collect();
            let expected = format!("one of the functions {}", names.join(", "));
            return Err(self.wrong(&call.func, expected));
        };
        if !function.takes(call.args.len()) {
            let own = |listed: &&&str| listed.split('(').next() == Some(name.as_str());
            let expected = FUNCTIONS.iter().find(own).copied().unwrap_or_default();
            let found = format!("{name} of {} numbers", call.args.len());
            return Err(Fault {
                found,
                ..self.wrong(&call.func, expected)
            });
        }
        let arguments = call.args.iter().map(|argument| self.number(argument));
        Ok(Node::Call(function, arguments.collect::<Result<_, _>>()?))
    }

    /// Returns the name if `syntax` is a plain name, and a fault otherwise.
    fn identifier(&self, syntax: &Expr) -> Result<String, Fault> {
        match syntax {
            Expr::Path(path) if path.qself.is_none() => match path.path.get_ident() {
                Some(identifier) => Ok(identifier.to_string()),
                None => Err(self.wrong(syntax, "a plain name")),
            },
            _ => Err(self.wrong(syntax, "the name of a function before the bracket")),
        }
    }

    /// The numeric expression in the braces of a branch of `whole`.
    fn only(&self, block: &Block, whole: &Expr) -> Result<Node, Fault> {
        match &block.stmts[..] {
            [Stmt::Expr(syntax, None)] => self.number(syntax),
            [other, ..] => Err(self.wrong(other, "one expression in the braces")),
            [] => Err(self.wrong(whole, "an expression in the braces of each branch")),
        }
    }

    /// A fault at the position of a syntax node.
    fn wrong(&self, syntax: &impl Spanned, expected: impl Into<String>) -> Fault {
        let span: Span = syntax.span();
        let (from, to) = (span.start().column, span.end().column);
        let text: String = self
            .line
            .chars()
            .skip(from)
            .take(to.saturating_sub(from))
            .collect();
        let found = match text.chars().count() {
            0..=24 => text,
            _ => text.chars().take(21).chain("...".chars()).collect(),
        };
        Fault {
            column: from + 1,
            found: format!("`{found}`"),
            expected: expected.into(),
        }
    }
}

fn arithmetic(operator: &BinOp) -> Option<Operator> {
    Some(match operator {
        BinOp::Add(_) => Operator::Add,
        BinOp::Sub(_) => Operator::Subtract,
        BinOp::Mul(_) => Operator::Multiply,
        BinOp::Div(_) => Operator::Divide,
        BinOp::Rem(_) => Operator::Remainder,
        _ => return None,
    })
}

fn comparison(operator: &BinOp) -> Option<Comparison> {
    Some(match operator {
        BinOp::Lt(_) => Comparison::Less,
        BinOp::Le(_) => Comparison::LessOrEqual,
        BinOp::Gt(_) => Comparison::Greater,
        BinOp::Ge(_) => Comparison::GreaterOrEqual,
        BinOp::Eq(_) => Comparison::Equal,
        BinOp::Ne(_) => Comparison::NotEqual,
        _ => return None,
    })
}
