//! The command line.

use crate::datagrams::Path;
use crate::extras::{Extras, WhenFull};
use crate::hostile::{self, Behaviour};
use crate::kinds::{self, ConfiguredDiscipline, Settings};
use crate::pauses::Pauses;
use crate::values;
use jostle_discipline::{Assignment, Nanos};
use lexopt::prelude::{Long, Short, Value, ValueExt};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::num::NonZeroU64;
use std::str::FromStr;
use std::time::Duration;

pub const HELP: &str = include_str!("help.txt");

const MAX_PARALLELISM: u64 = 100_000;
const MAX_PROCESSES: u64 = 100;
const MAX_REQUESTS: u64 = 1_000_000_000;
const MAX_SLICE_US: u64 = 60_000_000;
const MAX_DELAY_MS: f64 = 60_000.0;
const MAX_SLOWER: f64 = 10_000.0;
const NANOS_PER_MICROSECOND: Nanos = 1_000;
const NANOS_PER_MILLISECOND: f64 = 1e6;

pub enum Command {
    Help,
    Version,
    ListHostile,
    /// What to serve, at which address, and in how many processes.
    Serve(Server, SocketAddr, usize),
}

pub enum Server {
    Null,
    Events,
    WebSocket,
    Grpc,
    /// Each line comes back after this delay.
    Lines(Nanos),
    Datagrams(Path),
    Scheduled {
        name: String,
        configured: ConfiguredDiscipline,
        /// Additional service, in percent.
        slower: f64,
        extras: Box<Extras>,
    },
    Hostile(&'static Behaviour),
    Delay {
        to: String,
        delay: Nanos,
    },
}

/// Parses the arguments, or says what is wrong with them and what to do.
pub fn parse(mut parser: lexopt::Parser) -> Result<Command, lexopt::Error> {
    let mut names: Vec<String> = Vec::new();
    let mut settings = Settings::default();
    let mut host = IpAddr::from(Ipv4Addr::LOCALHOST);
    let mut port: u16 = 0;
    let mut processes = 1;
    let mut list = false;
    while let Some(argument) = parser.next()? {
        match argument {
            Short('h') | Long("help") => return Ok(Command::Help),
            Short('V') | Long("version") => return Ok(Command::Version),
            Long("list") => list = true,
            Long("host") => {
                host = value(&mut parser, "--host", "an IP address, such as 127.0.0.1")?;
            }
            Long("port") => port = value(&mut parser, "--port", "a whole number from 0 to 65535")?,
            Long("processes") => {
                processes = count(&mut parser, "--processes", MAX_PROCESSES)? as usize;
            }
            Long("workers") => settings.workers = Some(parallelism(&mut parser, "--workers")?),
            Long("cores") => settings.cores = Some(parallelism(&mut parser, "--cores")?),
            Long("slice-us") => {
                settings.slice =
                    Some(count(&mut parser, "--slice-us", MAX_SLICE_US)? * NANOS_PER_MICROSECOND);
            }
            Long("threads") => settings.threads = Some(parallelism(&mut parser, "--threads")?),
            Long("assignment") => {
                let expected = "in-turn or by-connection";
                let chosen = shaped(&mut parser, "--assignment", expected, assignment)?;
                settings.assignment = Some(chosen);
            }
            Long("drop-gone") => settings.drop_gone = true,
            Long("slower") => settings.slower = Some(slower(&mut parser)?),
            Long("to") => settings.to = Some(target(&mut parser)?),
            Long("delay-ms") => settings.delay = Some(delay(&mut parser)?),
            Long("lose") => settings.lose = Some(count(&mut parser, "--lose", MAX_REQUESTS)?),
            Long("double") => settings.double = Some(count(&mut parser, "--double", MAX_REQUESTS)?),
            Long("hold") => settings.hold = Some(count(&mut parser, "--hold", MAX_REQUESTS)?),
            Value(name) => names.push(name.string()?),
            Long(option) => {
                let option = format!("--{option}");
                if !extra(&option, &mut parser, &mut settings.extras)? {
                    return Err(format!("no option is called {option}; see --help").into());
                }
            }
            Short(_) => return Err(argument.unexpected()),
        }
    }
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    if list && names == ["hostile"] {
        return Ok(Command::ListHostile);
    }
    let server = server(&names, &mut settings)?;
    if processes > 1 && matches!(server, Server::Datagrams(_)) {
        return Err("--processes has no meaning for datagrams; see --help".into());
    }
    match unused(&settings) {
        None if !list => Ok(Command::Serve(
            server,
            SocketAddr::new(host, port),
            processes,
        )),
        None => Err("--list goes with hostile, and with nothing else".into()),
        Some(option) => Err(format!(
            "{option} has no meaning for {}; see --help",
            names.join(" ")
        )
        .into()),
    }
}

fn server(names: &[&str], settings: &mut Settings) -> Result<Server, lexopt::Error> {
    match names {
        [] => Err("say which kind of server; --help lists them".into()),
        ["null"] => Ok(Server::Null),
        ["events"] => Ok(Server::Events),
        ["websocket"] => Ok(Server::WebSocket),
        ["grpc"] => Ok(Server::Grpc),
        ["lines"] => Ok(Server::Lines(settings.delay.take().unwrap_or(0))),
        ["datagrams"] => Ok(Server::Datagrams(Path {
            delay: settings.delay.take().unwrap_or(0),
            lose: settings.lose.take(),
            double: settings.double.take(),
            hold: settings.hold.take(),
        })),
        ["hostile"] => Err("say which behaviour; jostle-reference hostile --list shows them".into()),
        ["hostile", behaviour] => hostile::find(behaviour).map(Server::Hostile).ok_or_else(|| {
            format!("no hostile behaviour is called {behaviour:?}; jostle-reference hostile --list shows them").into()
        }),
        ["delay-proxy"] => match (settings.to.take(), settings.delay.take()) {
            (Some(to), Some(delay)) => Ok(Server::Delay { to, delay }),
            _ => Err("delay-proxy needs --to HOST:PORT and --delay-ms D".into()),
        },
        [name] => match kinds::make(name, settings) {
            Some(configured) => {
                let mut extras = std::mem::take(&mut settings.extras);
                if !configured.one_queue {
                    // Left where they are not understood, so that they are reported.
                    settings.extras.queue = extras.queue.take();
                    settings.extras.full = extras.full.take();
                }
                Ok(Server::Scheduled {
                    name: (*name).to_owned(),
                    configured,
                    slower: settings.slower.take().unwrap_or(0.0),
                    extras: Box::new(extras),
                })
            }
            None => Err(format!("no kind of server is called {name:?}; --help lists them").into()),
        },
        [.., surplus] => Err(format!("{surplus:?} is one argument too many; see --help").into()),
    }
}

/// Parses an option that goes with any discipline; returns false if there is no such option.
fn extra(
    option: &str,
    parser: &mut lexopt::Parser,
    extras: &mut Extras,
) -> Result<bool, lexopt::Error> {
    match option {
        "--queue" => {
            let expected = format!("a whole number from 0 to {MAX_PARALLELISM}");
            let queue: usize = value(parser, option, &expected)?;
            if queue as u64 > MAX_PARALLELISM {
                return Err(format!("--queue must be {expected}, not {queue}").into());
            }
            extras.queue = Some(queue);
        }
        "--full" => {
            extras.full = Some(shaped(
                parser,
                option,
                "503, reset or silence",
                WhenFull::parse,
            )?);
        }
        "--bucket" => {
            let expected = "a rate and a number at once, such as 100/s:20";
            extras.bucket = Some(shaped(parser, option, expected, values::rate)?);
        }
        "--pause" => {
            let expected = "a period and a shorter length, such as 1s:50ms";
            let (period, length) = shaped(parser, option, expected, values::period)?;
            extras.pauses = Some(Pauses { period, length });
        }
        "--pool" => extras.pool = Some(parallelism(parser, option)?),
        "--cold" => {
            let expected = "a number of requests and a factor, such as 20:3x";
            extras.cold = Some(shaped(parser, option, expected, values::factor)?);
        }
        "--cache" => extras.cache = true,
        "--idle" => {
            let idle = shaped(parser, option, "a time, such as 5s", values::time)?;
            extras.idle = Some(Duration::from_nanos(idle));
        }
        "--requests" => extras.requests = Some(count(parser, option, MAX_REQUESTS)?),
        "--two-writes" => extras.two_writes = true,
        _ => return Ok(false),
    }
    Ok(true)
}

fn assignment(text: &str) -> Option<Assignment> {
    match text {
        "in-turn" => Some(Assignment::InTurn),
        "by-connection" => Some(Assignment::ByConnection),
        _ => None,
    }
}

fn shaped<T>(
    parser: &mut lexopt::Parser,
    option: &str,
    expected: &str,
    parse: fn(&str) -> Option<T>,
) -> Result<T, lexopt::Error> {
    let text = parser.value()?.string()?;
    parse(&text).ok_or_else(|| format!("{option} must be {expected}, not {text:?}").into())
}

fn value<T: FromStr>(
    parser: &mut lexopt::Parser,
    option: &str,
    expected: &str,
) -> Result<T, lexopt::Error> {
    let text = parser.value()?.string()?;
    text.parse()
        .map_err(|_| format!("{option} must be {expected}, not {text:?}").into())
}

fn count(parser: &mut lexopt::Parser, option: &str, max: u64) -> Result<u64, lexopt::Error> {
    let expected = format!("a whole number from 1 to {max}");
    let count: NonZeroU64 = value(parser, option, &expected)?;
    if count.get() > max {
        return Err(format!("{option} must be {expected}, not {count}").into());
    }
    Ok(count.get())
}

fn target(parser: &mut lexopt::Parser) -> Result<String, lexopt::Error> {
    let text = parser.value()?.string()?;
    let port = text
        .rsplit_once(':')
        .and_then(|(host, port)| port.parse::<u16>().ok().filter(|_| !host.is_empty()));
    match port {
        Some(1..) => Ok(text),
        _ => Err(format!("--to must be HOST:PORT, such as 127.0.0.1:5432, not {text:?}").into()),
    }
}

fn delay(parser: &mut lexopt::Parser) -> Result<Nanos, lexopt::Error> {
    let expected = format!("a number from 0 to {MAX_DELAY_MS}");
    let ms: f64 = value(parser, "--delay-ms", &expected)?;
    if !(0.0..=MAX_DELAY_MS).contains(&ms) {
        return Err(format!("--delay-ms must be {expected}, not {ms}").into());
    }
    Ok((ms * NANOS_PER_MILLISECOND) as Nanos)
}

fn slower(parser: &mut lexopt::Parser) -> Result<f64, lexopt::Error> {
    let expected = format!("a number of percent from 0 to {MAX_SLOWER}");
    let percent: f64 = value(parser, "--slower", &expected)?;
    if !(0.0..=MAX_SLOWER).contains(&percent) {
        return Err(format!("--slower must be {expected}, not {percent}").into());
    }
    Ok(percent)
}

fn parallelism(parser: &mut lexopt::Parser, option: &str) -> Result<usize, lexopt::Error> {
    Ok(count(parser, option, MAX_PARALLELISM)? as usize)
}

/// Returns an option that was given but that the server did not take.
fn unused(settings: &Settings) -> Option<&'static str> {
    let own = [
        (settings.workers.is_some(), "--workers"),
        (settings.threads.is_some(), "--threads"),
        (settings.assignment.is_some(), "--assignment"),
        (settings.drop_gone, "--drop-gone"),
        (settings.cores.is_some(), "--cores"),
        (settings.slice.is_some(), "--slice-us"),
        (settings.slower.is_some(), "--slower"),
        (settings.to.is_some(), "--to"),
        (settings.delay.is_some(), "--delay-ms"),
        (settings.lose.is_some(), "--lose"),
        (settings.double.is_some(), "--double"),
        (settings.hold.is_some(), "--hold"),
    ];
    own.into_iter()
        .chain(settings.extras.given())
        .find(|(given, _)| *given)
        .map(|(_, option)| option)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(line: &str) -> Result<Command, String> {
        parse(lexopt::Parser::from_args(line.split_whitespace())).map_err(|error| error.to_string())
    }

