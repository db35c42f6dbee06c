//! `http.get(…)` and its siblings: a script's call becomes a request, and its client waits for the answer.

#![expect(
    unsafe_code,
    reason = "what a request is made of is read where it lies on the stack of its client's coroutine"
)]

use std::cell::RefCell;
use std::ffi::{c_int, c_void};
use std::rc::Rc;

use mlua::{Function, Lua, ffi, lua_State};

use crate::script::reply::Reply;
use crate::script::source::Script;
use crate::script::stack::{raise, text, text_or_number, type_name};
use crate::script::{answer, json};
use crate::template::asked::{Around, Asked};
use crate::template::escape::{Place, escape};

const JSON: &str = "application/json";
const FORM: &str = "application/x-www-form-urlencoded";

/// The position of the path among the arguments; the options follow it.
const PATH: c_int = 3;
/// The most options that a request can have: headers, json, form and body.
const OPTIONS: usize = 4;
const NO_NUMBER: &str = "a request stands in the script as http.get(…), so that it is known before the run, and is not \
                         made through another name";

/// What the running client and the engine hand each other.
pub struct Exchange {
    /// The script that runs; `None` while one is being loaded.
    pub script: RefCell<Option<Rc<Script>>>,
    /// The request that the client asks for, with its number.
    pub asked: RefCell<Option<(usize, Box<Flight>)>>,
    /// The request that has ended. The client continues with its answer, and its memory is reused for the next request.
    pub ended: RefCell<Option<Box<Flight>>>,
    /// The metatable that marks lists.
    list: *const c_void,
    /// Holds a JSON or form body until its length is known.
    document: RefCell<Vec<u8>>,
}

/// A request and its reply.
#[derive(Debug, Default)]
pub struct Flight {
    pub asked: Asked,
    pub reply: Reply,
}

impl Exchange {
    pub fn new(list: *const c_void) -> Rc<Self> {
        Rc::new(Self {
            script: RefCell::default(),
            asked: RefCell::default(),
            ended: RefCell::default(),
            list,
            document: RefCell::default(),
        })
    }
}

/// Creates the function behind every `http.get` of all scripts: `(number, shape, path, option, option …)`.
///
/// The number says which request it is, the shape is the first letter of each option; both are written into the script
/// before it runs ([`super::sites`]). The function must not be called after `exchange` has been dropped.
pub fn function(lua: &Lua, exchange: &Rc<Exchange>) -> mlua::Result<Function> {
    let exchange = Rc::as_ptr(exchange);
    // SAFETY: there is room for two values on the stack.
    unsafe {
        lua.exec_raw((), |state| {
            ffi::lua_pushlightuserdata(state, exchange.cast_mut().cast());
            ffi::lua_pushcclosurek(state, request, c"request".as_ptr(), 1, Some(answered));
        })
    }
}

/// # Safety
/// Must be called only in the function that [`function`] creates.
unsafe fn exchange<'a>(state: *mut lua_State) -> &'a Exchange {
    // SAFETY: whoever runs scripts keeps the exchange alive meanwhile.
    unsafe {
        let exchange = ffi::lua_tolightuserdata(state, ffi::lua_upvalueindex(1));
        &*exchange.cast::<Exchange>()
    }
}

/// Sleeps until there is an answer. The stack is emptied first, because this is where clients sleep, and whatever stays
/// on it costs memory for each of them.
unsafe extern "C-unwind" fn request(state: *mut lua_State) -> c_int {
    // SAFETY: a script has called this function. An error that is raised drops what is borrowed.
    unsafe {
        if let Err(problem) = ask(state, exchange(state)) {
            raise(state, &problem);
        }
        ffi::lua_settop(state, 0);
        ffi::lua_yield(state, 0)
    }
}

unsafe extern "C-unwind" fn answered(state: *mut lua_State, _: c_int) -> c_int {
    // SAFETY: the coroutine continues where `request` left it, with an empty stack.
    unsafe {
        let mut ended = exchange(state).ended.borrow_mut();
        let reply = ended
            .as_mut()
            .map(|flight| std::mem::take(&mut flight.reply));
        drop(ended);
        answer::push(state, &reply.unwrap_or_default());
    }
    1
}

/// # Safety
/// Must be called only in [`request`].
unsafe fn ask(state: *mut lua_State, exchange: &Exchange) -> Result<(), String> {
    let Some(script) = &*exchange.script.borrow() else {
        return Ok(());
    };
    // SAFETY: all arguments, whether given or not, stay on the stack until the request is written. A function has room
    // for 20 values, and a request has at most four options.
    unsafe {
        if ffi::lua_isyieldable(state) == 0 {
            return Err(
                "a request cannot be made inside a function that sorts, replaces or compares"
                    .into(),
            );
        }
        let shape = text(state, 2).filter(|shape| shape.len() <= OPTIONS);
        let Some(shape) = shape else {
            return Err(NO_NUMBER.into());
        };
        ffi::lua_settop(state, PATH + c_int::from(shape.len() as u8));
        let Some(path) = text(state, PATH) else {
            let kind = type_name(state, PATH);
            return Err(format!("the path of a request is a text, not {kind}"));
        };
        let number = ffi::lua_tonumber(state, 1) as usize;
        let Some(method) = script.methods.get(number) else {
            return Err(NO_NUMBER.into());
        };
        let around = Around {
            authority: &script.authority,
            authorization: script.authorization.as_deref(),
            method,
            cookies: script.cookies,
        };
        let mut flight = exchange.ended.take().unwrap_or_default();
        let asked = &mut flight.asked;
        asked.begin(path).map_err(|error| error.to_string())?;
        let options = Options::read(state, shape)?;
        options.write(state, exchange, asked, around)?;
        exchange.asked.replace(Some((number, flight)));
    }
    Ok(())
}

