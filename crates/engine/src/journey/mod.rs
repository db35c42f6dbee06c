//! What a client does: which step comes next.
//!
//! A journey compiles to a flat [`program`]; each client has its position in that program and the values that it has
//! collected on the way ([`state`]). Where steps are not enough, a [`script`](crate::script) decides what comes next.
//!
//! ```text
//!  feed ─► slots ─► values ─► request
//!            ▲                   │
//!         capture ◄── response ◄───┘     (json, window: as the body streams by)
//! ```
pub mod feed;
pub mod program;
pub mod state;
