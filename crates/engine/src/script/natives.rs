//! The functions that the engine offers to scripts, on which their prelude builds.

use std::cell::RefCell;
use std::rc::Rc;

use mlua::{Lua, LuaString, Table, Value};

use crate::machine::clock::unix_ns;
use crate::schedule::random::Rng;
use crate::template::escape::{EscapeContext, escape};
use crate::template::values::uuid;

/// Creates the table `native` of the prelude.
///
/// `list` is the metatable that marks lists, and `random` the stream of the running client. `shows` says whether to
/// show what scripts print.
pub fn natives(
    lua: &Lua,
    list: &Table,
    random: &Rc<RefCell<Rng>>,
    shows: bool,
) -> mlua::Result<Table> {
    let native = lua.create_table()?;
    native.set("list", list)?;
    native.set("null", Value::NULL)?;
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

#[expect(
    clippy::needless_pass_by_value,
    reason = "mlua hands over what it has converted"
)]
fn escaped(lua: &Lua, value: LuaString) -> mlua::Result<LuaString> {
    let mut out = Vec::new();
    escape(&value.as_bytes(), EscapeContext::Url, &mut out);
    lua.create_string(out)
}

/// Like `math.random`: a number in [0, 1), or a whole number in a range; or else what is wrong with the range.
fn draw(
    random: &mut Rng,
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
