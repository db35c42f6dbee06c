//! Converts JSON to Lua values and back.

#![expect(
    unsafe_code,
    reason = "values are made and read where they lie, without a reference and a protection for each: 2.2 µs for ten \
              objects of four members instead of 4.6, and 0.9 µs for writing them instead of 5.5"
)]

use std::ffi::{c_int, c_void};
use std::io::Write as _;

use mlua::{ffi, lua_State};

use crate::script::stack::{push_text, text, type_name};
use crate::search::json::{JsonSink, MAX_DEPTH, Pointer, Search, is_plain, read};
use crate::search::missing::Missing;

/// Whole numbers beyond this one (2⁵³) are not exact in a script.
const EXACT: f64 = 9_007_199_254_740_992.0;
/// Whole numbers from this one on are written with an exponent, as scripts write them elsewhere.
const PLAIN: f64 = 1e21;
/// So many digits are always exact.
const EXACT_DIGITS: usize = 15;
/// How many members a new table has room for: most have few, and growing a table takes longer than all else.
const MEMBERS: c_int = 4;

/// Pushes a document.
///
/// Members of an object that are null are left out; items of a list that are null become `null`. A number that a script
/// could not hold becomes a text with its digits. `list` is the place of the metatable that marks lists, even empty
/// ones. After an error, values may be left on the stack.
///
/// # Safety
/// Must be called only where Lua may raise an error.
pub unsafe fn push(state: *mut lua_State, document: &[u8], list: c_int) -> Result<(), Missing> {
    // SAFETY: as for this function.
    unsafe { push_read(state, document, list, false) }
}

/// Pushes the value in the document that the pointer leads to, or nil if it is null or does not exist. Otherwise like
/// [`push`].
///
/// # Safety
/// Must be called only where Lua may raise an error.
pub unsafe fn push_at(
    state: *mut lua_State,
    document: &[u8],
    list: c_int,
    pointer: &Pointer<'_>,
) -> Result<(), Missing> {
    let mut search = Search::with_limit(document.len());
    search.feed(pointer, document);
    let found = match search.written() {
        Ok(found) => found,
        Err(Missing::Nothing) => b"null".to_vec(),
        Err(missing) => return Err(missing),
    };
    // SAFETY: as for this function; room is requested.
    unsafe {
        if let [b'"', text @ .., b'"'] = &found[..]
            && is_plain(text)
        {
            ffi::luaL_checkstack(state, 1, std::ptr::null());
            push_text(state, text);
            return Ok(());
        }
        push_read(state, &found, list, true).map_err(|missing| match missing {
            Missing::Json(problem) => Missing::Json(problem.within(search.begin())),
            missing => missing,
        })
    }
}

/// Pushes a document. If it is null, it becomes nil as a `member` of an object would, and otherwise `null`.
///
/// # Safety
/// Must be called only where Lua may raise an error.
unsafe fn push_read(
    state: *mut lua_State,
    document: &[u8],
    list: c_int,
    member: bool,
) -> Result<(), Missing> {
    // SAFETY: the document may be a single value, for which room is requested.
    unsafe { ffi::luaL_checkstack(state, 1, std::ptr::null()) };
    read(
        document,
        member,
        &mut Pushed {
            state,
            list,
            items: Vec::new(),
        },
    )
    .map_err(Missing::Json)
}

/// Pushes a value while it is read.
struct Pushed {
    state: *mut lua_State,
    list: c_int,
    /// How many items the lists that are being read have so far, from the outermost on.
    items: Vec<c_int>,
}

impl JsonSink for Pushed {
    fn null(&mut self, member: bool) {
        // SAFETY: there is room for one value.
        unsafe {
            if member {
                ffi::lua_pushnil(self.state);
            } else {
                ffi::lua_pushlightuserdata(self.state, std::ptr::null_mut());
            }
        }
    }

    fn bool(&mut self, value: bool) {
        // SAFETY: there is room for one value.
        unsafe { ffi::lua_pushboolean(self.state, value.into()) }
    }

    fn number(&mut self, written: &str, whole: bool) {
        let number = held(written, whole);
        // SAFETY: there is room for one value, and Lua may raise an error here.
        unsafe {
            match number {
                Some(number) => ffi::lua_pushnumber(self.state, number),
                None => push_text(self.state, written.as_bytes()),
            }
        }
    }

    fn text(&mut self, value: &str) {
        // SAFETY: there is room for one value, and Lua may raise an error here.
        unsafe { push_text(self.state, value.as_bytes()) }
    }

