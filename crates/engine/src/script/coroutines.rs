//! The coroutines of all clients of one VM.

#![expect(
    unsafe_code,
    reason = "a coroutine goes on without a reference and a protection for what it is given and what it gives: 36 ns for \
              each request instead of 138"
)]

use std::cell::RefCell;
use std::rc::Rc;

use mlua::{Error, Function, LightUserData, Lua, Table, Thread, Value, ffi, lua_State};

use crate::script::request::Mailbox;

/// How many clients share a table. The collector traverses a table in one go, and clients that are due have to wait
/// meanwhile.
const IN_A_TABLE: u32 = 64;
/// The places of a client in its table: its coroutine, and the values it keeps.
const PLACES: u32 = 2;

pub struct Coroutines {
    tables: RefCell<Vec<Table>>,
    free: RefCell<Vec<u32>>,
    /// The function that each coroutine runs: all journeys of its client, one after another.
    drive: Function,
    pub mailbox: Rc<Mailbox>,
    // Last, so that it is dropped after everything that refers to it.
    lua: Lua,
}

/// The coroutine of one client.
pub struct Coroutine {
    all: Rc<Coroutines>,
    state: *mut lua_State,
    number: u32,
}

/// What a coroutine yields when it waits: nothing, or two numbers.
pub type Yielded = Option<(f64, f64)>;

impl Coroutines {
    pub fn new(lua: &Lua, drive: Function, mailbox: Rc<Mailbox>) -> Rc<Self> {
        Rc::new(Self {
            tables: RefCell::default(),
            free: RefCell::default(),
            drive,
            mailbox,
            lua: lua.clone(),
        })
    }

    /// Creates a coroutine that waits for its first journey. `client` creates the values that its client keeps, if any
    /// script uses them.
    pub fn create(
        self: &Rc<Self>,
        client: Option<&Function>,
        client_number: u64,
    ) -> mlua::Result<Coroutine> {
        let number = self.number()?;
        let (table, place) = self.place(number);
        // All in one protected call, as each call leaves garbage, which adds up over ten thousand clients.
        // SAFETY: what is pushed fits into the stack that is requested. The coroutine has room for its function and one
        // value.
        let state: LightUserData = unsafe {
            self.lua.exec_raw((&self.drive, client, table), |state| {
                ffi::luaL_checkstack(state, 4, std::ptr::null());
                if ffi::lua_isnil(state, 2) == 0 {
                    ffi::lua_pushvalue(state, 2);
                    ffi::lua_pushnumber(state, client_number as f64);
                    ffi::lua_call(state, 1, 1);
                    ffi::lua_replace(state, 2);
                }
                let coroutine = ffi::lua_newthread(state);
                ffi::lua_rawseti(state, 3, place);
                ffi::lua_xpush(state, coroutine, 1);
                ffi::lua_xpush(state, coroutine, 2);
                ffi::lua_pushvalue(state, 2);
                ffi::lua_rawseti(state, 3, place + 1);
                ffi::lua_settop(state, 0);
                ffi::lua_pushlightuserdata(state, coroutine.cast());
            })
        }
        .inspect_err(|_| self.free.borrow_mut().push(number))?;
        let coroutine = Coroutine {
            all: self.clone(),
            state: state.0.cast(),
            number,
        };
        coroutine.go_on(1)?;
        Ok(coroutine)
    }

    fn number(&self) -> mlua::Result<u32> {
        let mut free = self.free.borrow_mut();
        if free.is_empty() {
            let table = self
                .lua
                .create_table_with_capacity((PLACES * IN_A_TABLE) as usize, 0)?;
            let mut tables = self.tables.borrow_mut();
            let first = tables.len() as u32 * IN_A_TABLE;
            tables.push(table);
            free.extend((first..first + IN_A_TABLE).rev());
        }
        Ok(free.pop().expect("there is room for more"))
    }

    fn place(&self, number: u32) -> (Table, i64) {
        let table = self.tables.borrow()[(number / IN_A_TABLE) as usize].clone();
        (table, i64::from(1 + PLACES * (number % IN_A_TABLE)))
    }
}

impl Coroutine {
    /// Resumes it with up to two numbers. The error has a traceback.
    pub fn resume(&self, with: &[f64]) -> mlua::Result<Yielded> {
        let mut arguments = 0;
        for number in with {
            arguments += 1;
            // SAFETY: the coroutine lives as long as it has its place, and it is waiting. Its stack above the waiting
            // function is empty, with room for more than two numbers, which allocate nothing.
            unsafe { ffi::lua_pushnumber(self.state, *number) };
        }
        self.go_on(arguments)
    }

    /// Resumes it with the topmost `arguments` values of its stack.
    fn go_on(&self, arguments: i32) -> mlua::Result<Yielded> {
        // No Lua function runs below it whose call depth would have to be added to that of the coroutine.
        let below = std::ptr::null_mut();
        // SAFETY: the coroutine lives as long as it has its place, and it is waiting.
        let status = unsafe { ffi::lua_resume_(self.state, below, arguments) };
        match status {
            ffi::LUA_YIELD => {
                // SAFETY: what it has yielded is on its stack, which is then emptied.
                let yielded = unsafe {
                    let number = |place| ffi::lua_tonumber(self.state, place);
                    let any = ffi::lua_gettop(self.state) > 0;
                    let yielded = any.then(|| (number(1), number(2)));
                    ffi::lua_settop(self.state, 0);
                    yielded
                };
                Ok(yielded)
            }
            ffi::LUA_ERRMEM => Err(Error::MemoryError("not enough memory".into())),
            _ => Err(self.error().unwrap_or_else(|error| error)),
        }
    }

    /// The error with which it has failed.
    fn error(&self) -> mlua::Result<Error> {
        // SAFETY: the error is on top of the coroutine's stack, which is otherwise left as it is for the traceback.
        // Errors of the engine's own functions are userdata, and need no traceback.
        let error: Value = unsafe {
            self.all.lua.exec_raw((), |state| {
                ffi::luaL_checkstack(state, 4, std::ptr::null());
                ffi::lua_xpush(self.state, state, -1);
                if ffi::lua_type(state, -1) != ffi::LUA_TUSERDATA {
                    let text = ffi::luaL_tolstring(state, -1, std::ptr::null_mut());
                    ffi::luaL_traceback(state, self.state, text, 0);
                    ffi::lua_replace(state, 1);
                    ffi::lua_settop(state, 1);
                }
            })?
        };
        Ok(match error {
            Value::Error(error) => *error,
            other => Error::RuntimeError(other.to_string()?),
        })
    }

    /// Makes it wait for a journey again, wherever it was.
    pub fn reset(&self) -> mlua::Result<()> {
        let (table, place) = self.all.place(self.number);
        let thread: Thread = table.raw_get(place)?;
        thread.reset(self.all.drive.clone())?;
        thread.resume(self.client()?)
    }

    /// The values that its client keeps.
    pub fn client(&self) -> mlua::Result<Option<Table>> {
        let (table, place) = self.all.place(self.number);
        table.raw_get(place + 1)
    }
}

impl Drop for Coroutine {
    fn drop(&mut self) {
        let (table, place) = self.all.place(self.number);
        // The places exist already, so setting them allocates nothing and cannot fail.
        let _ = table.raw_set(place, false);
        let _ = table.raw_set(place + 1, false);
        self.all.free.borrow_mut().push(self.number);
    }
}

impl std::fmt::Debug for Coroutine {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "coroutine {}", self.number)
    }
}
