//! A value that is kept to be compared with another one.

use std::collections::BTreeMap;

use crate::search::json::problem::Problem;
use crate::search::json::reader::{JsonSink, read};

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Json {
    Null,
    Bool(bool),
    /// As it is written, so that numbers of any size are different if their digits are.
    Number(String),
    Text(String),
    List(Vec<Json>),
    Object(BTreeMap<String, Json>),
}

impl Json {
    pub fn parse(document: &[u8]) -> Result<Self, Problem> {
        let mut builder = Builder::default();
        read(document, false, &mut builder)?;
        Ok(builder.done.expect("a value that was read is complete"))
    }

    /// Whether both are the same value: 1 and 1.0 are the same number.
    pub fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Number(one), Self::Number(other)) => one == other || are_equal(one, other),
            (Self::List(one), Self::List(other)) => {
                one.len() == other.len() && one.iter().zip(other).all(|(a, b)| a.is_same(b))
            }
            (Self::Object(one), Self::Object(other)) => {
                let same =
                    |(name, a): (&String, &Self)| other.get(name).is_some_and(|b| a.is_same(b));
                one.len() == other.len() && one.iter().all(same)
            }
            _ => self == other,
        }
    }
}

impl From<&serde_json::Value> for Json {
    fn from(value: &serde_json::Value) -> Self {
        use serde_json::Value;
        match value {
            Value::Null => Self::Null,
            Value::Bool(value) => Self::Bool(*value),
            Value::Number(number) => Self::Number(number.to_string()),
            Value::String(text) => Self::Text(text.clone()),
            Value::Array(items) => Self::List(items.iter().map(Self::from).collect()),
            Value::Object(members) => {
                let members = members.iter();
                Self::Object(
                    members
                        .map(|(name, value)| (name.clone(), value.into()))
                        .collect(),
                )
            }
        }
    }
}

/// Whether two numbers that are written differently are equal. Whole numbers are compared by their digits, of which a
/// floating-point number could not hold all.
fn are_equal(one: &str, other: &str) -> bool {
    let is_whole = |number: &str| !number.contains(['.', 'e', 'E']);
    if is_whole(one) && is_whole(other) {
        let zero = |number: &str| number == "0" || number == "-0";
        return zero(one) && zero(other);
    }
    let float = |number: &str| {
        number
            .parse::<f64>()
            .ok()
            .filter(|number| number.is_finite())
    };
    float(one).is_some() && float(one) == float(other)
}

/// Builds a value while it is read.
#[derive(Default)]
struct Builder {
    /// The lists and objects that are not complete, from the outermost on.
    open: Vec<Json>,
    /// The names of the members that are being read.
    names: Vec<String>,
    /// The value that was completed last.
    done: Option<Json>,
}

impl Builder {
    fn take(&mut self) -> Json {
        self.done.take().expect("what ends was read before")
    }
}

impl JsonSink for Builder {
    fn null(&mut self, _: bool) {
        self.done = Some(Json::Null);
    }

    fn bool(&mut self, value: bool) {
        self.done = Some(Json::Bool(value));
    }

    fn number(&mut self, written: &str, _: bool) {
        self.done = Some(Json::Number(written.to_owned()));
    }

    fn text(&mut self, text: &str) {
        self.done = Some(Json::Text(text.to_owned()));
    }

    fn begin_list(&mut self) {
        self.open.push(Json::List(Vec::new()));
    }

    fn item(&mut self) {
        let item = self.take();
        if let Some(Json::List(items)) = self.open.last_mut() {
            items.push(item);
        }
    }

    fn end_list(&mut self) {
        self.done = self.open.pop();
    }

    fn begin_object(&mut self) {
        self.open.push(Json::Object(BTreeMap::new()));
    }

    fn name(&mut self, name: &str) {
        self.names.push(name.to_owned());
    }

    fn member(&mut self) {
        let value = self.take();
        if let (Some(Json::Object(members)), Some(name)) = (self.open.last_mut(), self.names.pop())
        {
            members.insert(name, value);
        }
    }

    fn end_object(&mut self) {
        self.done = self.open.pop();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn numbers_are_the_same_if_they_are_equal_however_long_they_are() {
        let same = |one: &str, other: &str| {
            let parse = |text: &str| Json::parse(text.as_bytes()).unwrap();
            parse(one).is_same(&parse(other))
        };
        for (one, other) in [
            ("1", "1.0"),
            ("-0", "0"),
            ("1e2", "100"),
            ("[1, {\"a\": 2.0}]", "[1.0,{\"a\":2}]"),
            ("1e400", "1e400"),
        ] {
            assert!(same(one, other) && same(other, one), "{one} {other}");
        }
        for (one, other) in [
            ("1", "\"1\""),
            ("9007199254740993", "9007199254740992"),
            ("18446744073709551617", "18446744073709551618"),
            ("1e400", "1e401"),
            ("[1]", "[1,1]"),
            ("{\"a\":1}", "{\"a\":1,\"b\":1}"),
        ] {
            assert!(!same(one, other) && !same(other, one), "{one} {other}");
        }
    }

    #[test]
    fn of_members_with_the_same_name_the_last_counts() {
        let document = br#"{"id": 1, "a": [null, true, {}], "id": {"b": "c"}}"#;
        let expected = json!({"id": {"b": "c"}, "a": [null, true, {}]});
        assert_eq!(Json::parse(document), Ok((&expected).into()));
    }
}