    fn refused(line: &str) -> String {
        parsed(line)
            .err()
            .unwrap_or_else(|| panic!("{line:?} was accepted"))
    }

    #[test]
    fn every_kind_takes_its_own_settings() {
        for (line, expected) in [
            ("run-to-completion", 1),
            ("workers", 2),
            ("workers --workers 7", 7),
            ("processor-sharing --cores 3", 3),
            ("round-robin --cores 2 --slice-us 50", 2),
            ("lifo", 1),
            ("random-order --workers 4", 4),
            ("gated-lifo", 1),
            ("gated-slot", 1),
            ("gated-by-timer --cores 2 --slice-us 20200", 2),
            ("shared-queues --workers 3 --slice-us 3000", 3),
            ("own-queues --workers 3 --assignment in-turn", 3),
            ("locked-threads --workers 2 --threads 4 --slice-us 5000", 8),
            ("gated-answers --cores 2", 2),
            ("newest-first --slice-us 100", 1),
            ("least-attained --cores 2", 2),
            ("watchdog --cores 2 --slice-us 5000", 2),
            ("workers --drop-gone", 2),
        ] {
            let Ok(Command::Serve(Server::Scheduled { configured, .. }, ..)) = parsed(line) else {
                panic!("{line}")
            };
            assert_eq!(configured.parallelism, expected, "{line}");
        }
    }

