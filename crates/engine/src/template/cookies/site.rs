//! The host to which cookies belong.

use std::net::IpAddr;

/// Where a client's requests go.
#[derive(Debug, Clone)]
pub struct Site {
    /// Lower case, without a port.
    pub host: String,
    /// Whether it may set and gets cookies that are `Secure`.
    pub secure: bool,
}

impl Site {
    /// A host in a URL. Loopback is as good as TLS, as in browsers (W3C Secure Contexts section 3.1).
    pub fn new(host: &str, tls: bool) -> Self {
        let host = host.trim_matches(['[', ']']).to_ascii_lowercase();
        let secure = tls || is_loopback(&host);
        Self { host, secure }
    }
}

fn is_loopback(host: &str) -> bool {
    let name = host.strip_suffix('.').unwrap_or(host);
    let address = name.parse::<IpAddr>();
    address.is_ok_and(|address| address.to_canonical().is_loopback())
        || name == "localhost"
        || name.ends_with(".localhost")
}
