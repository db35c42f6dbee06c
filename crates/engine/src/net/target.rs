//! Where to connect to. Names are resolved once before the run, or for every connection.

use std::fmt;
use std::net::{IpAddr, Ipv6Addr, SocketAddr, ToSocketAddrs};
use std::path::PathBuf;

use crate::machine::sockets::lowest_ephemeral_port;
use crate::net::tls::Tls;
use crate::spec::error::StartError;
use crate::spec::{Http2Spec, TargetSpec};

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
    /// A path that begins with NUL is a name of the abstract namespace.
    Unix(PathBuf),
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp(address) => write!(f, "{address}"),
            Self::Unix(path) => write!(f, "unix:{}", path.display().to_string().replace('\0', "@")),
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
    let resolved = (host, name.port).to_socket_addrs();
    let resolved = match host.split_once('%') {
        Some((_, zone)) => resolved.map_err(|_| {
            let why =
                format!("it is not reached through a network interface {zone} of this machine");
            std::io::Error::other(why)
        }),
        None => resolved,
    };
    let addresses: Vec<Address> = resolved?.map(Address::Tcp).collect();
    if addresses.is_empty() {
        return Err(std::io::Error::other("the name has no address"));
    }
    Ok(addresses)
}

fn parse(text: &str) -> Option<Address> {
    match text.strip_prefix("unix:") {
        Some(path) if !path.is_empty() => Some(Address::Unix(match path.strip_prefix('@') {
            Some(name) => PathBuf::from(format!("\0{name}")),
            None => PathBuf::from(path),
        })),
        Some(_) => None,
        None => text.parse().ok().map(Address::Tcp).or_else(|| scoped(text)),
    }
}

/// An address with the name of a network interface, `[fe80::1%eth0]:80`, which only the system's resolver knows.
fn scoped(text: &str) -> Option<Address> {
    let (host, port) = text.strip_prefix('[')?.split_once("]:")?;
    host.split_once('%')?.0.parse::<Ipv6Addr>().ok()?;
    let name = Name {
        host: host.to_owned(),
        port: port.parse().ok()?,
        resolve_each: false,
    };
    resolve(&name).ok()?.pop()
}

fn not_an_address(workload: &str, text: &str) -> StartError {
    StartError::invalid(
        workload,
        "target.connect_to",
        format!(
            "{text:?} is neither IP:PORT, [IPv6]:PORT, [IPv6%INTERFACE]:PORT with an interface of this machine, \
             unix:/path nor unix:@name"
        ),
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
        let abstract_name = parse("unix:@app").unwrap();
        assert_eq!(abstract_name, Address::Unix("\0app".into()));
        assert_eq!(abstract_name.to_string(), "unix:@app");
        let Some(Address::Tcp(SocketAddr::V6(address))) = parse("[fe80::1%lo]:80") else {
            panic!("the loopback interface is always there");
        };
        assert!(address.scope_id() > 0);
        for bad in [
            "[fe80::1%none]:80",
            "[x%lo]:80",
            "",
            "localhost:80",
            "127.0.0.1",
            "unix:",
        ] {
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
