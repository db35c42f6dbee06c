//! Where to connect to. Names are resolved once before the run, or for every connection.

use std::fmt;
use std::net::{IpAddr, SocketAddr, ToSocketAddrs};
use std::path::PathBuf;

use crate::spec::error::StartError;
use crate::spec::{Http2Spec, TargetSpec};
use crate::wire::tls::Tls;

#[derive(Debug)]
pub struct Target {
    pub name: Option<Name>,
    /// At least one, unless the name is resolved for every connection.
    pub addresses: Vec<Address>,
    pub sources: Vec<IpAddr>,
    pub tls: Option<Tls>,
    pub http2: Option<Http2Spec>,
    pub nodelay: bool,
    /// The lowest port that the kernel assigns to connections by itself.
    pub lowest_ephemeral_port: u16,
}

/// A host name. Any of its addresses will do: one that does not accept a connection is passed over for a while.
#[derive(Debug, Clone)]
pub struct Name {
    pub host: String,
    pub port: u16,
    pub resolve_each: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Address {
    Tcp(SocketAddr),
    Unix(PathBuf),
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp(address) => write!(f, "{address}"),
            Self::Unix(path) => write!(f, "unix:{}", path.display()),
        }
    }
}

impl Target {
    /// Whether clients share connections (HTTP/2).
    pub fn shares_connections(&self) -> bool {
        self.http2.is_some_and(|http2| http2.connections.is_some())
    }

    pub fn new(workload: &str, spec: &TargetSpec) -> Result<Self, StartError> {
        let (name, addresses) = if spec.connect_to.is_empty() {
            let name = Name {
                host: spec.host.clone(),
                port: spec.port,
                resolve_each: spec.resolve_each,
            };
            let addresses = resolve(&name).map_err(|error| StartError::Resolve {
                host: spec.host.clone(),
                error: error.to_string(),
            })?;
            (Some(name), addresses)
        } else {
            let addresses = spec
                .connect_to
                .iter()
                .map(|text| parse(text).ok_or_else(|| not_an_address(workload, text)));
            (None, addresses.collect::<Result<_, _>>()?)
        };
        Self::at(workload, spec, name, addresses)
    }

    /// A target whose name is resolved for every connection, and not yet now.
    pub fn resolved_later(workload: &str, spec: &TargetSpec) -> Result<Self, StartError> {
        if let Ok(ip) = spec.host.parse::<IpAddr>() {
            let address = Address::Tcp((ip, spec.port).into());
            return Self::at(workload, spec, None, vec![address]);
        }
        let name = Name {
            host: spec.host.clone(),
            port: spec.port,
            resolve_each: true,
        };
        Self::at(workload, spec, Some(name), Vec::new())
    }

    fn at(
        workload: &str,
        spec: &TargetSpec,
        name: Option<Name>,
        addresses: Vec<Address>,
    ) -> Result<Self, StartError> {
        let tls = spec
            .tls
            .as_ref()
            .map(|tls| Tls::new(workload, &spec.host, tls, spec.http2.is_some()))
            .transpose()?;
        Ok(Self {
            lowest_ephemeral_port: lowest_ephemeral_port(),
            name,
            addresses,
            sources: spec.source_addresses.clone(),
            tls,
            http2: spec.http2,
            nodelay: spec.nodelay,
        })
    }
}

/// Asks the system's resolver; blocks.
pub fn resolve(name: &Name) -> std::io::Result<Vec<Address>> {
    let host = name.host.trim_start_matches('[').trim_end_matches(']');
    let addresses: Vec<Address> = (host, name.port)
        .to_socket_addrs()?
        .map(Address::Tcp)
        .collect();
    if addresses.is_empty() {
        return Err(std::io::Error::other("the name has no address"));
    }
    Ok(addresses)
}

fn lowest_ephemeral_port() -> u16 {
    let range =
        std::fs::read_to_string("/proc/sys/net/ipv4/ip_local_port_range").unwrap_or_default();
    range
        .split_whitespace()
        .next()
        .and_then(|low| low.parse().ok())
        .unwrap_or(0)
}

fn parse(text: &str) -> Option<Address> {
    match text.strip_prefix("unix:") {
        Some(path) if !path.is_empty() => Some(Address::Unix(PathBuf::from(path))),
        Some(_) => None,
        None => text.parse().ok().map(Address::Tcp),
    }
}

fn not_an_address(workload: &str, text: &str) -> StartError {
    StartError::invalid(
        workload,
        "target.connect_to",
        format!("{text:?} is neither IP:PORT, [IPv6]:PORT nor unix:/path"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read() {
        assert_eq!(
            parse("127.0.0.1:80"),
            Some(Address::Tcp(([127, 0, 0, 1], 80).into()))
        );
        assert!(matches!(parse("[::1]:80"), Some(Address::Tcp(address)) if address.is_ipv6()));
        assert_eq!(parse("unix:/run/x"), Some(Address::Unix("/run/x".into())));
        for bad in ["", "localhost:80", "127.0.0.1", "unix:"] {
            assert_eq!(parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn bracketed_ipv6_hosts_need_no_resolver() {
        let name = Name {
            host: "[::1]".into(),
            port: 80,
            resolve_each: false,
        };
        assert_eq!(
            resolve(&name).unwrap(),
            [Address::Tcp("[::1]:80".parse().unwrap())]
        );
    }
}
