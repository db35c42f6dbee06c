//! Values on the Lua stack, for functions that a script calls.
//!
//! Errors are raised in the script, and unwind through the engine's functions as a panic would: what these own is
//! dropped.

#![expect(
    unsafe_code,
    reason = "a script's calls into the engine are too many for a protection and a reference for each value: see the table \
              in `script/mod.rs`"
)]

use std::ffi::{CStr, c_int};

use mlua::{ffi, lua_State};

/// Returns the string at `place`; `None` for any other value, even a number.
///
/// # Safety
/// The string must stay on the stack for as long as the returned slice is used.
pub unsafe fn text<'a>(state: *mut lua_State, place: c_int) -> Option<&'a [u8]> {
    // SAFETY: a string neither moves nor changes: `lua_tolstring` converts only numbers in place.
    unsafe {
        if ffi::lua_type(state, place) != ffi::LUA_TSTRING {
            return None;
        }
        let mut length = 0;
        let bytes = ffi::lua_tolstring(state, place, &raw mut length);
        Some(std::slice::from_raw_parts(bytes.cast(), length))
    }
}

/// Like [`text`], but first converts a number at `place` to a string, in place.
///
/// # Safety
/// As for [`text`]; must be called only where Lua may raise an error.
pub unsafe fn text_or_number<'a>(state: *mut lua_State, place: c_int) -> Option<&'a [u8]> {
    // SAFETY: as for `text`; a value that is not a number is left alone.
    unsafe {
        if ffi::lua_type(state, place) == ffi::LUA_TNUMBER {
            ffi::lua_tolstring(state, place, std::ptr::null_mut());
        }
        text(state, place)
    }
}

/// # Safety
/// Must be called only where Lua may raise an error, with room for one value on the stack.
pub unsafe fn push_text(state: *mut lua_State, text: &[u8]) {
    // SAFETY: Lua copies the text.
    unsafe { ffi::lua_pushlstring_(state, text.as_ptr().cast(), text.len()) }
}

/// Returns the name of the type of the value at `place`.
///
/// # Safety
/// There must be a value at `place`.
pub unsafe fn type_name(state: *mut lua_State, place: c_int) -> &'static str {
    // SAFETY: type names are constants.
    let name = unsafe { CStr::from_ptr(ffi::luaL_typename(state, place)) };
    name.to_str().unwrap_or("value")
}

/// Ends the call with an error that names the line of the script that made the call.
///
/// # Safety
/// Must be called only in a function that a script has called.
pub unsafe fn raise(state: *mut lua_State, problem: &str) -> ! {
    // SAFETY: room for two values is requested, and Lua copies the text.
    unsafe {
        ffi::lua_rawcheckstack(state, 2);
        ffi::luaL_where(state, 1);
        push_text(state, problem.as_bytes());
        ffi::lua_concat(state, 2);
        ffi::lua_error(state)
    }
}
