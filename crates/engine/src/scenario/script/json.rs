//! JSON to values of a script, and back.

use mlua::{Lua, Table, Value};
use serde_json::Value as Json;

/// As deep as tables may lie in one another; texts are read as deep as that, too.
const DEEPEST: usize = 128;
/// Greater whole numbers are not exact in a script.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// Marks tables that are lists even where they are empty: those that were read, and those of `array`.
#[derive(Debug, Clone)]
pub struct Lists(pub Table);

impl Lists {
    /// A document as values. What is null in an object is left out, in a list it is `null`.
    pub fn read(&self, lua: &Lua, text: &[u8]) -> mlua::Result<Result<Value, String>> {
        match serde_json::from_slice::<Json>(text) {
            Ok(found) => self.value(lua, &found).map(Ok),
            Err(error) => Ok(Err(error.to_string())),
        }
    }

    fn value(&self, lua: &Lua, json: &Json) -> mlua::Result<Value> {
        Ok(match json {
            Json::Null => Value::NULL,
            Json::Bool(value) => Value::Boolean(*value),
            Json::Number(number) => Value::Number(number.as_f64().unwrap_or(f64::NAN)),
            Json::String(text) => Value::String(lua.create_string(text)?),
            Json::Array(items) => {
                let list = lua.create_table_with_capacity(items.len(), 0)?;
                for (place, item) in items.iter().enumerate() {
                    list.raw_seti(place + 1, self.value(lua, item)?)?;
                }
                list.set_metatable(Some(self.0.clone()))?;
                Value::Table(list)
            }
            Json::Object(entries) => {
                let table = lua.create_table_with_capacity(0, entries.len())?;
                for (key, item) in entries.iter().filter(|(_, item)| !item.is_null()) {
                    table.raw_set(key.as_str(), self.value(lua, item)?)?;
                }
                Value::Table(table)
            }
        })
    }

    /// Values as a document.
    pub fn write(&self, value: &Value) -> mlua::Result<Result<Vec<u8>, String>> {
        let mut out = Vec::new();
        Ok(self.append(value, 0, &mut out)?.map(|()| out))
    }

    fn append(
        &self,
        value: &Value,
        depth: usize,
        out: &mut Vec<u8>,
    ) -> mlua::Result<Result<(), String>> {
        match value {
            Value::Nil | Value::LightUserData(_) => out.extend_from_slice(b"null"),
            Value::Boolean(value) => out.extend_from_slice(if *value { b"true" } else { b"false" }),
            Value::Integer(number) => out.extend_from_slice(number.to_string().as_bytes()),
            Value::Number(number) => match written(*number) {
                Some(text) => out.extend_from_slice(text.as_bytes()),
                None => return Ok(Err(format!("JSON has no number {number}"))),
            },
            Value::String(text) => match std::str::from_utf8(&text.as_bytes()) {
                Ok(text) => quote(text, out),
                Err(_) => return Ok(Err("a text of it is not UTF-8".into())),
            },
            Value::Table(_) if depth == DEEPEST => {
                let problem = format!("it has tables in one another deeper than {DEEPEST}");
                return Ok(Err(problem));
            }
            Value::Table(table) => return self.append_table(table, depth, out),
            other => return Ok(Err(format!("JSON has no {}", other.type_name()))),
        }
        Ok(Ok(()))
    }

    fn append_table(
        &self,
        table: &Table,
        depth: usize,
        out: &mut Vec<u8>,
    ) -> mlua::Result<Result<(), String>> {
        let length = table.raw_len();
        let marked = || table.metatable().is_some_and(|found| found == self.0);
        let list = length > 0 || marked();
        out.push(if list { b'[' } else { b'{' });
        let mut count = 0;
        for pair in table.pairs::<Value, Value>() {
            let (key, item) = pair?;
            if count > 0 {
                out.push(b',');
            }
            count += 1;
            match (&key, list) {
                // A list goes through its items in their order.
                (Value::Integer(_) | Value::Number(_), true) => {}
                (Value::String(key), false) => match std::str::from_utf8(&key.as_bytes()) {
                    Ok(key) => {
                        quote(key, out);
                        out.push(b':');
                    }
                    Err(_) => return Ok(Err("a key of it is not UTF-8".into())),
                },
                (key, _) => {
                    let what = if list { "a list" } else { "a table" };
                    return Ok(Err(format!(
                        "{what} has a key that is a {}",
                        key.type_name()
                    )));
                }
            }
            if let Err(problem) = self.append(&item, depth + 1, out)? {
                return Ok(Err(problem));
            }
        }
        if list && count != length {
            return Ok(Err(
                "a list has a gap, or keys that are not 1, 2, 3, …".into()
            ));
        }
        out.push(if list { b']' } else { b'}' });
        Ok(Ok(()))
    }
}

