//! `string.format`, as the language has it. What `{…}` in a text is compiled to, `%*` for texts and whole numbers, is
//! filled in here, in half of the instructions: scripts make their paths of it, for each request.

#![expect(
    unsafe_code,
    reason = "a function that scripts call, which may hand its call over to the language's own"
)]

use std::ffi::c_int;

use memchr::memchr;
use mlua::{Lua, Table, ffi, lua_State};

use super::stack::{push_text, text};

/// Longer texts are left to the language's own function.
const ROOM: usize = 512;
/// Whole numbers up to here are written with all their digits; larger ones may have exponents.
const LARGEST: f64 = 1e15;

/// Puts it in the place of the language's own, which is its only upvalue.
pub fn install(lua: &Lua) -> mlua::Result<()> {
    let strings: Table = lua.globals().get("string")?;
    let name = c"format".as_ptr();
    // SAFETY: the function and its upvalue take two places of the stack, of which there are twenty at least.
    unsafe {
        lua.exec_raw::<()>(strings, |state| {
            ffi::lua_getfield(state, 1, name);
            ffi::lua_pushcclosured(state, format, name, 1);
            ffi::lua_setfield(state, 1, name);
            ffi::lua_settop(state, 0);
        })
    }
}

unsafe extern "C-unwind" fn format(state: *mut lua_State) -> c_int {
    let mut room = [0; ROOM];
    // SAFETY: arguments stay on the stack until the call ends, and the upvalue is a function of the same kind.
    unsafe {
        if let Some(text) = filled(state, &mut room) {
            push_text(state, text);
            1
        } else {
            let own = ffi::lua_tocfunction(state, ffi::lua_upvalueindex(1));
            own.expect("the language has the function")(state)
        }
    }
}

/// The text, if there is nothing in it but `%*` for texts and whole numbers.
///
/// # Safety
/// As [`text`].
unsafe fn filled(state: *mut lua_State, room: &mut [u8; ROOM]) -> Option<&[u8]> {
    let mut out = Filling { room, length: 0 };
    // SAFETY: it is not changed.
    let mut rest = unsafe { text(state, 1) }?;
    let mut argument = 1;
    while let Some(at) = memchr(b'%', rest) {
        out.push(&rest[..at])?;
        match rest.get(at + 1)? {
            b'%' => out.push(b"%")?,
            b'*' => {
                argument += 1;
                // SAFETY: as above.
                if let Some(text) = unsafe { text(state, argument) } {
                    out.push(text)?;
                } else {
                    // SAFETY: as above.
                    out.push_number(unsafe { whole_number(state, argument) }?)?;
                }
            }
            _ => return None,
        }
        rest = &rest[at + 2..];
    }
    out.push(rest)?;
    Some(&out.room[..out.length])
}

/// # Safety
/// Only in a function that a script has called.
unsafe fn whole_number(state: *mut lua_State, place: c_int) -> Option<u64> {
    // SAFETY: a place without a value has no type, and a number is looked at as such.
    let number = unsafe {
        if ffi::lua_type(state, place) != ffi::LUA_TNUMBER {
            return None;
        }
        ffi::lua_tonumber(state, place)
    };
    let integer = number as u64;
    // Not by value: −0 is written with its sign.
    let whole = (integer as f64).to_bits() == number.to_bits();
    (whole && number < LARGEST).then_some(integer)
}

/// A text that is being filled in; nothing where there is no room for more.
struct Filling<'a> {
    room: &'a mut [u8; ROOM],
    length: usize,
}

impl Filling<'_> {
    fn push(&mut self, text: &[u8]) -> Option<()> {
        let end = self.length + text.len();
        self.room.get_mut(self.length..end)?.copy_from_slice(text);
        self.length = end;
        Some(())
    }

    fn push_number(&mut self, mut number: u64) -> Option<()> {
        let mut digits = [0; 20];
        let mut first = digits.len();
        loop {
            first -= 1;
            digits[first] = b'0' + (number % 10) as u8;
            number /= 10;
            if number == 0 {
                break;
            }
        }
        self.push(&digits[first..])
    }
}