    #[test]
    fn a_scheduled_server_can_be_slower_by_so_many_percent() {
        let Ok(Command::Serve(Server::Scheduled { slower, .. }, ..)) =
            parsed("run-to-completion --slower 3")
        else {
            panic!()
        };
        assert!((slower - 3.0).abs() < 1e-9);
        assert!(refused("null --slower 3").contains("--slower has no meaning"));
        assert!(refused("workers --slower -1").contains("from 0 to"));
    }

    #[test]
    fn what_goes_with_any_discipline_is_taken_by_all() {
        let line = "lifo --queue 16 --full reset --bucket 100/s:20 --pause 1s:50ms --pool 5 --cold 20:3x --cache \
                    --idle 5s --requests 100 --two-writes";
        let Ok(Command::Serve(Server::Scheduled { extras, .. }, ..)) = parsed(line) else {
            panic!()
        };
        let expected = Extras {
            queue: Some(16),
            full: Some(WhenFull::Reset),
            bucket: Some((100.0, 20)),
            pauses: Some(Pauses {
                period: 1_000_000_000,
                length: 50_000_000,
            }),
            pool: Some(5),
            cold: Some((20, 3.0)),
            cache: true,
            idle: Some(Duration::from_secs(5)),
            requests: Some(100),
            two_writes: true,
        };
        assert_eq!(*extras, expected);
        assert!(refused("null --cache").contains("--cache has no meaning for null"));
        assert!(refused("own-queues --queue 4").contains("--queue has no meaning for own-queues"));
        assert!(refused("shared-queues --full reset").contains("--full has no meaning"));
        assert!(refused("processor-sharing --drop-gone").contains("--drop-gone has no meaning"));
        assert!(refused("lifo --full 500").contains("503, reset or silence"));
        assert!(refused("lifo --bucket 100").contains("such as 100/s:20"));
        assert!(refused("lifo --pause 1s:2s").contains("such as 1s:50ms"));
        assert!(refused("lifo --cold 3").contains("such as 20:3x"));
        assert!(refused("lifo --idle 5").contains("such as 5s"));
        assert!(refused("lifo --queue -1").contains("from 0 to"));
        assert!(refused("own-queues --assignment hash").contains("in-turn or by-connection"));
    }

