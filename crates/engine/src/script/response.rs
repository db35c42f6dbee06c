//! A response as a script holds it: one block of memory, from which values are created only when the script looks at
//! them, as most scripts look at few.
//!
//! ```text
//!  0        2          3         4               8
//!  status   outcome    lacks     length of head  head, body
//! ```

#![expect(
    unsafe_code,
    reason = "a piece of the language's memory is written and read in place: 0.17 µs for a response whose status is read, \
              instead of 0.37"
)]

use std::ffi::{CStr, c_int};

use mlua::{Lua, Table, ffi, lua_State};

use crate::outcome::OUTCOME_NAMES;
use crate::protocol::head::Head;
use crate::script::json;
use crate::script::reply::Reply;
use crate::script::stack::{push_text, raise, text, type_name};
use crate::search::json::{MAX_DOCUMENT_BYTES, Pointer};

/// The userdata tag that marks responses.
const TAG: c_int = 1;
const START: usize = 8;
/// Bits for what a response may lack: its body (too long), or its headers (not kept).
const BODY: u8 = 1;
const HEAD: u8 = 2;
const FIELDS: &str = "status, ok, outcome, headers, body and json()";

/// Installs what scripts can do with responses. `headers` is the metatable of header tables, and `list` that of lists.
pub fn install(lua: &Lua, headers: &Table, list: &Table) -> mlua::Result<()> {
    // SAFETY: what is pushed fits into the stack that is requested. The VM has no responses yet.
    unsafe {
        lua.exec_raw((list, headers), |state| {
            ffi::luaL_checkstack(state, 8, std::ptr::null());
            ffi::lua_createtable(state, 0, 3);
            ffi::lua_pushvalue(state, 1);
            ffi::lua_pushcclosure(state, json_called, 1);
            ffi::lua_setfield(state, 3, c"__namecall".as_ptr());
            ffi::lua_pushvalue(state, 1);
            ffi::lua_pushcclosure(state, json, 1);
            ffi::lua_pushvalue(state, 2);
            ffi::lua_pushcclosure(state, index, 2);
            ffi::lua_setfield(state, 3, c"__index".as_ptr());
            push_text(state, b"a response");
            ffi::lua_setfield(state, 3, c"__metatable".as_ptr());
            ffi::lua_setreadonly(state, 3, 1);
            ffi::lua_setuserdatametatable(state, TAG);
            ffi::lua_settop(state, 0);
        })
    }
}

/// Pushes a reply as a response.
///
/// # Safety
/// Must be called only where Lua may raise an error, with room for one value on the stack.
pub unsafe fn push(state: *mut lua_State, reply: &Reply) {
    let head = reply.head.as_deref().unwrap_or_default();
    let (body, mut lacks) = match &reply.body {
        Some(Ok(body)) => (&body[..], 0),
        Some(Err(_)) => (&[][..], BODY),
        None => (&[][..], 0),
    };
    if reply.body.is_some() && reply.head.is_none() {
        lacks |= HEAD;
    }
    let mut start = [0; START];
    start[..2].copy_from_slice(&reply.status.to_le_bytes());
    start[2..4].copy_from_slice(&[reply.outcome as u8, lacks]);
    start[4..].copy_from_slice(&(head.len() as u32).to_le_bytes());
    let length = START + head.len() + body.len();
    // SAFETY: the parts, written one after another, fill the new block exactly.
    unsafe {
        let mut to = ffi::lua_newuserdatataggedwithmetatable(state, length, TAG).cast::<u8>();
        for part in [&start, head, body] {
            to.copy_from_nonoverlapping(part.as_ptr(), part.len());
            to = to.add(part.len());
        }
    }
}

/// A response that lies on the stack.
#[derive(Clone, Copy)]
struct Packed<'a>(&'a [u8]);

impl<'a> Packed<'a> {
    /// # Safety
    /// The response must stay on the stack for as long as it is used.
    unsafe fn at(state: *mut lua_State, place: c_int) -> Option<Self> {
        // SAFETY: only `push` creates userdata with this tag, which neither moves nor changes.
        unsafe {
            let bytes = ffi::lua_touserdatatagged(state, place, TAG);
            let length = ffi::lua_objlen(state, place);
            (!bytes.is_null()).then(|| Self(std::slice::from_raw_parts(bytes.cast(), length)))
        }
    }

    fn status(self) -> u16 {
        u16::from_le_bytes([self.0[0], self.0[1]])
    }

    fn outcome(self) -> usize {
        self.0[2].into()
    }

