//! macOS: its scheduler takes neither cores nor precedence from a thread without rights. All of it is refused.

use std::io;

use crate::spec::error::StartError;

/// The cores on which a thread may run: all of them.
#[derive(Clone, Copy)]
pub struct Cores;

impl Cores {
    pub fn of_this_thread() -> io::Result<Self> {
        Ok(Self)
    }

    pub fn pin(self) -> io::Result<()> {
        Ok(())
    }
}

pub fn pin(core: usize) -> Result<(), StartError> {
    Err(StartError::Core {
        core,
        error: io::ErrorKind::Unsupported.into(),
        allowed: "none by number".to_owned(),
    })
}

pub fn use_real_time_priority() -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}
