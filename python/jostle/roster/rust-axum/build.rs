//! Tells the server which compiler it was built with.

use std::{env, process::Command};

fn main() {
    let rustc = env::var_os("RUSTC").expect("cargo sets RUSTC");
    let said = Command::new(rustc)
        .arg("--version")
        .output()
        .expect("rustc runs");
    let version = String::from_utf8(said.stdout).expect("rustc says UTF-8");
    println!(
        "cargo::rustc-env=RUSTC_VERSION={}",
        version.split(' ').nth(1).unwrap_or("unknown")
    );
    println!("cargo::rerun-if-changed=build.rs");
}
