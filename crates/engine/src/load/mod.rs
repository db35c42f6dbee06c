//! Load models: who sends the next request, and when.
pub mod closed;
pub mod open;
