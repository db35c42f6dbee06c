//! An answer as a script holds it: one buffer, of which values are made where the script looks.
//!
//! ```text
//!  0        2          3         4               8
//!  status   outcome    too long  length of head  head, body
//! ```
//!
//! Little-endian. The prelude reads the numbers.

use super::Reply;

const START: usize = 8;

/// Replaces `out` with what the reply says.
pub fn pack(reply: &Reply, out: &mut Vec<u8>) {
    let head = reply.head.as_deref().unwrap_or_default();
    let (body, long) = match &reply.body {
        Some(Ok(body)) => (&body[..], 0),
        Some(Err(_)) => (&[][..], 1),
        None => (&[][..], 0),
    };
    out.clear();
    out.extend(reply.status.to_le_bytes());
    out.extend([reply.outcome as u8, long]);
    out.extend((head.len() as u32).to_le_bytes());
    out.extend_from_slice(head);
    out.extend_from_slice(body);
}

/// Head and body of what was packed.
pub fn parts(packed: &[u8]) -> (&[u8], &[u8]) {
    let length = packed[4..START].try_into().map(u32::from_le_bytes);
    packed[START..].split_at(length.expect("a length has four bytes") as usize)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::interval::Outcome;
    use crate::scenario::capture::Missing;

    #[test]
    fn an_answer_is_packed_and_parted() {
        let mut out = vec![1];
        let reply = Reply {
            outcome: Outcome::Ok,
            status: 404,
            head: Some(b"head"[..].into()),
            body: Some(Ok(b"body!".to_vec())),
        };
        pack(&reply, &mut out);
        assert_eq!(out[..8], [148, 1, 0, 0, 4, 0, 0, 0]);
        assert_eq!(parts(&out), (&b"head"[..], &b"body!"[..]));
        pack(&Reply::default(), &mut out);
        assert_eq!(parts(&out), (&b""[..], &b""[..]));
        let reply = Reply {
            body: Some(Err(Missing::TooLong)),
            ..Reply::default()
        };
        pack(&reply, &mut out);
        assert_eq!(out[3], 1);
    }
}
