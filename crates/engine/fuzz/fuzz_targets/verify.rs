#![no_main]

#[path = "../invariants"]
mod invariants {
    pub mod input;
    pub mod verify;
}

libfuzzer_sys::fuzz_target!(|data: &[u8]| invariants::verify::check(data));