/// The options of a request, by their places on the stack.
#[derive(Default)]
struct Options {
    headers: Option<c_int>,
    json: Option<c_int>,
    form: Option<c_int>,
    body: Option<c_int>,
}

impl Options {
    /// # Safety
    /// The options must follow the path on the stack.
    unsafe fn read(state: *mut lua_State, shape: &[u8]) -> Result<Self, String> {
        let mut found = Self::default();
        for (place, letter) in (PATH + 1..).zip(shape) {
            // SAFETY: as the caller says.
            let kind = unsafe { ffi::lua_type(state, place) };
            match (letter, kind) {
                (_, ffi::LUA_TNIL) => {}
                (b'j', _) => found.json = Some(place),
                (b'f', _) => found.form = Some(place),
                (b'h', ffi::LUA_TTABLE) => found.headers = Some(place),
                (b'b', ffi::LUA_TSTRING) => found.body = Some(place),
                (b'h', _) => {
                    return Err("headers are a table: headers = {Authorization = token}".into());
                }
                (b'b', _) => return Err("body is a text; for a table write json = …".into()),
                _ => return Err(NO_NUMBER.into()),
            }
        }
        Ok(found)
    }

    /// # Safety
    /// The options must still be where they were found.
    unsafe fn write(
        &self,
        state: *mut lua_State,
        exchange: &Exchange,
        asked: &mut Asked,
        around: Around<'_>,
    ) -> Result<(), String> {
        let mut document = exchange.document.borrow_mut();
        document.clear();
        // SAFETY: as the caller says.
        unsafe {
            if let Some(place) = self.headers {
                headers(state, place, asked, around)?;
            }
            let kind = if let Some(place) = self.json {
                json::write(state, place, exchange.list, &mut document)?;
                Some(JSON)
            } else if let Some(place) = self.form {
                form(state, place, &mut document)?;
                Some(FORM)
            } else {
                None
            };
            if let Some(kind) = kind.filter(|_| !asked.has_type()) {
                asked
                    .header(b"Content-Type", kind.as_bytes(), around)
                    .map_err(|error| error.to_string())?;
            }
            let body = self.body.and_then(|place| text(state, place));
            asked.finish(kind.map(|_| &document[..]).or(body), around);
        }
        Ok(())
    }
}

/// # Safety
/// There must be a table at `place`, counted from the bottom of the stack.
unsafe fn headers(
    state: *mut lua_State,
    place: c_int,
    asked: &mut Asked,
    around: Around<'_>,
) -> Result<(), String> {
    // SAFETY: each pair is popped again, and only copies are converted.
    unsafe {
        let mut next = ffi::lua_rawiter(state, place, 0);
        while next >= 0 {
            let Some(name) = text(state, -2) else {
                let kind = type_name(state, -2);
                return Err(format!("the name of a header is a text, not {kind}"));
            };
            let Some(value) = text_or_number(state, -1) else {
                return Err(format!(
                    "the header {} is neither a text nor a number",
                    String::from_utf8_lossy(name)
                ));
            };
            asked
                .header(name, value, around)
                .map_err(|error| error.to_string())?;
            ffi::lua_pop(state, 2);
            next = ffi::lua_rawiter(state, place, next);
        }
    }
    Ok(())
}

/// Writes a table as a form, its encoded pairs in sorted order.
///
/// # Safety
/// There must be a value at `place`, counted from the bottom of the stack.
unsafe fn form(state: *mut lua_State, place: c_int, out: &mut Vec<u8>) -> Result<(), String> {
    let mut pairs = Vec::new();
    // SAFETY: each pair is popped again, and only copies are converted.
    unsafe {
        if ffi::lua_type(state, place) != ffi::LUA_TTABLE {
            return Err("form is a table: form = {user = \"ann\"}".into());
        }
        let mut next = ffi::lua_rawiter(state, place, 0);
        while next >= 0 {
            let part = |place| {
                text_or_number(state, place).ok_or_else(|| {
                    let kind = type_name(state, place);
                    format!("a form has texts and numbers, and not a {kind}")
                })
            };
            let (key, value) = (part(-2)?, part(-1)?);
            let mut pair = Vec::new();
            escape(key, Place::Url, &mut pair);
            pair.push(b'=');
            escape(value, Place::Url, &mut pair);
            pairs.push(pair);
            ffi::lua_pop(state, 2);
            next = ffi::lua_rawiter(state, place, next);
        }
    }
    pairs.sort();
    out.extend_from_slice(&pairs.join(&b'&'));
    Ok(())
}
