//! How much the collector of garbage does at a time: while it is at it, clients that are due wait.

#![expect(
    unsafe_code,
    reason = "the language tells the state of its collector to a callback only"
)]

use std::ffi::c_int;

use mlua::{ffi, lua_State};

/// While it marks what is in use: so much of it for what is allocated meanwhile. In one go it marks again each coroutine
/// that has run since it began, so that it must not mark for long.
const MARKING_PERCENT: c_int = 1600;
/// While it sweeps the rest: nothing has to be done again however long it takes, and at the pace of marking a step takes
/// 100 µs.
const SWEEPING_PERCENT: c_int = 200;

/// It begins anew when there is twice as much as was in use after its last go, but not below so much: the few clients of
/// most runs use little, all of which it would mark again after some hundred requests.
const GOAL_PERCENT: c_int = 200;
const LEAST_GOAL_KB: c_int = 2 << 10;

/// What its last step was, as Luau numbers them (`lgc.h`: `GCSpropagate`, `GCSatomic`, `GCSsweep`).
const MARKED_SOME: c_int = 1;
const MARKED_ALL: c_int = 3;
const SWEPT_SOME: c_int = 4;

/// After each of its steps: how much it does in the next, and when it begins anew.
pub fn pace(state: *mut lua_State, step: c_int) {
    // SAFETY: the state is that of the machine whose collector calls; numbers are set or read, and nothing allocated.
    let gc = |what, value| unsafe { ffi::lua_gc(state, what, value) };
    match step {
        MARKED_SOME => gc(ffi::LUA_GCSETSTEPMUL, MARKING_PERCENT),
        MARKED_ALL => gc(ffi::LUA_GCSETSTEPMUL, SWEEPING_PERCENT),
        SWEPT_SOME => {
            let kb = gc(ffi::LUA_GCCOUNT, 0).max(1);
            gc(
                ffi::LUA_GCSETGOAL,
                GOAL_PERCENT.max(100 * LEAST_GOAL_KB / kb),
            )
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
            // SAFETY: gives the percentage that was set, and takes it back.
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
        let state = lua.current_thread().state();
        let mut most = 0;
        for number in 0..200_000 {
            lua.create_table().unwrap();
            // SAFETY: gives a number.
            let kb = unsafe { ffi::lua_gc(state, ffi::LUA_GCCOUNT, 0) };
            if number > 100_000 {
                most = most.max(kb);
            }
        }
        let expected = LEAST_GOAL_KB * 3 / 4..LEAST_GOAL_KB * 3 / 2;
        assert!(expected.contains(&most), "{most} kB");
    }
}