    fn begin_list(&mut self) {
        self.items.push(0);
        // SAFETY: room is requested for an item, and for the metatable; there is room for the list itself.
        unsafe {
            ffi::luaL_checkstack(self.state, 2, std::ptr::null());
            ffi::lua_createtable(self.state, MEMBERS, 0);
        }
    }

    fn item(&mut self) {
        if let Some(number) = self.items.last_mut() {
            *number += 1;
            // SAFETY: the item lies on its list, and is popped.
            unsafe { ffi::lua_rawseti_(self.state, -2, *number) }
        }
    }

    fn end_list(&mut self) {
        self.items.pop();
        // SAFETY: the list is at the top, and there is room for one value.
        unsafe {
            ffi::lua_pushvalue(self.state, self.list);
            ffi::lua_setmetatable(self.state, -2);
        }
    }

    fn begin_object(&mut self) {
        // SAFETY: room is requested for a member and its name; there is room for the object itself.
        unsafe {
            ffi::luaL_checkstack(self.state, 3, std::ptr::null());
            ffi::lua_createtable(self.state, 0, MEMBERS);
        }
    }

    fn name(&mut self, name: &str) {
        self.text(name);
    }

    fn member(&mut self) {
        // SAFETY: the member and its name lie on their object, and are popped.
        unsafe { ffi::lua_rawset(self.state, -3) }
    }

    fn end_object(&mut self) {}
}

/// The number as a script holds it; `None` if that would be another number.
fn held(written: &str, whole: bool) -> Option<f64> {
    if whole && written.len() <= EXACT_DIGITS {
        let digits = written.strip_prefix('-');
        let number = digits.unwrap_or(written).bytes();
        let number = number.fold(0_i64, |number, digit| number * 10 + i64::from(digit - b'0'));
        return Some(if digits.is_some() {
            -(number as f64)
        } else {
            number as f64
        });
    }
    let number: f64 = written.parse().ok()?;
    if !whole {
        return number.is_finite().then_some(number);
    }
    let exact: i64 = written.parse().ok()?;
    (exact.unsigned_abs() <= EXACT as u64).then_some(number)
}

/// Appends the value at `place` as a document. `list` is the metatable that marks lists.
///
/// # Safety
/// There must be a value at `place`.
pub unsafe fn write(
    state: *mut lua_State,
    place: c_int,
    list: *const c_void,
    out: &mut Vec<u8>,
) -> Result<(), String> {
    // SAFETY: nothing that is called can raise an error.
    unsafe { append(state, ffi::lua_absindex(state, place), list, 0, out) }
}

/// # Safety
/// As for [`write()`], with `place` counted from the bottom of the stack.
unsafe fn append(
    state: *mut lua_State,
    place: c_int,
    list: *const c_void,
    depth: usize,
    out: &mut Vec<u8>,
) -> Result<(), String> {
    // SAFETY: the value stays at its place.
    unsafe {
        match ffi::lua_type(state, place) {
            ffi::LUA_TNIL | ffi::LUA_TLIGHTUSERDATA => out.extend_from_slice(b"null"),
            ffi::LUA_TBOOLEAN if ffi::lua_toboolean(state, place) != 0 => {
                out.extend_from_slice(b"true");
            }
            ffi::LUA_TBOOLEAN => out.extend_from_slice(b"false"),
            ffi::LUA_TNUMBER => number(ffi::lua_tonumber(state, place), out)?,
            ffi::LUA_TSTRING => {
                let value = text(state, place).unwrap_or_default();
                quote(value, out).ok_or("a text of it is not UTF-8")?;
            }
            ffi::LUA_TTABLE if depth == MAX_DEPTH => {
                return Err(format!(
                    "it has tables in one another deeper than {MAX_DEPTH}"
                ));
            }
            ffi::LUA_TTABLE => append_table(state, place, list, depth, out)?,
            _ => return Err(format!("JSON has no {}", type_name(state, place))),
        }
    }
    Ok(())
}

