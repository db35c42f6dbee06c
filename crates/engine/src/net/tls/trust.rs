//! Which certificates of servers are accepted.

use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{WebPkiServerVerifier, verify_server_name};
use rustls::crypto::{
    CryptoProvider, WebPkiSupportedAlgorithms, verify_tls12_signature, verify_tls13_signature,
};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{
    CertificateError, DigitallySignedStruct, Error, OtherError, RootCertStore, SignatureScheme,
};

use crate::net::tls::certificate::unusable;
use crate::net::tls::pem::{FieldResult, certificates_of};
use crate::spec::TlsSpec;

/// Verifies by the built-in authorities, or by the certificates in `ca_pem` instead of them; not at all if `insecure`.
pub fn verifier(
    spec: &TlsSpec,
    provider: Arc<CryptoProvider>,
) -> FieldResult<Arc<dyn ServerCertVerifier>> {
    Ok(Arc::new(Verifier {
        signatures: provider.signature_verification_algorithms,
        trusted: if spec.insecure {
            None
        } else {
            Some(Trusted::new(spec, provider)?)
        },
    }))
}

/// Without anybody to trust, it does not check the handshake's signatures either: they would only show that the server has
/// the private key of a certificate that anybody can make, and certificates that the library cannot read would have to
/// be refused.
#[derive(Debug)]
struct Verifier {
    signatures: WebPkiSupportedAlgorithms,
    /// `None` if any certificate will do (`--insecure`).
    trusted: Option<Trusted>,
}

/// Signatures that are accepted, though not checked, where nobody is trusted: for keys that servers in test have.
const UNCHECKED: [SignatureScheme; 4] = [
    SignatureScheme::ECDSA_NISTP521_SHA512,
    SignatureScheme::ED448,
    SignatureScheme::ECDSA_SHA1_Legacy,
    SignatureScheme::RSA_PKCS1_SHA1,
];

/// Chains to an authority, and certificates that are themselves in `ca_pem`, even if they claim to be an authority's, as
/// those of `openssl req -x509` do. webpki does not accept an authority's certificate as a server's.
#[derive(Debug)]
struct Trusted {
    chains: Arc<WebPkiServerVerifier>,
    own: Vec<CertificateDer<'static>>,
}

impl Trusted {
    fn new(spec: &TlsSpec, provider: Arc<CryptoProvider>) -> FieldResult<Self> {
        let mut roots = RootCertStore::empty();
        let mut own = Vec::new();
        match &spec.ca_pem {
            None => roots.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned()),
            Some(pem) => own = certificates_of("ca_pem", pem)?,
        }
        for certificate in &own {
            roots
                .add(certificate.clone())
                .map_err(|error| ("ca_pem", error.to_string()))?;
        }
        let chains = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider).build();
        let chains = chains.map_err(|error| ("ca_pem", error.to_string()))?;
        Ok(Self { chains, own })
    }
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let Some(Trusted { chains, own }) = &self.trusted else {
            return Ok(ServerCertVerified::assertion());
        };
        let verified =
            chains.verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now);
        match verified {
            // The certificate is within its dates, as webpki checks those first.
            Err(Error::InvalidCertificate(CertificateError::Other(_)))
                if own.contains(end_entity) =>
            {
                let parsed = ParsedCertificate::try_from(end_entity);
                let parsed = parsed.map_err(|error| explained(error, [end_entity]))?;
                verify_server_name(&parsed, server_name)?;
                Ok(ServerCertVerified::assertion())
            }
            Err(error) => {
                let chain = [end_entity].into_iter().chain(intermediates).chain(own);
                Err(explained(error, chain))
            }
            verified => verified,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        if self.trusted.is_none() {
            return Ok(HandshakeSignatureValid::assertion());
        }
        verify_tls12_signature(message, certificate, signature, &self.signatures)
            .map_err(|error| explained(error, [certificate]))
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        if self.trusted.is_none() {
            return Ok(HandshakeSignatureValid::assertion());
        }
        verify_tls13_signature(message, certificate, signature, &self.signatures)
            .map_err(|error| explained(error, [certificate]))
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        let mut schemes = self.signatures.supported_schemes();
        if self.trusted.is_none() {
            schemes.extend(UNCHECKED);
        }
        schemes
    }
}

/// The error of a chain; if a certificate in it is of a kind that cannot be used, that is the reason.
fn explained<'a>(error: Error, chain: impl IntoIterator<Item = &'a CertificateDer<'a>>) -> Error {
    let own_words = matches!(
        error,
        Error::InvalidCertificate(
            CertificateError::Other(_)
                | CertificateError::BadEncoding
                | CertificateError::BadSignature
                | CertificateError::UnsupportedSignatureAlgorithmContext { .. }
                | CertificateError::UnsupportedSignatureAlgorithmForPublicKeyContext { .. }
        )
    );
    let mut chain = chain.into_iter();
    match chain.find_map(|certificate| unusable(certificate)) {
        Some(unusable) if own_words => {
            CertificateError::Other(OtherError(Arc::new(unusable))).into()
        }
        _ => error,
    }
}
