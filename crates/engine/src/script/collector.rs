//! How much the garbage collector does at a time: while it runs, clients that are due have to wait.

#![expect(
    unsafe_code,
    reason = "the language tells the state of its collector to a callback only"
)]

use std::ffi::c_int;

use mlua::{ffi, lua_State};

/// The step multiplier while it marks live objects: its work in relation to what is allocated meanwhile. At the end of
/// marking it marks every coroutine that has run meanwhile again, all in one go, so marking must not take long.
const MARKING_PERCENT: c_int = 1600;
/// The step multiplier while it sweeps the rest. However long sweeping takes, nothing has to be repeated; at the pace
/// of marking, a step would take 100 µs.
const SWEEPING_PERCENT: c_int = 200;

/// A new cycle begins when there is twice as much as was in use after the last one, but not below `MIN_GOAL_KB`: the
/// few clients of most runs use little memory, all of which would otherwise be marked again every few hundred requests.
const GOAL_PERCENT: c_int = 200;
const MIN_GOAL_KB: c_int = 2 << 10;

/// What the last step did, in Luau's numbering (`lgc.h`: `GCSpropagate`, `GCSatomic`, `GCSsweep`).
const MARKED_SOME: c_int = 1;
const MARKED_ALL: c_int = 3;
const SWEPT_SOME: c_int = 4;

/// Called after each step; sets how much the next one does, and when the next cycle begins.
pub fn pace(state: *mut lua_State, step: c_int) {
    // SAFETY: the state is that of the VM whose collector calls; numbers are set or read, and nothing is allocated.
    let gc = |what, value| unsafe { ffi::lua_gc(state, what, value) };
    match step {
        MARKED_SOME => gc(ffi::LUA_GCSETSTEPMUL, MARKING_PERCENT),
        MARKED_ALL => gc(ffi::LUA_GCSETSTEPMUL, SWEEPING_PERCENT),
        SWEPT_SOME => {
            let kb = gc(ffi::LUA_GCCOUNT, 0).max(1);
            gc(ffi::LUA_GCSETGOAL, GOAL_PERCENT.max(100 * MIN_GOAL_KB / kb))
        }
        _ => return,
    };
}

#[cfg(test)]
mod tests {
    use mlua::Lua;

    use super::super::guard;
    use super::*;

    #[test]
    fn it_sweeps_in_smaller_steps_than_it_marks_in() {
        let lua = Lua::new();
        guard::begin();
        guard::watch(&lua);
        let state = lua.current_thread().state();
        let mut paces = Vec::new();
        let kept = lua.create_table().unwrap();
        for number in 0..100_000 {
            kept.raw_set(number % 5_000, lua.create_table().unwrap())
                .unwrap();
            // SAFETY: setting the percentage returns the previous one, which is then restored.
            let now = unsafe {
                let now = ffi::lua_gc(state, ffi::LUA_GCSETSTEPMUL, 100);
                ffi::lua_gc(state, ffi::LUA_GCSETSTEPMUL, now);
                now
            };
            if paces.last() != Some(&now) {
                paces.push(now);
            }
        }
        assert!(paces.len() > 4, "{paces:?}");
        let changes = [MARKING_PERCENT, SWEEPING_PERCENT];
        assert!(
            paces[1..].chunks_exact(2).all(|pair| pair == changes),
            "{paces:?}"
        );
    }

    #[test]
    fn it_begins_anew_when_there_is_enough_to_collect() {
        let lua = Lua::new();
        guard::begin();
        guard::watch(&lua);
        let mut peak = 0;
        for number in 0..200_000 {
            lua.create_table().unwrap();
            if number > 100_000 {
                peak = peak.max(lua.used_memory());
            }
        }
        let goal = MIN_GOAL_KB as usize * 1024;
        let expected = goal * 3 / 4..goal * 3 / 2;
        assert!(expected.contains(&peak), "{peak} bytes");
    }
}