/// # Safety
/// As for [`append`].
unsafe fn append_table(
    state: *mut lua_State,
    place: c_int,
    marker: *const c_void,
    depth: usize,
    out: &mut Vec<u8>,
) -> Result<(), String> {
    // SAFETY: there is room for a key and its value, which are popped again.
    unsafe {
        if ffi::lua_checkstack(state, 2) == 0 {
            return Err("it does not fit into the memory of scripts".into());
        }
        let length = ffi::lua_objlen(state, place);
        let list = length > 0 || is_marked(state, place, marker);
        out.push(if list { b'[' } else { b'{' });
        let mut count = 0;
        let mut next = ffi::lua_rawiter(state, place, 0);
        while next >= 0 {
            if count > 0 {
                out.push(b',');
            }
            match ffi::lua_type(state, -2) {
                // A list is iterated in the order of its items.
                ffi::LUA_TNUMBER if list => {}
                ffi::LUA_TSTRING if !list => {
                    let key = text(state, -2).unwrap_or_default();
                    quote(key, out).ok_or("a key of it is not UTF-8")?;
                    out.push(b':');
                }
                _ => {
                    let what = if list { "a list" } else { "a table" };
                    let kind = type_name(state, -2);
                    return Err(format!("{what} has a key that is a {kind}"));
                }
            }
            append(state, ffi::lua_gettop(state), marker, depth + 1, out)?;
            ffi::lua_pop(state, 2);
            count += 1;
            next = ffi::lua_rawiter(state, place, next);
        }
        if list && count != length {
            return Err("a list has a gap, or keys that are not 1, 2, 3, …".into());
        }
        out.push(if list { b']' } else { b'}' });
    }
    Ok(())
}

/// # Safety
/// There must be a table at `place`, and room for one value.
unsafe fn is_marked(state: *mut lua_State, place: c_int, marker: *const c_void) -> bool {
    // SAFETY: what is pushed is popped again.
    unsafe {
        if ffi::lua_getmetatable(state, place) == 0 {
            return false;
        }
        let metatable = ffi::lua_topointer(state, -1);
        ffi::lua_pop(state, 1);
        metatable == marker
    }
}

fn number(number: f64, out: &mut Vec<u8>) -> Result<(), String> {
    if !number.is_finite() {
        return Err(format!("JSON has no number {number}"));
    }
    if number.fract() == 0.0 && number.abs() < EXACT {
        return serde_json::to_writer(out, &(number as i64)).map_err(|error| error.to_string());
    }
    if number.fract() == 0.0 && number.abs() < PLAIN {
        write!(out, "{number}").expect("writing into memory does not fail");
        return Ok(());
    }
    serde_json::to_writer(out, &number).map_err(|error| error.to_string())
}

