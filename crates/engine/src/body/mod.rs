//! What is made of a response while it streams by: checks, captures, events; nothing of it is kept without a limit.
pub mod capture;
pub mod coding;
pub mod event_meaning;
pub mod events;
pub mod tap;
pub mod verify;