    fn head(self) -> Result<&'a [u8], String> {
        if self.0[3] & HEAD != 0 {
            return Err(
                "responses keep their headers where the script writes response.headers".into(),
            );
        }
        Ok(self.parts().0)
    }

    fn body(self) -> Result<&'a [u8], String> {
        if self.0[3] & BODY != 0 {
            return Err(format!(
                "the body of this response is longer than {MAX_DOCUMENT_BYTES} bytes, which is too long for a script"
            ));
        }
        Ok(self.parts().1)
    }

    fn parts(self) -> (&'a [u8], &'a [u8]) {
        let length = self.0[4..START].try_into().map(u32::from_le_bytes);
        self.0[START..].split_at(length.expect("a length has four bytes") as usize)
    }
}

/// `response.key`. Upvalues: the function `json`, and the metatable of header tables.
unsafe extern "C-unwind" fn index(state: *mut lua_State) -> c_int {
    // SAFETY: a script has called it with a response and a key, which stay on the stack. It pushes up to five values.
    unsafe {
        let (Some(response), key) = (Packed::at(state, 1), text(state, 2)) else {
            raise(state, "this is not a response");
        };
        match key {
            Some(b"ok") => ffi::lua_pushboolean(state, (response.outcome() == 0).into()),
            Some(b"status") => ffi::lua_pushnumber(state, response.status().into()),
            Some(b"body") => match response.body() {
                Ok(body) => push_text(state, body),
                Err(problem) => raise(state, &problem),
            },
            Some(b"json") => ffi::lua_pushvalue(state, ffi::lua_upvalueindex(1)),
            Some(b"outcome") => push_text(state, OUTCOME_NAMES[response.outcome()].as_bytes()),
            Some(b"headers") => match response.head() {
                Ok(head) => push_headers(state, head),
                Err(problem) => raise(state, &problem),
            },
            _ => raise(state, &unknown(key.unwrap_or(b"such key"))),
        }
    }
    1
}

fn unknown(name: &[u8]) -> String {
    let name = String::from_utf8_lossy(name);
    format!("a response has no {name}: it has {FIELDS}")
}

/// Pushes a table of a response's headers by lower-case name; the values of repeated headers are joined by commas.
///
/// # Safety
/// Must be called only in [`index`].
unsafe fn push_headers(state: *mut lua_State, head: &[u8]) {
    // SAFETY: what is pushed for a header is popped again.
    unsafe {
        ffi::lua_createtable(state, 0, 8);
        let table = ffi::lua_gettop(state);
        for (name, value) in Head::parse(head).iter().flat_map(Head::all) {
            push_text(state, name.to_ascii_lowercase().as_bytes());
            ffi::lua_pushvalue(state, -1);
            ffi::lua_rawget(state, table);
            let joined = text(state, -1).map(|before| [before, value].join(&b", "[..]));
            ffi::lua_settop(state, table + 1);
            push_text(state, joined.as_deref().unwrap_or(value));
            ffi::lua_rawset(state, table);
        }
        ffi::lua_pushvalue(state, ffi::lua_upvalueindex(2));
        ffi::lua_setmetatable(state, table);
    }
}

/// `response:json()`, called without looking up `json` first. Upvalue: the metatable that marks lists.
unsafe extern "C-unwind" fn json_called(state: *mut lua_State) -> c_int {
    // SAFETY: a script has called it by a name, which is copied before anything else is called in Lua.
    unsafe {
        let name = CStr::from_ptr(ffi::lua_namecallatom(state, std::ptr::null_mut()));
        if name != c"json" {
            raise(state, &unknown(name.to_bytes()));
        }
        json(state)
    }
}

/// The body as Lua values, or the value in it that a pointer leads to. Upvalue: the metatable that marks lists.
unsafe extern "C-unwind" fn json(state: *mut lua_State) -> c_int {
    // SAFETY: a script has called it, and its arguments stay on the stack.
    unsafe {
        let Some(response) = Packed::at(state, 1) else {
            raise(state, "write response:json(), with a colon");
        };
        let body = match response.body() {
            Ok(body) => body,
            Err(problem) => raise(state, &problem),
        };
        let list = ffi::lua_upvalueindex(1);
        let pushed = if ffi::lua_isnoneornil(state, 2) != 0 {
            json::push(state, body, list)
        } else {
            json::push_at(state, body, list, &pointer(state, 2))
        };
        match pushed {
            Ok(()) => 1,
            Err(missing) => raise(state, &format!("the response {missing}")),
        }
    }
}

/// Returns the JSON pointer at `place`.
///
/// # Safety
/// Must be called only in a function that a script has called. The text must stay on the stack for as long as the
/// pointer is used.
unsafe fn pointer<'a>(state: *mut lua_State, place: c_int) -> Pointer<'a> {
    // SAFETY: as for this function.
    unsafe {
        let Some(pointer) = text(state, place) else {
            let kind = type_name(state, place);
            raise(
                state,
                &format!("json() takes a JSON pointer, as in json(\"/items/0/id\"), not a {kind}"),
            );
        };
        match Pointer::parse(pointer) {
            Ok(pointer) => pointer,
            Err(problem) => raise(state, &problem),
        }
    }
}