/// Appends a string in quotes; returns `None` if it is not UTF-8.
fn quote(text: &[u8], out: &mut Vec<u8>) -> Option<()> {
    if is_plain(text) {
        out.push(b'"');
        out.extend_from_slice(text);
        out.push(b'"');
        return Some(());
    }
    let text = std::str::from_utf8(text).ok()?;
    serde_json::to_writer(out, text).expect("writing a text into memory does not fail");
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use mlua::{Lua, Table, Value};
    use proptest::prelude::*;
    use serde_json::Value as Json;

    struct Lists(Table);

    impl Lists {
        fn read(&self, lua: &Lua, text: &[u8]) -> Value {
            // SAFETY: Lua may raise an error here.
            let read = unsafe {
                lua.exec_raw(&self.0, |state| {
                    push(state, text, 1).unwrap();
                    ffi::lua_remove(state, 1);
                })
            };
            read.unwrap()
        }

        fn read_at(&self, lua: &Lua, text: &[u8], pointer: &str) -> Value {
            let pointer = Pointer::parse(pointer.as_bytes()).unwrap();
            // SAFETY: Lua may raise an error here.
            let read = unsafe {
                lua.exec_raw(&self.0, |state| {
                    push_at(state, text, 1, &pointer).unwrap();
                    ffi::lua_remove(state, 1);
                })
            };
            read.unwrap()
        }

        fn write(&self, lua: &Lua, value: &Value) -> Result<Vec<u8>, String> {
            let mut out = Vec::new();
            let mut written = Ok(());
            // SAFETY: the value is the only one on the stack.
            let ran = unsafe {
                lua.exec_raw::<()>(value, |state| {
                    written = write(state, 1, self.0.to_pointer(), &mut out);
                    ffi::lua_settop(state, 0);
                })
            };
            ran.unwrap();
            written.map(|()| out)
        }
    }

    fn lists(lua: &Lua) -> Lists {
        Lists(lua.create_table().unwrap())
    }

    fn written_by(script: &str) -> Result<String, String> {
        let lua = Lua::new();
        let value: Value = lua.load(script).eval().unwrap();
        let text = lists(&lua).write(&lua, &value);
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
            ("9007199254740992", "9007199254740992"),
            ("-2^60", "-1152921504606847000"),
            ("1e16", "10000000000000000"),
            ("123456789012345680000", "123456789012345680000"),
            ("1e21", "1e+21"),
            ("1.5", "1.5"),
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
        let problem = lists(&lua).write(&lua, &value).unwrap_err();
        assert_eq!(problem, "it has tables in one another deeper than 128");
    }

    #[test]
    fn a_list_stays_one_when_it_is_empty_and_null_is_absent() {
        let lua = Lua::new();
        let lists = lists(&lua);
        let text = br#"{"a":[],"b":null,"c":[null,1]}"#;
        let Value::Table(found) = lists.read(&lua, text) else {
            panic!("no table");
        };
        assert!(!found.contains_key("b").unwrap());
        let parts = ["a", "c"].map(|key| {
            let text = lists.write(&lua, &found.get(key).unwrap()).unwrap();
            String::from_utf8(text).unwrap()
        });
        assert_eq!(parts, ["[]", "[null,1]"]);
    }

    #[test]
    fn of_members_with_the_same_name_the_last_counts_in_both_ways() {
        let lua = Lua::new();
        let lists = lists(&lua);
        let text = br#"{"a":1,"a":{"b":2},"c":1,"c":null}"#;
        assert_eq!(lists.read_at(&lua, text, "/a/b"), Value::Number(2.0));
        assert_eq!(lists.read_at(&lua, text, "/c"), Value::Nil);
        let Value::Table(whole) = lists.read(&lua, text) else {
            panic!("no table");
        };
        let inner: Table = whole.get("a").unwrap();
        assert_eq!(inner.get::<Value>("b").unwrap(), Value::Number(2.0));
        assert_eq!(whole.get::<Value>("c").unwrap(), Value::Nil);
    }

    #[test]
    fn a_number_that_a_script_cannot_hold_is_a_text_with_its_digits() {
        let lua = Lua::new();
        let lists = lists(&lua);
        for (written, held) in [
            ("0", true),
            ("-17", true),
            ("123456789012345", true),
            ("1234567890123456", true),
            ("9007199254740992", true),
            ("-9007199254740992", true),
            ("9007199254740993", false),
            ("9007199254740994", false),
            ("2733382000000000049", false),
            ("-2733382000000000049", false),
            ("18446744073709551615", false),
            ("100000000000000000000000000000", false),
            ("1e400", false),
            ("1.10", true),
            ("1e20", true),
        ] {
            for text in [written.to_owned(), format!("\u{feff}{written}")] {
                for value in [
                    lists.read(&lua, text.as_bytes()),
                    lists.read_at(&lua, text.as_bytes(), ""),
                ] {
                    if held {
                        assert_eq!(value, Value::Number(written.parse().unwrap()), "{written}");
                    } else {
                        assert_eq!(value.to_string().unwrap(), written);
                        assert!(value.is_string(), "{written}");
                    }
                }
            }
        }
    }

    /// Collects pointers to all places of a document, and beside each some that lead nowhere.
    fn places(document: &Json, place: &str, found: &mut Vec<String>) {
        found.push(place.into());
        found.push(format!("{place}/-"));
        match document {
            Json::Array(items) => {
                for (number, item) in items.iter().enumerate() {
                    places(item, &format!("{place}/{number}"), found);
                }
                found.push(format!("{place}/{}", items.len()));
                found.push(format!("{place}/00"));
            }
            Json::Object(members) => {
                for (name, member) in members {
                    let name = name.replace('~', "~0").replace('/', "~1");
                    places(member, &format!("{place}/{name}"), found);
                }
            }
            _ => {}
        }
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
            let value = lists.read(&lua, &text);
            let again = lists.write(&lua, &value).unwrap();
            prop_assert_eq!(serde_json::from_slice::<Json>(&again).unwrap(), document);
        }

        #[test]
        fn a_pointer_leads_where_it_leads_in_serde_json(document in documents()) {
            let lua = Lua::new();
            let lists = lists(&lua);
            let text = serde_json::to_vec(&document).unwrap();
            let mut found = Vec::new();
            places(&document, "", &mut found);
            for pointer in found {
                let value = lists.read_at(&lua, &text, &pointer);
                let written = lists.write(&lua, &value).unwrap();
                let expected = document.pointer(&pointer).unwrap_or(&Json::Null);
                prop_assert_eq!(&serde_json::from_slice::<Json>(&written).unwrap(), expected, "{}", pointer);
            }
        }
    }
}
