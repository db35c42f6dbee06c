//! How much the garbage collector of a virtual machine does at a time. It works whenever scripts allocate, and clients
//! that are due wait meanwhile.
//!
//! It marks what is still in use, then sweeps all else. Marking has to be fast: at its end, in one atomic step, it visits
//! again each coroutine that has run meanwhile. Sweeping has no such step, but freeing a block takes many times as long as
//! marking one, so it sweeps little at a time.

#![expect(
    unsafe_code,
    reason = "the language says in which phase its collector is only where it interrupts"
)]

use std::ffi::c_int;

use mlua::{ffi, lua_State};

/// Bytes to mark for what is allocated meanwhile.
const MARKING_PERCENT: c_int = 1600;
/// Bytes to sweep for what is allocated meanwhile. Each block counts as 16, however large: until all are swept, less than
/// eight bytes are allocated for each of them.
const SWEEPING_PERCENT: c_int = 200;

/// The phases, as the language numbers them.
const MARKING: c_int = 1;
const ATOMIC: c_int = 3;

/// Called after each step of the collector, with its phase.
///
/// # Safety
/// The state has to be one of a living machine.
pub unsafe fn has_worked(state: *mut lua_State, phase: c_int) {
    let percent = match phase {
        MARKING => MARKING_PERCENT,
        ATOMIC => SWEEPING_PERCENT,
        _ => return,
    };
    // SAFETY: it sets a number, and does no work.
    unsafe {
        ffi::lua_gc(state, ffi::LUA_GCSETSTEPMUL, percent);
    }
}

#[cfg(test)]
mod tests {
    use mlua::Lua;

    use crate::scenario::script::guard;

    #[test]
    fn it_sweeps_little_at_a_time_and_all_in_the_end() {
        let lua = Lua::new();
        guard::watch(&lua);
        let begun = lua.used_memory();
        lua.gc_stop();
        lua.load("for _ = 1, 20000 do buffer.create(250) end")
            .exec()
            .unwrap();
        let full = lua.used_memory();
        assert!(full > begun + 4_000_000, "{full}");

        let (mut last, mut most) = (full, 0);
        for _ in 0..3 {
            while !lua.gc_step().unwrap() {
                let now = lua.used_memory();
                most = most.max(last.saturating_sub(now));
                last = now;
            }
        }
        assert!(last < begun + 100_000, "{last}");
        assert!(most < 100_000, "{most}");
    }
}
