//! A server without a protocol: every line comes back unchanged after a stated delay. The line `bye` is the last one of
//! its connection.

use crate::connection::Connection;
use crate::timer::Timer;
use jostle_discipline::Nanos;
use std::io;

/// A longer line ends its connection.
const MAX_LINE_BYTES: usize = 64 * 1024;

/// Echoes the lines of one client, one after another, until it has gone or has sent `bye`.
pub async fn echo(mut connection: Connection, delay: Nanos) -> io::Result<()> {
    let timer = Timer::new()?;
    loop {
        let Some(length) = line(&connection.input) else {
            if connection.input.len() > MAX_LINE_BYTES || !connection.fill().await? {
                return connection.close().await;
            }
            continue;
        };
        if delay > 0 {
            connection.flush().await?; // earlier responses do not wait for this one
            timer.set(Some(timer.now() + delay))?;
            timer.expired().await?;
        }
        let line: Vec<u8> = connection.input.drain(..length).collect();
        connection.output.extend_from_slice(&line);
        if line.trim_ascii_end() == b"bye" {
            return connection.close().await;
        }
    }
}

/// Length of the first line with its newline, if all of it has come.
fn line(input: &[u8]) -> Option<usize> {
    let end = input.iter().position(|byte| *byte == b'\n')?;
    Some(end + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_ends_with_its_newline() {
        assert_eq!(line(b"PING\r\nPING\r\n"), Some(6));
        assert_eq!(line(b"\n"), Some(1));
        assert_eq!(line(b"PING\r"), None);
    }
}
