//! `http.get(…)` and its siblings: a script's call becomes a request, and its client waits for the response.

#![expect(
    unsafe_code,
    reason = "what a request is made of is read where it lies on the stack of its client's coroutine: 26 ns for two texts \
              instead of 153; and a safe function cannot yield"
)]

use std::cell::RefCell;
use std::ffi::{c_int, c_void};
use std::rc::Rc;

use mlua::{Function, Lua, ffi, lua_State};

use crate::script::reply::Reply;
use crate::script::source::Script;
use crate::script::stack::{raise, text, text_or_number, type_name};
use crate::script::{json, response};
use crate::template::escape::{EscapeContext, escape};
use crate::template::scripted_request::{RequestDefaults, ScriptedRequest};

const JSON: &str = "application/json";
const FORM: &str = "application/x-www-form-urlencoded";

/// The position of the path among the arguments; the options follow it.
const PATH: c_int = 3;
/// The most options that a request can have: headers, json, form and body.
const OPTIONS: usize = 4;
const NO_NUMBER: &str = "a request stands in the script as http.get(…), so that it is known before the run, and is not \
                         made through another name";

/// What the running client and the engine hand each other.
pub struct Mailbox {
    /// The script that runs; `None` while one is being loaded.
    pub script: RefCell<Option<Rc<Script>>>,
    /// The request that the client asks for, with its number.
    pub scripted: RefCell<Option<(usize, Box<Flight>)>>,
    /// The request that has ended. The client continues with its response, and its memory is reused for the next
    /// request.
    pub ended: RefCell<Option<Box<Flight>>>,
    /// The metatable that marks lists.
    list: *const c_void,
    /// Holds a JSON or form body until its length is known.
    document: RefCell<Vec<u8>>,
}

/// A request and its reply.
#[derive(Debug, Default)]
pub struct Flight {
    pub scripted: ScriptedRequest,
    pub reply: Reply,
}

impl Mailbox {
    pub fn new(list: *const c_void) -> Rc<Self> {
        Rc::new(Self {
            script: RefCell::default(),
            scripted: RefCell::default(),
            ended: RefCell::default(),
            list,
            document: RefCell::default(),
        })
    }
}

/// Creates the function behind every `http.get` of all scripts: `(number, shape, path, option, option …)`.
///
/// The number says which request it is, the shape is the first letter of each option; both are written into the script
/// before it runs ([`super::sites`]). The function must not be called after `mailbox` has been dropped.
pub fn function(lua: &Lua, mailbox: &Rc<Mailbox>) -> mlua::Result<Function> {
    let mailbox = Rc::as_ptr(mailbox);
    // SAFETY: there is room for two values on the stack.
    unsafe {
        lua.exec_raw((), |state| {
            ffi::lua_pushlightuserdata(state, mailbox.cast_mut().cast());
            ffi::lua_pushcclosurek(state, request, c"request".as_ptr(), 1, Some(answered));
        })
    }
}

/// # Safety
/// Must be called only in the function that [`function`] creates.
unsafe fn mailbox<'a>(state: *mut lua_State) -> &'a Mailbox {
    // SAFETY: whoever runs scripts keeps the exchange alive meanwhile.
    unsafe {
        let mailbox = ffi::lua_tolightuserdata(state, ffi::lua_upvalueindex(1));
        &*mailbox.cast::<Mailbox>()
    }
}

/// Sleeps until there is a response. The stack is emptied first, because this is where clients sleep, and whatever
/// stays on it costs memory for each of them.
unsafe extern "C-unwind" fn request(state: *mut lua_State) -> c_int {
    // SAFETY: a script has called this function. An error that is raised drops what is borrowed.
    unsafe {
        if let Err(problem) = ask(state, mailbox(state)) {
            raise(state, &problem);
        }
        ffi::lua_settop(state, 0);
        ffi::lua_yield(state, 0)
    }
}

unsafe extern "C-unwind" fn answered(state: *mut lua_State, _: c_int) -> c_int {
    // SAFETY: the coroutine continues where `request` left it, with an empty stack.
    unsafe {
        let mut ended = mailbox(state).ended.borrow_mut();
        let reply = ended
            .as_mut()
            .map(|flight| std::mem::take(&mut flight.reply));
        drop(ended);
        response::push(state, &reply.unwrap_or_default());
    }
    1
}

/// # Safety
/// Must be called only in [`request`].
unsafe fn ask(state: *mut lua_State, mailbox: &Mailbox) -> Result<(), String> {
    let Some(script) = &*mailbox.script.borrow() else {
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
        let defaults = RequestDefaults {
            authority: &script.authority,
            authorization: script.authorization.as_deref(),
            method,
            cookies: script.cookies,
        };
        let mut flight = mailbox.ended.take().unwrap_or_default();
        let scripted = &mut flight.scripted;
        scripted.begin(path).map_err(|error| error.to_string())?;
        let options = Options::read(state, shape)?;
        options.write(state, mailbox, scripted, defaults)?;
        mailbox.scripted.replace(Some((number, flight)));
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
        mailbox: &Mailbox,
        scripted: &mut ScriptedRequest,
        defaults: RequestDefaults<'_>,
    ) -> Result<(), String> {
        let mut document = mailbox.document.borrow_mut();
        document.clear();
        // SAFETY: as the caller says.
        unsafe {
            if let Some(place) = self.headers {
                headers(state, place, scripted, defaults)?;
            }
            let kind = if let Some(place) = self.json {
                json::write(state, place, mailbox.list, &mut document)?;
                Some(JSON)
            } else if let Some(place) = self.form {
                form(state, place, &mut document)?;
                Some(FORM)
            } else {
                None
            };
            if let Some(kind) = kind.filter(|_| !scripted.has_type()) {
                scripted
                    .header(b"Content-Type", kind.as_bytes(), defaults)
                    .map_err(|error| error.to_string())?;
            }
            let body = self.body.and_then(|place| text(state, place));
            scripted.finish(kind.map(|_| &document[..]).or(body), defaults);
        }
        Ok(())
    }
}

/// # Safety
/// There must be a table at `place`, counted from the bottom of the stack.
unsafe fn headers(
    state: *mut lua_State,
    place: c_int,
    scripted: &mut ScriptedRequest,
    defaults: RequestDefaults<'_>,
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
            scripted
                .header(name, value, defaults)
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
            escape(key, EscapeContext::Url, &mut pair);
            pair.push(b'=');
            escape(value, EscapeContext::Url, &mut pair);
            pairs.push(pair);
            ffi::lua_pop(state, 2);
            next = ffi::lua_rawiter(state, place, next);
        }
    }
    pairs.sort();
    out.extend_from_slice(&pairs.join(&b'&'));
    Ok(())
}
