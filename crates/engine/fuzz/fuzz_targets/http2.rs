#![no_main]

#[path = "../invariants"]
mod invariants {
    pub mod http2;
    pub mod input;
}

libfuzzer_sys::fuzz_target!(|data: &[u8]| invariants::http2::check(data));
