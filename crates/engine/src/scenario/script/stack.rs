//! Values on the language's stack, for functions that a script calls.
//!
//! What fails there is raised in the script, and passes the engine's functions as a panic would: what they own is
//! dropped.

#![expect(
    unsafe_code,
    reason = "a script's calls into the engine are too many for a protection and a reference for each value"
)]

use std::ffi::{CStr, c_int};

use mlua::{ffi, lua_State};

/// The text at `place`; a number is none.
///
/// # Safety
/// The text has to stay on the stack for as long as it is looked at.
pub unsafe fn text<'a>(state: *mut lua_State, place: c_int) -> Option<&'a [u8]> {
    // SAFETY: a text does not move, and is not changed: only numbers are converted in their place.
    unsafe {
        if ffi::lua_type(state, place) != ffi::LUA_TSTRING {
            return None;
        }
        let mut length = 0;
        let bytes = ffi::lua_tolstring(state, place, &raw mut length);
        Some(std::slice::from_raw_parts(bytes.cast(), length))
    }
}

/// As [`text`]; a number at `place` becomes its text there.
///
/// # Safety
/// As [`text`], where the language may fail.
pub unsafe fn text_or_number<'a>(state: *mut lua_State, place: c_int) -> Option<&'a [u8]> {
    // SAFETY: as for `text`; what is no number is left alone.
    unsafe {
        if ffi::lua_type(state, place) == ffi::LUA_TNUMBER {
            ffi::lua_tolstring(state, place, std::ptr::null_mut());
        }
        text(state, place)
    }
}

/// # Safety
/// Where the language may fail, with room for one value.
pub unsafe fn push_text(state: *mut lua_State, text: &[u8]) {
    // SAFETY: the text is copied.
    unsafe { ffi::lua_pushlstring_(state, text.as_ptr().cast(), text.len()) }
}

/// The name of the type of the value at `place`.
///
/// # Safety
/// There has to be a value.
pub unsafe fn type_name(state: *mut lua_State, place: c_int) -> &'static str {
    // SAFETY: names of types are constants.
    let name = unsafe { CStr::from_ptr(ffi::luaL_typename(state, place)) };
    name.to_str().unwrap_or("value")
}

/// Ends the call with an error that names the line of the script that made it.
///
/// # Safety
/// Only in a function that a script has called.
pub unsafe fn raise(state: *mut lua_State, problem: &str) -> ! {
    // SAFETY: room for two values is asked for, and the text is copied.
    unsafe {
        ffi::lua_rawcheckstack(state, 2);
        ffi::luaL_where(state, 1);
        push_text(state, problem.as_bytes());
        ffi::lua_concat(state, 2);
        ffi::lua_error(state)
    }
}
