//! The invariants of the fuzz targets, on the inputs that fuzzing found worth keeping (`make fuzz` looks for more).

#[path = "../../fuzz/invariants"]
mod invariants {
    pub mod frames;
    pub mod http2;
    pub mod input;
    pub mod response;
    pub mod verify;
}

use std::path::Path;

/// Checks every input of a target's corpus; a failure names the file.
fn check_all(target: &str, check: fn(&[u8])) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("fuzz/corpus")
        .join(target);
    let mut count = 0;
    for entry in folder.read_dir().unwrap() {
        let path = entry.unwrap().path();
        let data = std::fs::read(&path).unwrap();
        let checked = std::panic::catch_unwind(|| check(&data));
        assert!(checked.is_ok(), "{}", path.display());
        count += 1;
    }
    assert!(count > 20, "{count} inputs in {}", folder.display());
}

#[test]
fn responses_are_decoded_alike_however_they_are_cut() {
    check_all("response", invariants::response::check);
}

#[test]
fn frames_carry_the_same_messages_however_they_are_cut() {
    check_all("frames", invariants::frames::check);
}

#[test]
fn http2_is_understood_alike_however_it_is_cut() {
    check_all("http2", invariants::http2::check);
}

#[test]
fn bodies_are_judged_alike_however_they_are_cut() {
    check_all("verify", invariants::verify::check);
}
