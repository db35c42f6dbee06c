//! JSON to values of a script, and back.

#![expect(
    unsafe_code,
    reason = "documents become values under one protection and not under one for each value"
)]

use std::ffi::c_int;

use mlua::{Lua, Table, Value, ffi, lua_State};
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
            Ok(found) => push_whole(lua, &self.0, &found).map(Ok),
            Err(error) => Ok(Err(error.to_string())),
        }
    }

    /// Values as a document.
    pub fn write(&self, value: &Value) -> Result<Vec<u8>, String> {
        let mut out = Vec::new();
        self.append(value, 0, &mut out)?;
        Ok(out)
    }

    fn append(&self, value: &Value, depth: usize, out: &mut Vec<u8>) -> Result<(), String> {
        match value {
            Value::Nil | Value::LightUserData(_) => out.extend_from_slice(b"null"),
            Value::Boolean(value) => out.extend_from_slice(if *value { b"true" } else { b"false" }),
            Value::Integer(number) => out.extend_from_slice(number.to_string().as_bytes()),
            Value::Number(number) => match written(*number) {
                Some(text) => out.extend_from_slice(text.as_bytes()),
                None => return Err(format!("JSON has no number {number}")),
            },
            Value::String(text) => match std::str::from_utf8(&text.as_bytes()) {
                Ok(text) => quote(text, out),
                Err(_) => return Err("a text of it is not UTF-8".into()),
            },
            Value::Table(_) if depth == DEEPEST => {
                return Err(format!(
                    "it has tables in one another deeper than {DEEPEST}"
                ));
            }
            Value::Table(table) => return self.append_table(table, depth, out),
            other => return Err(format!("JSON has no {}", other.type_name())),
        }
        Ok(())
    }

    fn append_table(&self, table: &Table, depth: usize, out: &mut Vec<u8>) -> Result<(), String> {
        let length = table.raw_len();
        let marked = || table.metatable().is_some_and(|found| found == self.0);
        let list = length > 0 || marked();
        out.push(if list { b'[' } else { b'{' });
        let mut count = 0;
        let mut problem = None;
        let seen = table.for_each(|key: Value, item: Value| {
            let written = self.append_entry(&key, &item, (list, count), depth, out);
            count += 1;
            written.map_err(|why| {
                problem = Some(why);
                mlua::Error::runtime("no JSON")
            })
        });
        if let Some(problem) = problem.or(seen.err().map(|error| error.to_string())) {
            return Err(problem);
        }
        if list && count != length {
            return Err("a list has a gap, or keys that are not 1, 2, 3, …".into());
        }
        out.push(if list { b']' } else { b'}' });
        Ok(())
    }

    /// Entry number `count` of a list or an object.
    fn append_entry(
        &self,
        key: &Value,
        item: &Value,
        (list, count): (bool, usize),
        depth: usize,
        out: &mut Vec<u8>,
    ) -> Result<(), String> {
        if count > 0 {
            out.push(b',');
        }
        match (key, list) {
            // A list goes through its items in their order.
            (Value::Integer(_) | Value::Number(_), true) => {}
            (Value::String(key), false) => match std::str::from_utf8(&key.as_bytes()) {
                Ok(key) => {
                    quote(key, out);
                    out.push(b':');
                }
                Err(_) => return Err("a key of it is not UTF-8".into()),
            },
            (key, _) => {
                let what = if list { "a list" } else { "a table" };
                return Err(format!("{what} has a key that is a {}", key.type_name()));
            }
        }
        self.append(item, depth + 1, out)
    }
}

/// Makes all of a document's values under one protection against want of memory: one for each would take longer than the
/// values.
fn push_whole(lua: &Lua, list: &Table, json: &Json) -> mlua::Result<Value> {
    // SAFETY: what is pushed stays within the stack that is asked for, and is one value in the place of the argument.
    // What fails passes functions that own nothing.
    unsafe {
        lua.exec_raw(list, |state| {
            push(state, json);
            ffi::lua_replace(state, 1);
        })
    }
}

/// Pushes one value. What marks lists is the first on the stack.
///
/// # Safety
/// Only where the language may fail.
unsafe fn push(state: *mut lua_State, json: &Json) {
    // SAFETY: room is asked for, texts are copied, and each entry takes from the stack what was pushed for it.
    unsafe {
        ffi::luaL_checkstack(state, 4, std::ptr::null());
        match json {
            Json::Null => ffi::lua_pushlightuserdata(state, std::ptr::null_mut()),
            Json::Bool(value) => ffi::lua_pushboolean(state, (*value).into()),
            Json::Number(number) => {
                ffi::lua_pushnumber(state, number.as_f64().unwrap_or(f64::NAN));
            }
            Json::String(text) => push_text(state, text),
            Json::Array(items) => {
                ffi::lua_createtable(state, room(items.len()), 0);
                for (place, item) in (1..).zip(items) {
                    push(state, item);
                    ffi::lua_rawseti_(state, -2, place);
                }
                ffi::lua_pushvalue(state, 1);
                ffi::lua_setmetatable(state, -2);
            }
            Json::Object(entries) => {
                ffi::lua_createtable(state, 0, room(entries.len()));
                for (key, item) in entries.iter().filter(|(_, item)| !item.is_null()) {
                    push_text(state, key);
                    push(state, item);
                    ffi::lua_rawset(state, -3);
                }
            }
        }
    }
}

/// Of a table that is made: a hint.
fn room(entries: usize) -> c_int {
    entries.try_into().unwrap_or(c_int::MAX)
}

/// # Safety
/// As [`push`], with room for one value.
unsafe fn push_text(state: *mut lua_State, text: &str) {
    // SAFETY: the text is copied.
    unsafe { ffi::lua_pushlstring_(state, text.as_ptr().cast(), text.len()) }
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
        let text = lists(&lua).write(&value);
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
        let problem = lists(&lua).write(&value).unwrap_err();
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
            let text = lists.write(&found.get(key).unwrap()).unwrap();
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
            let again = lists.write(&value).unwrap();
            prop_assert_eq!(serde_json::from_slice::<Json>(&again).unwrap(), document);
        }
    }
}
