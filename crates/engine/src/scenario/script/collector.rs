//! How much the collector of a machine does at a time: it works inside of what scripts allocate, while clients that are
//! due wait.
//!
//! It looks for what is still in use, and then sweeps up all else. It looks fast: at the end it looks again, in one go,
//! through each coroutine that has run meanwhile. Sweeping has no such end, but each piece that is swept up takes many
//! times as long as one that is looked at: it sweeps little at a time.

#![expect(
    unsafe_code,
    reason = "the language says in which phase its collector is only where it interrupts"
)]

use std::ffi::c_int;

use mlua::{ffi, lua_State};

/// Of what is allocated meanwhile, bytes that are looked through.
const LOOKING_PERCENT: c_int = 1600;
/// And bytes that are swept up, at 16 for each piece, however large. What is allocated until the end is less than eight
/// bytes for each piece that there is.
const SWEEPING_PERCENT: c_int = 200;

/// The phases, as the language numbers them.
const LOOKING: c_int = 1;
const LOOKING_IN_ONE_GO: c_int = 3;

/// Called with each phase in which the collector has done something.
///
/// # Safety
/// The state has to be one of a living machine.
pub unsafe fn has_worked(state: *mut lua_State, phase: c_int) {
    let percent = match phase {
        LOOKING => LOOKING_PERCENT,
        LOOKING_IN_ONE_GO => SWEEPING_PERCENT,
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
    fn little_is_swept_up_at_a_time_and_in_the_end_all() {
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
