//! Values in what streams by: JSON by its pointers, text by patterns. No more is kept than a value may have bytes.
pub mod html;
pub mod json;
pub mod missing;
pub mod window;
