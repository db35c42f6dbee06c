//! Ends a script that computes for too long.

#![expect(
    unsafe_code,
    reason = "the language calls this at every jump, call and return of a script: a safe callback takes longer than the \
              script itself"
)]

use std::cell::Cell;
use std::ffi::c_int;

use mlua::{Lua, ffi, lua_State};

use super::collector;
use crate::schedule::clock::{monotonic_ns, thread_cpu_ns};

/// Between two operations a script may compute so long, and is ended before it has computed twice as long.
const LONGEST_COMPUTING_NS: u64 = 100_000_000;
const TOO_LONG: &[u8] = b"it computed for more than 100 ms without a request or a pause";
/// The clock is looked at after so many jumps, calls and returns.
const TICKS_PER_LOOK: u32 = 64;

thread_local! {
    /// Of the script that this thread runs.
    static GUARD: Guard = const { Guard::new() };
}

struct Guard {
    /// By the clock, which is read at the first look: most scripts have gone on to a request before that.
    deadline: Cell<Option<u64>>,
    /// By the thread's own time, once the deadline has passed: a machine that stalls is not the script's fault.
    most_cpu: Cell<Option<u64>>,
    ticks: Cell<u32>,
}

/// From now on the scripts of this machine end where they compute for too long, and its collector keeps its pace.
pub fn watch(lua: &Lua) {
    let state = lua.current_thread().state();
    // SAFETY: the state is that of a living machine, whose callbacks live as long as it does. Nothing else sets this
    // one.
    unsafe {
        (*ffi::lua_callbacks(state)).interrupt = Some(look);
    }
}

/// What runs next on this thread has all its time before it.
pub fn begin() {
    GUARD.with(|guard| {
        guard.ticks.set(0);
        guard.most_cpu.set(None);
        guard.deadline.set(None);
    });
}

unsafe extern "C-unwind" fn look(state: *mut lua_State, collecting: c_int) {
    if collecting >= 0 {
        collector::pace(state, collecting);
        return;
    }
    if !GUARD.with(Guard::is_over) {
        return;
    }
    // SAFETY: a script is running here, and may fail here: room for two values is asked for, and what is raised passes
    // this function, which owns nothing.
    unsafe {
        ffi::lua_rawcheckstack(state, 2);
        ffi::luaL_where(state, 0);
        ffi::lua_pushlstring_(state, TOO_LONG.as_ptr().cast(), TOO_LONG.len());
        ffi::lua_concat(state, 2);
        ffi::lua_error(state)
    }
}

impl Guard {
    const fn new() -> Self {
        Self {
            deadline: Cell::new(None),
            most_cpu: Cell::new(None),
            ticks: Cell::new(0),
        }
    }

    /// Once it is over, at every look: a script that catches the error gets the next one at once.
    fn is_over(&self) -> bool {
        let ticks = self.ticks.get().wrapping_add(1);
        if !ticks.is_multiple_of(TICKS_PER_LOOK) {
            self.ticks.set(ticks);
            return false;
        }
        let over = is_past(&self.deadline, monotonic_ns) && is_past(&self.most_cpu, thread_cpu_ns);
        // One that is over stays just before its next look.
        self.ticks
            .set(if over { ticks.wrapping_sub(1) } else { ticks });
        over
    }
}

/// Whether the time has come that the first call has set.
fn is_past(end: &Cell<Option<u64>>, clock: fn() -> u64) -> bool {
    let now = clock();
    let at = end.get().unwrap_or(now + LONGEST_COMPUTING_NS);
    end.set(Some(at));
    now > at
}