    #[test]
    fn the_address_is_loopback_and_any_free_port_unless_said() {
        let Ok(Command::Serve(Server::Null, address, 1)) = parsed("null") else {
            panic!()
        };
        assert_eq!(address.to_string(), "127.0.0.1:0");
        let Ok(Command::Serve(_, address, _)) = parsed("null --host ::1 --port 81") else {
            panic!()
        };
        assert_eq!(address.to_string(), "[::1]:81");
    }

    #[test]
    fn any_server_may_have_several_processes() {
        let Ok(Command::Serve(Server::Null, _, 6)) = parsed("null --processes 6") else {
            panic!()
        };
        assert!(refused("null --processes 0").contains("from 1 to 100"));
    }

    #[test]
    fn datagrams_may_be_lost_doubled_held_back_and_late() {
        let Ok(Command::Serve(Server::Datagrams(path), ..)) =
            parsed("datagrams --lose 10 --double 7 --hold 25 --delay-ms 0.5")
        else {
            panic!()
        };
        let expected = Path {
            delay: 500_000,
            lose: Some(10),
            double: Some(7),
            hold: Some(25),
        };
        assert_eq!(path, expected);
        assert!(refused("datagrams --lose 0").contains("from 1 to"));
        assert!(refused("datagrams --processes 2").contains("--processes has no meaning"));
        assert!(refused("lines --hold 2").contains("--hold has no meaning"));
    }

