//! TLS by rustls, prepared once before the run.

pub mod certificate;
pub mod messages;
pub mod pem;
pub mod trust;

use std::sync::Arc;

use rustls::ClientConfig;
use rustls::client::Resumption;
use rustls::crypto::{CryptoProvider, ring};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::sign::{CertifiedKey, SingleCertAndKey};
use rustls::version::{TLS12, TLS13};
use rustls::{Error, InconsistentKeys};
use tokio_rustls::TlsConnector;

use crate::net::tls::pem::{FieldResult, certificates_of};
use crate::protocol::url::bare_host;
use crate::spec::TlsSpec;
use crate::spec::error::StartError;
pub use messages::describe;

pub struct Tls {
    config: Arc<ClientConfig>,
    /// Whether each client resumes its own sessions; otherwise every handshake is a full one.
    resume: bool,
    /// The server's name, for SNI and verification.
    pub name: ServerName<'static>,
}

/// What one client keeps of its TLS sessions from one connection to the next.
#[derive(Default)]
pub struct Sessions(Option<Arc<ClientConfig>>);

/// A client has one server, for which rustls keeps several tickets.
const SESSIONS_PER_CLIENT: usize = 1;

impl std::fmt::Debug for Tls {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Tls({:?})", self.name)
    }
}

impl Tls {
    pub fn new(
        workload: &str,
        host: &str,
        spec: &TlsSpec,
        http2: bool,
    ) -> Result<Self, StartError> {
        let config = configure(spec, http2).map_err(|(field, problem)| {
            StartError::invalid(workload, &format!("target.tls.{field}"), problem)
        })?;
        let name = spec.server_name.as_deref().unwrap_or(host);
        let name = ServerName::try_from(bare_host(name).to_owned()).map_err(|error| {
            StartError::invalid(
                workload,
                "target.tls.server_name",
                format!("{name:?}: {error}"),
            )
        })?;
        Ok(Self {
            config: Arc::new(config),
            resume: spec.resume,
            name,
        })
    }

    /// The connector for the next connection of the client that keeps these `sessions`.
    pub fn connector(&self, sessions: &mut Sessions) -> TlsConnector {
        if !self.resume {
            return TlsConnector::from(self.config.clone());
        }
        let config = sessions.0.get_or_insert_with(|| {
            let mut config = ClientConfig::clone(&self.config);
            config.resumption = Resumption::in_memory_sessions(SESSIONS_PER_CLIENT);
            Arc::new(config)
        });
        TlsConnector::from(config.clone())
    }
}

fn configure(spec: &TlsSpec, http2: bool) -> FieldResult<ClientConfig> {
    let provider = Arc::new(ring::default_provider());
    let versions: &[_] = match spec.version.as_deref() {
        None => &[&TLS13, &TLS12],
        Some("1.2") => &[&TLS12],
        Some("1.3") => &[&TLS13],
        Some(other) => {
            return Err((
                "version",
                format!("{other:?} is neither \"1.2\" nor \"1.3\""),
            ));
        }
    };
    let builder = ClientConfig::builder_with_provider(provider.clone())
        .with_protocol_versions(versions)
        .map_err(|error| ("version", error.to_string()))?
        .dangerous()
        .with_custom_certificate_verifier(trust::verifier(spec, provider.clone())?);
    let mut config = match (&spec.client_cert_pem, &spec.client_key_pem) {
        (None, None) => builder.with_no_client_auth(),
        (Some(certificates), Some(key)) => {
            let key = PrivateKeyDer::from_pem_slice(key.as_bytes()).map_err(|error| {
                (
                    "client_key_pem",
                    format!("no private key in PEM form: {error}"),
                )
            })?;
            let certificates = certificates_of("client_cert_pem", certificates)?;
            let own = certified(certificates, key, &provider)?;
            builder.with_client_cert_resolver(Arc::new(SingleCertAndKey::from(own)))
        }
        (Some(_), None) => {
            return Err((
                "client_key_pem",
                "a client certificate needs its private key".into(),
            ));
        }
        (None, Some(_)) => {
            return Err((
                "client_cert_pem",
                "a private key needs its certificate".into(),
            ));
        }
    };
    config.resumption = Resumption::disabled();
    config.alpn_protocols = protocols(spec, http2)?;
    Ok(config)
}

/// A client's certificate with its private key. Whether the server can use the certificate is the server's affair: one of
/// X.509 version 1, which the library cannot read, is sent as it is.
fn certified(
    certificates: Vec<CertificateDer<'static>>,
    key: PrivateKeyDer<'static>,
    provider: &CryptoProvider,
) -> FieldResult<CertifiedKey> {
    let unusable = certificate::unusable_private(&key);
    let loaded = provider.key_provider.load_private_key(key);
    let own = loaded.map_err(|error| {
        let why = match unusable {
            Some(unusable) => unusable.to_string(),
            None => format!("a key that cannot be read ({error})"),
        };
        let why =
            format!("{why}: jostle signs with RSA of 2048 to 4096 bits, P-256, P-384 and Ed25519");
        ("client_key_pem", why)
    })?;
    let own = CertifiedKey::new(certificates, own);
    match own.keys_match() {
        Err(Error::InconsistentKeys(InconsistentKeys::KeyMismatch)) => Err((
            "client_cert_pem",
            "the certificate belongs to another private key".into(),
        )),
        _ => Ok(own),
    }
}

/// What is offered by ALPN. HTTP/1.1 is offered besides HTTP/2, so that a server that does not speak HTTP/2 says so.
fn protocols(spec: &TlsSpec, http2: bool) -> FieldResult<Vec<Vec<u8>>> {
    if spec.alpn.is_empty() && http2 {
        return Ok(vec![b"h2".to_vec(), b"http/1.1".to_vec()]);
    }
    if http2 && !spec.alpn.iter().any(|name| name == "h2") {
        let problem =
            "it does not offer \"h2\", and the load speaks HTTP/2: add it, or leave alpn out";
        return Err(("alpn", problem.into()));
    }
    let names = spec.alpn.iter();
    Ok(names.map(|name| name.clone().into_bytes()).collect())
}