fn written(number: f64) -> Option<String> {
    if !number.is_finite() {
        return None;
    }
    if number.fract() == 0.0 && number.abs() < EXACT {
        return Some((number as i64).to_string());
    }
    serde_json::to_string(&number).ok()
}

fn quote(text: &str, out: &mut Vec<u8>) {
    serde_json::to_writer(out, text).expect("writing a text into memory does not fail");
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn lists(lua: &Lua) -> Lists {
        Lists(lua.create_table().unwrap())
    }

    fn written_by(script: &str) -> Result<String, String> {
        let lua = Lua::new();
        let value: Value = lua.load(script).eval().unwrap();
        let text = lists(&lua).write(&value).unwrap();
        text.map(|text| String::from_utf8(text).unwrap())
    }

    #[test]
    fn values_are_written() {
        for (script, expected) in [
            ("{}", "{}"),
            ("{1, 2.5, -3}", "[1,2.5,-3]"),
            ("{a = {true}}", r#"{"a":[true]}"#),
            ("'ü\"\\n'", r#""ü\"\n""#),
            ("1e300", "1e+300"),
            ("9007199254740991", "9007199254740991"),
            ("nil", "null"),
        ] {
            assert_eq!(written_by(script).as_deref(), Ok(expected), "{script}");
        }
        for (script, expected) in [
            ("0/0", "JSON has no number NaN"),
            ("print", "JSON has no function"),
            ("{1, nil, 3, x = 1}", "a list has a key that is a string"),
            ("{[2] = 1}", "a table has a key that is a"),
            ("{[true] = 1}", "a table has a key that is a boolean"),
            ("'\\255'", "a text of it is not UTF-8"),
        ] {
            let problem = written_by(script).unwrap_err();
            assert!(problem.starts_with(expected), "{script}: {problem}");
        }
    }

    #[test]
    fn tables_that_contain_themselves_have_an_end() {
        let lua = Lua::new();
        let value: Value = lua.load("local t = {} t.t = t return t").eval().unwrap();
        let problem = lists(&lua).write(&value).unwrap().unwrap_err();
        assert_eq!(problem, "it has tables in one another deeper than 128");
    }

    #[test]
    fn a_list_stays_one_when_it_is_empty_and_null_is_absent() {
        let lua = Lua::new();
        let lists = lists(&lua);
        let text = br#"{"a":[],"b":null,"c":[null,1]}"#;
        let Ok(Value::Table(found)) = lists.read(&lua, text).unwrap() else {
            panic!("no table");
        };
        assert!(!found.contains_key("b").unwrap());
        let parts = ["a", "c"].map(|key| {
            let text = lists.write(&found.get(key).unwrap()).unwrap().unwrap();
            String::from_utf8(text).unwrap()
        });
        assert_eq!(parts, ["[]", "[null,1]"]);
    }

    fn documents() -> impl Strategy<Value = Json> {
        let leaf = prop_oneof![
            any::<bool>().prop_map(Json::from),
            (-EXACT as i64..EXACT as i64).prop_map(Json::from),
            any::<String>().prop_map(Json::from),
        ];
        leaf.prop_recursive(4, 32, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Json::from),
                prop::collection::hash_map(any::<String>(), inner, 0..4)
                    .prop_map(|map| Json::Object(map.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn what_is_read_and_written_again_is_the_same(document in documents()) {
            let lua = Lua::new();
            let lists = lists(&lua);
            let text = serde_json::to_vec(&document).unwrap();
            let value = lists.read(&lua, &text).unwrap().unwrap();
            let again = lists.write(&value).unwrap().unwrap();
            prop_assert_eq!(serde_json::from_slice::<Json>(&again).unwrap(), document);
        }
    }
}
