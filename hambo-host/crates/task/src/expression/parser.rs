//! Tokens to ops: a Pratt parser that emits while it reads.
//!
//! There is no syntax tree, so a long chain like `1+1+1+...` needs no stack; nesting is
//! limited by [`MAX_DEPTH`].

use hambo_core::task::expression::{Op, Variable};

use super::{
    builder::{Builder, Names, Value, not_equal},
    error::{ExpressionError, nearest},
    lexer::{self, Kind, Token},
};

/// The functions of an expression.
pub const FUNCTIONS: [&str; 14] = [
    "abs", "min", "max", "sqrt", "exp", "log", "sin", "cos", "tan", "atan2", "tanh", "clamp",
    "wrap", "if",
];

/// How deep parentheses, calls, signs and powers may nest.
const MAX_DEPTH: usize = 100;

/// Binding powers, loosest first.
const OR: u8 = 1;
const AND: u8 = 2;
const COMPARISON: u8 = 3;
const SUM: u8 = 4;
const PRODUCT: u8 = 5;
const PREFIX: u8 = 6;
const POWER: u8 = 7;

/// Compiles a whole expression. `learned` says whether it may read `learned.NAME`.
pub(super) fn parse(
    source: &str,
    names: Names<'_>,
    learned: bool,
    builder: &mut Builder<'_>,
) -> Result<Value, ExpressionError> {
    let tokens = lexer::tokens(source)?;
    let mut parser = Parser {
        source,
        tokens,
        position: 0,
        depth: 0,
        names,
        learned,
        builder,
    };
    let value = parser.expression(0)?;
    let token = parser.peek();
    match token.kind {
        Kind::End => Ok(value),
        Kind::Close => Err(parser.fail(
            token,
            "this `)` has no `(`",
            "remove it, or add the `(` that is missing",
        )),
        _ => Err(parser.missing_operator(token)),
    }
}

struct Parser<'a, 'b> {
    source: &'a str,
    tokens: Vec<Token>,
    position: usize,
    depth: usize,
    names: Names<'a>,
    learned: bool,
    builder: &'a mut Builder<'b>,
}

impl Parser<'_, '_> {
    fn peek(&self) -> Token {
        self.tokens
            .get(self.position)
            .copied()
            .unwrap_or_else(|| self.end())
    }

    fn next(&mut self) -> Token {
        let token = self.peek();
        self.position += 1;
        token
    }

    fn end(&self) -> Token {
        Token {
            kind: Kind::End,
            start: self.source.len(),
            end: self.source.len(),
        }
    }

    fn text(&self, token: Token) -> String {
        self.source[token.start..token.end].to_owned()
    }

    fn fail(
        &self,
        token: Token,
        message: impl Into<String>,
        help: impl Into<String>,
    ) -> ExpressionError {
        ExpressionError::new(self.source, token.start, message, help)
    }

