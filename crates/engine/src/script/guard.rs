//! Ends a script that computes for too long.

#![expect(
    unsafe_code,
    reason = "the language calls this at every jump, call and return of a script, and a safe callback would take twice as \
              long: 24 ns instead of 12, which is longer than what most of them do"
)]

use std::cell::Cell;
use std::ffi::c_int;

use mlua::{Lua, ffi, lua_State};

use crate::machine::clock::{monotonic_ns, thread_cpu_ns};
use crate::script::collector;

/// How long a script may compute between two operations; it is ended before it has computed for twice as long.
const MAX_COMPUTING_NS: u64 = 100_000_000;
const TOO_LONG: &[u8] = b"it computed for more than 100 ms without a request or a pause";
/// How many jumps, calls and returns pass from one look at the clock to the next.
const TICKS_PER_LOOK: u32 = 64;

thread_local! {
    /// The guard of the script that this thread is running.
    static GUARD: Guard = const { Guard::new() };
}

struct Guard {
    /// The end of its time by the clock, set at the first look: most scripts reach a request before that.
    deadline: Cell<Option<u64>>,
    /// The end of its time by the thread's CPU time, set once the deadline has passed: a script is not to blame for a
    /// stall of the machine.
    cpu_deadline: Cell<Option<u64>>,
    ticks: Cell<u32>,
}

/// Installs the guard in a VM: its scripts end when they compute for too long, and its collector is paced.
pub fn watch(lua: &Lua) {
    let state = lua.current_thread().state();
    // SAFETY: the state is that of a live VM, whose callbacks live as long as it does. Nothing else sets this one.
    unsafe {
        (*ffi::lua_callbacks(state)).interrupt = Some(look);
    }
}

/// Gives whatever runs next on this thread its full time.
pub fn begin() {
    GUARD.with(|guard| {
        guard.ticks.set(0);
        guard.cpu_deadline.set(None);
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
    // SAFETY: a script is running, and may fail here. Room for two values is requested, and the error unwinds through
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
            cpu_deadline: Cell::new(None),
            ticks: Cell::new(0),
        }
    }

    /// Whether the script's time is over. Once it is, every call says so: a script that catches the error gets the next
    /// one at once.
    fn is_over(&self) -> bool {
        let ticks = self.ticks.get().wrapping_add(1);
        if !ticks.is_multiple_of(TICKS_PER_LOOK) {
            self.ticks.set(ticks);
            return false;
        }
        let over =
            is_past(&self.deadline, monotonic_ns) && is_past(&self.cpu_deadline, thread_cpu_ns);
        // Once the time is over, the next tick looks again.
        self.ticks
            .set(if over { ticks.wrapping_sub(1) } else { ticks });
        over
    }
}

/// Whether `end` has passed; the first call sets it to `MAX_COMPUTING_NS` from now.
fn is_past(end: &Cell<Option<u64>>, clock: fn() -> u64) -> bool {
    let now = clock();
    let at = end.get().unwrap_or(now + MAX_COMPUTING_NS);
    end.set(Some(at));
    now > at
}
