//! The result of a call as its server reports it: `grpc-status` and `grpc-message`.

const NAMES: [&str; 17] = [
    "OK",
    "CANCELLED",
    "UNKNOWN",
    "INVALID_ARGUMENT",
    "DEADLINE_EXCEEDED",
    "NOT_FOUND",
    "ALREADY_EXISTS",
    "PERMISSION_DENIED",
    "RESOURCE_EXHAUSTED",
    "FAILED_PRECONDITION",
    "ABORTED",
    "OUT_OF_RANGE",
    "UNIMPLEMENTED",
    "INTERNAL",
    "UNAVAILABLE",
    "DATA_LOSS",
    "UNAUTHENTICATED",
];

pub const OK: u32 = 0;
const UNKNOWN: u32 = 2;
pub const DEADLINE_EXCEEDED: u32 = 4;
pub const PERMISSION_DENIED: u32 = 7;
pub const UNIMPLEMENTED: u32 = 12;
const INTERNAL: u32 = 13;
const UNAVAILABLE: u32 = 14;
pub const UNAUTHENTICATED: u32 = 16;

/// The status of a call that was answered with this HTTP status and no `grpc-status`, by a proxy for example.
///
/// Source: the gRPC project, http-grpc-status-mapping.md.
pub fn of_http(http_status: u16) -> u32 {
    match http_status {
        400 => INTERNAL,
        401 => UNAUTHENTICATED,
        403 => PERMISSION_DENIED,
        404 => UNIMPLEMENTED,
        429 | 502 | 503 | 504 => UNAVAILABLE,
        _ => UNKNOWN,
    }
}

/// A status as it is shown to people, for example `UNAVAILABLE: no backend`.
pub fn describe(status: u32, message: Option<&[u8]>) -> String {
    let name = NAMES.get(status as usize);
    let name = name.map_or_else(|| format!("grpc-status {status}"), ToString::to_string);
    match message {
        Some(message) if !message.is_empty() => {
            format!("{name}: {}", String::from_utf8_lossy(&decoded(message)))
        }
        _ => name,
    }
}

/// Decodes percent-encoding; what is not encoded properly stays as it is.
fn decoded(message: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(message.len());
    let mut rest = message;
    while let Some((&byte, after)) = rest.split_first() {
        let digit = |index: usize| char::from(*after.get(index)?).to_digit(16);
        let digits = if byte == b'%' {
            digit(0).zip(digit(1))
        } else {
            None
        };
        let encoded = digits.map(|(high, low)| (high * 16 + low) as u8);
        out.push(encoded.unwrap_or(byte));
        rest = if encoded.is_some() {
            &after[2..]
        } else {
            after
        };
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_is_told_by_its_name_and_its_message() {
        assert_eq!(describe(14, None), "UNAVAILABLE");
        assert_eq!(describe(16, Some(b"")), "UNAUTHENTICATED");
        assert_eq!(
            describe(5, Some(b"no %22\xc3\xbc%C3%BC%22")),
            "NOT_FOUND: no \"üü\""
        );
        assert_eq!(
            describe(99, Some(b"100% %zz %+5 %4")),
            "grpc-status 99: 100% %zz %+5 %4"
        );
    }
}