    /// An operand and all operators after it that bind at least as tightly as `minimum`.
    fn expression(&mut self, minimum: u8) -> Result<Value, ExpressionError> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(self.fail(
                self.peek(),
                "the expression is nested too deeply",
                format!("nest at most {MAX_DEPTH} parentheses, calls, signs and powers"),
            ));
        }
        let mut left = self.operand()?;
        let mut compared = false;
        loop {
            let operator = self.peek();
            let power = binding_power(operator.kind);
            // 0 is "not an operator".
            if power == 0 || power < minimum {
                break;
            }
            if power == COMPARISON {
                if compared {
                    return Err(self.fail(
                        operator,
                        "comparisons cannot be chained",
                        "write `a < b && b < c`, or use parentheses",
                    ));
                }
                compared = true;
            } else if power < COMPARISON {
                compared = false;
            }
            self.next();
            // `^` groups to the right and takes a sign: 2^-1. The others group to the left.
            let right = self.expression(if power == POWER { PREFIX } else { power + 1 })?;
            left = self.combine(operator, left, right)?;
        }
        self.depth -= 1;
        Ok(left)
    }

    fn combine(
        &mut self,
        operator: Token,
        left: Value,
        right: Value,
    ) -> Result<Value, ExpressionError> {
        let at = operator.start;
        let builder = &mut *self.builder;
        match operator.kind {
            Kind::Plus => builder.apply2(Op::Add, left, right, at),
            Kind::Minus => builder.apply2(Op::Subtract, left, right, at),
            Kind::Star => builder.apply2(Op::Multiply, left, right, at),
            Kind::Slash => builder.apply2(Op::Divide, left, right, at),
            Kind::Caret => builder.power(left, right, at),
            Kind::Less => builder.apply2(less, left, right, at),
            Kind::LessEqual => builder.apply2(less_equal, left, right, at),
            Kind::Greater => builder.apply2(less, right, left, at),
            Kind::GreaterEqual => builder.apply2(less_equal, right, left, at),
            Kind::Equal => builder.apply2(equal, left, right, at),
            Kind::NotEqual => builder.apply2(not_equal, left, right, at),
            Kind::And | Kind::Or => {
                let left = builder.condition(left, at)?;
                let right = builder.condition(right, at)?;
                let op = if operator.kind == Kind::And {
                    Op::And
                } else {
                    Op::Or
                };
                builder.apply2(op, left, right, at)
            }
            _ => Err(self.missing_operator(operator)),
        }
    }

    fn operand(&mut self) -> Result<Value, ExpressionError> {
        let token = self.next();
        match token.kind {
            Kind::Number(number) => Ok(Value::Constant(number)),
            Kind::Minus => {
                let value = self.expression(PREFIX)?;
                self.builder.apply1(Op::Negate, value, token.start)
            }
            Kind::Plus => self.expression(PREFIX),
            Kind::Not => {
                let value = self.expression(PREFIX)?;
                let value = self.builder.condition(value, token.start)?;
                self.builder.apply1(Op::Not, value, token.start)
            }
            Kind::Open => {
                let value = self.expression(0)?;
                self.close(token)?;
                Ok(value)
            }
            Kind::Name => self.name(token),
            Kind::End => Err(self.fail(
                token,
                if self.position == 1 {
                    "the expression is empty"
                } else {
                    "the expression ends too early"
                },
                "write a number, a name or a parenthesis here",
            )),
            _ => Err(self.fail(
                token,
                format!("`{}` needs something on its left", self.text(token)),
                "write a number, a name or a parenthesis before it",
            )),
        }
    }

    /// Takes the `)` that belongs to `open`.
    fn close(&mut self, open: Token) -> Result<(), ExpressionError> {
        let token = self.peek();
        match token.kind {
            Kind::Close => {
                self.next();
                Ok(())
            }
            Kind::End => Err(self.fail(
                open,
                "this `(` is never closed",
                "add the `)` that is missing",
            )),
            Kind::Comma => Err(self.fail(
                token,
                "unexpected `,`",
                "commas stand only between the arguments of a function",
            )),
            _ => Err(self.missing_operator(token)),
        }
    }

    fn missing_operator(&self, token: Token) -> ExpressionError {
        let text = self.text(token);
        match token.kind {
            Kind::Comma | Kind::Dot => self.fail(
                token,
                format!("unexpected `{text}`"),
                "commas stand only between the arguments of a function, \
                 dots only in numbers and `next.NAME`",
            ),
            _ => self.fail(
                token,
                format!("an operator is missing before `{text}`"),
                "write for example `*`: 2*x, not 2x",
            ),
        }
    }

    /// A variable, `pi`, `next.NAME` or a call; `token` is the name.
    fn name(&mut self, token: Token) -> Result<Value, ExpressionError> {
        let name = self.text(token);
        let called = self.peek().kind == Kind::Open;
        if FUNCTIONS.contains(&name.as_str()) {
            if called {
                return self.call(token, &name);
            }
            return Err(self.fail(
                token,
                format!("the function `{name}` needs its arguments"),
                format!("write `{name}({})`", signature(&name)),
            ));
        }
        if called {
            let help = match nearest(&name, FUNCTIONS) {
                Some(near) => format!("did you mean `{near}`?"),
                None => "for a product write `*`".to_owned(),
            };
            let list = FUNCTIONS.join(" ");
            return Err(self.fail(
                token,
                format!("there is no function `{name}`"),
                format!("{help} The functions are: {list}"),
            ));
        }
        match name.as_str() {
            "pi" => Ok(Value::Constant(std::f32::consts::PI)),
            "next" => self.state_of(token, "next", Variable::Next),
            "learned" if self.peek().kind == Kind::Dot => self.learned(token),
            _ => {
                let position = |names: &[String]| names.iter().position(|known| *known == name);
                if let Some(index) = position(self.names.state) {
                    self.variable(Variable::State, index, token)
                } else if let Some(index) = position(self.names.action) {
                    self.variable(Variable::Action, index, token)
                } else if name == "t" {
                    self.builder
                        .variable(Op::Variable(Variable::Step), token.start)
                } else if name == "horizon" {
                    Ok(Value::Constant(self.names.horizon as f32))
                } else {
                    Err(self.unknown(token, &name))
                }
            }
        }
    }

    /// `learned.NAME`; `learned` has been read.
    fn learned(&mut self, learned: Token) -> Result<Value, ExpressionError> {
        if !self.learned {
            return Err(self.fail(
                learned,
                "`learned.` stands under [known] alone",
                "write `next.NAME`, which is the state after the step, corrections included",
            ));
        }
        self.state_of(learned, "learned", Variable::Learned)
    }

    /// `next.NAME` or `learned.NAME`; the word before the dot has been read.
    fn state_of(
        &mut self,
        next: Token,
        word: &str,
        kind: fn(u16) -> Variable,
    ) -> Result<Value, ExpressionError> {
        if self.peek().kind != Kind::Dot {
            return Err(self.fail(
                next,
                format!("`{word}` needs a state's name"),
                format!("write `{word}.NAME` for a state after the step"),
            ));
        }
        self.next();
        let token = self.next();
        if token.kind != Kind::Name {
            return Err(self.fail(
                token,
                format!("a state's name is missing after `{word}.`"),
                format!("the states are: {}", self.names.state.join(" ")),
            ));
        }
        let name = self.text(token);
        if let Some(index) = self.names.state.iter().position(|known| *known == name) {
            return self.variable(kind, index, next);
        }
        if self.names.action.contains(&name) {
            return Err(self.fail(
                token,
                format!("`{name}` is an action and has no next value"),
                format!(
                    "write `{name}`, or one of the states: {}",
                    self.names.state.join(" ")
                ),
            ));
        }
        let known = self.names.state.join(" ");
        let help = match nearest(&name, self.names.state.iter().map(String::as_str)) {
            Some(near) => format!("did you mean `{word}.{near}`? The states are: {known}"),
            None => format!("the states are: {known}"),
        };
        Err(self.fail(token, format!("there is no state `{name}`"), help))
    }

    fn variable(
        &mut self,
        kind: fn(u16) -> Variable,
        index: usize,
        token: Token,
    ) -> Result<Value, ExpressionError> {
        match u16::try_from(index) {
            Ok(index) => self
                .builder
                .variable(Op::Variable(kind(index)), token.start),
            Err(_) => Err(self.fail(
                token,
                "the task has too many variables",
                format!("expressions reach the first {} only", u16::MAX),
            )),
        }
    }

    fn unknown(&self, token: Token, name: &str) -> ExpressionError {
        let names = || self.names.state.iter().chain(self.names.action);
        let known = names().map(String::as_str).collect::<Vec<_>>().join(" ");
        let operator = match name.to_lowercase().as_str() {
            "and" => Some("&&"),
            "or" => Some("||"),
            "not" => Some("!"),
            _ => None,
        };
        let hint = if let Some(operator) = operator {
            format!("write `{operator}`. ")
        } else if let Some(near) = nearest(name, names().map(String::as_str)) {
            format!("did you mean `{near}`? ")
        } else {
            String::new()
        };
        self.fail(
            token,
            format!("unknown name `{name}`"),
            format!("{hint}The names are: {known}; also next.NAME, pi, t (the step) and horizon"),
        )
    }

    /// The arguments of a function; its name has been read.
    fn call(&mut self, function: Token, name: &str) -> Result<Value, ExpressionError> {
        let open = self.next();
        let mut arguments = Vec::new();
        if self.peek().kind == Kind::Close {
            self.next();
        } else {
            loop {
                arguments.push(self.expression(0)?);
                if self.peek().kind != Kind::Comma {
                    break;
                }
                self.next();
            }
            self.close(open)?;
        }
        let at = function.start;
        let builder = &mut *self.builder;
        match (name, arguments.as_slice()) {
            ("abs", &[a]) => builder.apply1(Op::Absolute, a, at),
            ("sqrt", &[a]) => builder.apply1(Op::SquareRoot, a, at),
            ("exp", &[a]) => builder.apply1(Op::Exponential, a, at),
            ("log", &[a]) => builder.apply1(Op::Logarithm, a, at),
            ("sin", &[a]) => builder.apply1(Op::Sine, a, at),
            ("cos", &[a]) => builder.apply1(Op::Cosine, a, at),
            ("tan", &[a]) => builder.apply1(Op::Tangent, a, at),
            ("tanh", &[a]) => builder.apply1(Op::HyperbolicTangent, a, at),
            ("wrap", &[a]) => builder.apply1(Op::Wrap, a, at),
            ("atan2", &[y, x]) => builder.apply2(Op::ArcTangent2, y, x, at),
            ("clamp", &[a, low, high]) => builder.apply3(Op::Clamp, [a, low, high], at),
            ("if", &[condition, a, b]) => {
                let condition = builder.condition(condition, at)?;
                builder.apply3(Op::Select, [condition, a, b], at)
            }
            ("min", &[first, second, ref rest @ ..]) => rest.iter().try_fold(
                builder.apply2(Op::Minimum, first, second, at)?,
                |value, argument| builder.apply2(Op::Minimum, value, *argument, at),
            ),
            ("max", &[first, second, ref rest @ ..]) => rest.iter().try_fold(
                builder.apply2(Op::Maximum, first, second, at)?,
                |value, argument| builder.apply2(Op::Maximum, value, *argument, at),
            ),
            _ => Err(self.fail(
                function,
                format!(
                    "the function `{name}` cannot take {} argument{}",
                    arguments.len(),
                    if arguments.len() == 1 { "" } else { "s" }
                ),
                format!("write `{name}({})`", signature(name)),
            )),
        }
    }
}

fn binding_power(kind: Kind) -> u8 {
    match kind {
        Kind::Or => OR,
        Kind::And => AND,
        Kind::Less
        | Kind::LessEqual
        | Kind::Greater
        | Kind::GreaterEqual
        | Kind::Equal
        | Kind::NotEqual => COMPARISON,
        Kind::Plus | Kind::Minus => SUM,
        Kind::Star | Kind::Slash => PRODUCT,
        Kind::Caret => POWER,
        _ => 0,
    }
}

fn signature(function: &str) -> &'static str {
    match function {
        "min" | "max" => "a, b, ...",
        "atan2" => "y, x",
        "clamp" => "value, low, high",
        "if" => "condition, value, value otherwise",
        _ => "value",
    }
}

fn less(left: u16, right: u16) -> Op {
    Op::Less {
        left,
        right,
        width: 1.0,
    }
}

fn less_equal(left: u16, right: u16) -> Op {
    Op::LessEqual {
        left,
        right,
        width: 1.0,
    }
}

fn equal(left: u16, right: u16) -> Op {
    Op::Equal {
        left,
        right,
        width: 1.0,
    }
}
