//! Makes the service of echo.proto; its compiler is a crate, so that no protoc is needed.

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let files = protox::compile(["echo.proto"], ["."])?;
    tonic_prost_build::configure()
        .build_client(false)
        .build_transport(false)
        .compile_fds(files)?;
    Ok(())
}
