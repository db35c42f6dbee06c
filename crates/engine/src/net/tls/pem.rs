//! Certificates as they are given.

use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;

/// The error is the name of a field and what is wrong with it.
pub type FieldResult<T> = Result<T, (&'static str, String)>;

pub fn certificates_of(
    field: &'static str,
    pem: &str,
) -> FieldResult<Vec<CertificateDer<'static>>> {
    let certificates: Vec<_> = CertificateDer::pem_slice_iter(pem.as_bytes())
        .collect::<Result<_, _>>()
        .map_err(|error| (field, format!("not a certificate in PEM form: {error}")))?;
    if certificates.is_empty() {
        return Err((
            field,
            "no certificate in PEM form (-----BEGIN CERTIFICATE-----) in it".into(),
        ));
    }
    Ok(certificates)
}
