#![no_main]

#[path = "../invariants"]
mod invariants {
    pub mod frames;
    pub mod input;
}

libfuzzer_sys::fuzz_target!(|data: &[u8]| invariants::frames::check(data));
