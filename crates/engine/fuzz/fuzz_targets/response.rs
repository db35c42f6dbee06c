#![no_main]

#[path = "../invariants"]
mod invariants {
    pub mod input;
    pub mod response;
}

libfuzzer_sys::fuzz_target!(|data: &[u8]| invariants::response::check(data));
