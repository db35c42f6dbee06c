//! Makes the service of echo.proto, and its description for reflection; its compiler is a crate, so that no protoc is needed.

use std::{env, fs, path::Path};

use prost::Message;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let files = protox::compile(["echo.proto"], ["."])?;
    fs::write(Path::new(&env::var("OUT_DIR")?).join("echo.bin"), files.encode_to_vec())?;
    tonic_prost_build::configure()
        .build_client(false)
        .build_transport(false)
        .compile_fds(files)?;
    Ok(())
}