    #[test]
    fn the_proxy_is_told_where_to_and_how_late() {
        let Ok(Command::Serve(Server::Delay { to, delay }, ..)) =
            parsed("delay-proxy --to localhost:5432 --delay-ms 2.5")
        else {
            panic!()
        };
        assert_eq!((to.as_str(), delay), ("localhost:5432", 2_500_000));
        assert!(refused("delay-proxy --delay-ms 1").contains("needs --to HOST:PORT"));
        assert!(refused("delay-proxy --to here --delay-ms 1").contains("such as 127.0.0.1:5432"));
        assert!(refused("delay-proxy --to here:0 --delay-ms 1").contains("such as 127.0.0.1:5432"));
        assert!(refused("delay-proxy --to a:1 --delay-ms -1").contains("from 0 to 60000"));
        assert!(refused("delay-proxy --to a:1 --delay-ms nan").contains("from 0 to 60000"));
        assert!(refused("null --delay-ms 1").contains("--delay-ms has no meaning for null"));
    }

    #[test]
    fn mistakes_are_explained() {
        assert!(refused("").contains("--help"));
        assert!(refused("fifo").contains("no kind of server is called \"fifo\""));
        assert!(refused("hostile").contains("--list"));
        assert!(refused("hostile rude").contains("no hostile behaviour is called \"rude\""));
        assert!(refused("lifo --cores 2").contains("--cores has no meaning for lifo"));
        assert!(refused("workers --workers 0").contains("from 1 to 100000"));
        assert!(refused("workers --workers 100001").contains("from 1 to 100000"));
        assert!(
            refused("null --port 65536").contains("--port must be a whole number from 0 to 65535")
        );
        assert!(refused("null --host localhost").contains("such as 127.0.0.1"));
        assert!(refused("null --bogus").contains("--bogus"));
        assert!(refused("null extra").contains("one argument too many"));
        assert!(refused("null --list").contains("--list goes with hostile"));
    }
}
