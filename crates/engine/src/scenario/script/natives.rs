//! What the engine gives to scripts, beneath their prelude.

use std::cell::RefCell;
use std::rc::Rc;

use mlua::{Buffer, Lua, LuaString, Table, Value};

use super::answer;
use super::json::Lists;
use crate::record::interval::OUTCOME_NAMES;
use crate::scenario::head::Head;
use crate::scenario::values::{Place, escape, uuid};
use crate::schedule::clock::unix_ns;
use crate::schedule::random::Stream;

/// A script sees bodies up to so many bytes.
pub const MOST_BODY_BYTES: usize = 1024 * 1024;

/// The table `native` of the prelude. `random`: of the client that runs; `shows`: what is printed is shown.
pub fn natives(
    lua: &Lua,
    lists: &Lists,
    random: &Rc<RefCell<Stream>>,
    shows: bool,
) -> mlua::Result<Table> {
    let native = lua.create_table()?;
    native.set("list", &lists.0)?;
    native.set("null", Value::NULL)?;
    native.set("most_bytes", MOST_BODY_BYTES)?;
    native.set("outcomes", lua.create_sequence_from(OUTCOME_NAMES)?)?;

    let lists = lists.clone();
    let read = move |lua: &Lua, packed: Buffer| {
        let packed = packed.to_vec();
        let (_, body) = answer::parts(&packed);
        Ok(or_problem(lists.read(lua, body)?))
    };
    native.set("read", lua.create_function(read)?)?;
    native.set("headers", lua.create_function(headers)?)?;
    native.set("escape", lua.create_function(escaped)?)?;
    native.set(
        "now",
        lua.create_function(|_, ()| Ok(unix_ns() / 1_000_000))?,
    )?;

    let stream = random.clone();
    let draw = move |_: &Lua, range| Ok(draw(&mut stream.borrow_mut(), range));
    native.set("random", lua.create_function(draw)?)?;
    let stream = random.clone();
    let new_uuid = move |lua: &Lua, ()| {
        let mut out = Vec::with_capacity(36);
        uuid(&mut stream.borrow_mut(), &mut out);
        lua.create_string(out)
    };
    native.set("uuid", lua.create_function(new_uuid)?)?;
    let print = move |_: &Lua, values: mlua::Variadic<Value>| {
        if shows {
            let texts: mlua::Result<Vec<String>> = values.iter().map(Value::to_string).collect();
            eprintln!("{}", texts?.join(" "));
        }
        Ok(())
    };
    native.set("print", lua.create_function(print)?)?;
    Ok(native)
}

fn or_problem<T>(found: Result<T, String>) -> (Option<T>, Option<String>) {
    match found {
        Ok(found) => (Some(found), None),
        Err(problem) => (None, Some(problem)),
    }
}

/// A table as a form sends it, in the order of its keys.
pub fn form(lua: &Lua, fields: &Value) -> Result<Vec<u8>, String> {
    let Value::Table(fields) = fields else {
        return Err("form is a table: form = {user = \"ann\"}".into());
    };
    let mut pairs = Vec::new();
    let mut problem = None;
    let seen = fields.for_each(|key: Value, value: Value| {
        let texts = [&key, &value].map(|value| match value {
            Value::Table(_) | Value::Function(_) => Ok(None),
            other => lua.coerce_string(other.clone()),
        });
        let [Ok(Some(key)), Ok(Some(value))] = texts else {
            let kind = value.type_name();
            problem = Some(format!("a form has texts and numbers, and not a {kind}"));
            return Ok(());
        };
        let mut pair = Vec::new();
        escape(&key.as_bytes(), Place::Url, &mut pair);
        pair.push(b'=');
        escape(&value.as_bytes(), Place::Url, &mut pair);
        pairs.push(pair);
        Ok(())
    });
    if let Some(problem) = problem.or(seen.err().map(|error| error.to_string())) {
        return Err(problem);
    }
    pairs.sort();
    Ok(pairs.join(&b'&'))
}

/// The headers of an answer, by their names in lower case; several of a name are joined.
#[expect(
    clippy::needless_pass_by_value,
    reason = "mlua hands over what it has converted"
)]
fn headers(lua: &Lua, packed: Buffer) -> mlua::Result<Table> {
    let found = lua.create_table()?;
    let packed = packed.to_vec();
    let head = Head::parse(answer::parts(&packed).0);
    for (name, value) in head.iter().flat_map(Head::all) {
        let name = name.to_ascii_lowercase();
        let value = match found.raw_get::<Option<LuaString>>(name.as_str())? {
            Some(before) => [&before.as_bytes()[..], value].join(&b", "[..]),
            None => value.to_vec(),
        };
        found.raw_set(name, lua.create_string(value)?)?;
    }
    Ok(found)
}

#[expect(
    clippy::needless_pass_by_value,
    reason = "mlua hands over what it has converted"
)]
fn escaped(lua: &Lua, value: LuaString) -> mlua::Result<LuaString> {
    let mut out = Vec::new();
    escape(&value.as_bytes(), Place::Url, &mut out);
    lua.create_string(out)
}

/// As `math.random`: a share, a whole number from 1, or one between two.
fn draw(
    random: &mut Stream,
    range: (Option<f64>, Option<f64>),
) -> (Option<f64>, Option<&'static str>) {
    let (from, to) = match range {
        (None, _) => return (Some(random.unit()), None),
        (Some(to), None) => (1.0, to),
        (Some(from), Some(to)) => (from, to),
    };
    let whole = |value: f64| value.fract() == 0.0 && value.abs() <= 9e15;
    if !(whole(from) && whole(to) && from <= to) {
        return (
            None,
            Some("random takes whole numbers, the smaller one first: random(1, 100)"),
        );
    }
    let drawn = random.between(from as i64, to as i64);
    (Some(drawn as f64), None)
}
