//! Requests as they are sent: prepared once, with placeholders that are filled in for each.
pub mod cookies;
pub mod escape;
pub mod request;
pub mod scripted_request;
pub mod slots;
pub mod values;
