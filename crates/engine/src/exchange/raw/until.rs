//! Where a response ends.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use regex_automata::dfa::{Automaton, StartKind, dense};
use regex_automata::nfa::thompson;
use regex_automata::util::primitives::StateID;
use regex_automata::util::start;
use regex_automata::util::syntax;
use regex_automata::{Anchored, MatchKind};

use crate::spec::UntilSpec;

/// Limits on the memory that a pattern's tables take, and on what is needed to build them.
const MAX_TABLE_BYTES: usize = 1 << 20;
const MAX_BUILD_BYTES: usize = 4 << 20;

/// Where a response ends, prepared once for a request and shared by all clients.
#[derive(Debug)]
pub enum Until {
    Length(u64),
    Pattern(Box<EndPattern>),
    Close,
}

/// A deterministic automaton: it keeps nothing of the response, and finds the same end however that is cut into pieces.
#[derive(Debug)]
pub struct EndPattern {
    automaton: dense::DFA<Vec<u32>>,
    start: StateID,
}

/// How far one response has been read.
#[derive(Debug, Clone, Copy)]
pub enum Progress {
    /// The number of bytes still to come.
    Left(u64),
    At(StateID),
    /// It ends only with the connection.
    Open,
}

impl Until {
    /// The error says why no response could end this way.
    pub fn new(spec: &UntilSpec) -> Result<Self, String> {
        match spec {
            UntilSpec::Length(0) => Err("until: a length of 0 ends before it begins".into()),
            UntilSpec::Length(length) => Ok(Self::Length(*length)),
            UntilSpec::DelimiterBase64(text) => {
                let bytes = STANDARD.decode(text);
                let bytes = bytes.map_err(|error| format!("until is not base64: {error}"))?;
                if bytes.is_empty() {
                    return Err("until: the delimiter is empty".into());
                }
                let escaped: Vec<String> =
                    bytes.iter().map(|byte| format!("\\x{byte:02x}")).collect();
                Self::pattern(&format!("(?-u:{})", escaped.concat()), "the delimiter")
            }
            UntilSpec::Regex(pattern) => Self::pattern(pattern, &format!("{pattern:?}")),
            UntilSpec::Close => Ok(Self::Close),
        }
    }

    fn pattern(pattern: &str, name: &str) -> Result<Self, String> {
        EndPattern::compile(pattern, name)
            .map(Box::new)
            .map(Self::Pattern)
    }

    pub fn begin(&self) -> Progress {
        match self {
            Self::Length(length) => Progress::Left(*length),
            Self::Pattern(pattern) => Progress::At(pattern.start),
            Self::Close => Progress::Open,
        }
    }

    /// Takes in what has come. If the response ends in it, returns how many of the bytes belong to the response.
    pub fn feed(&self, progress: &mut Progress, bytes: &[u8]) -> Option<usize> {
        match (self, progress) {
            (Self::Length(_), Progress::Left(left)) => {
                let taken = (*left).min(bytes.len() as u64);
                *left -= taken;
                (*left == 0).then_some(taken as usize)
            }
            (Self::Pattern(pattern), Progress::At(state)) => pattern.feed(state, bytes),
            (Self::Close, Progress::Open) => None,
            _ => unreachable!("a response ends with the request that it began with"),
        }
    }
}

impl EndPattern {
    fn compile(pattern: &str, name: &str) -> Result<Self, String> {
        let rules = syntax::Config::new().utf8(false);
        let parsed = syntax::parse_with(pattern, &rules)
            .map_err(|error| format!("until: {name} is not a regular expression: {error}"))?;
        let traits = parsed.properties();
        if !traits.look_set().is_empty() {
            return Err(format!(
                "until: {name} asks what stands beside it (^, $, \\b), which may not have come yet: match the bytes \
                 themselves"
            ));
        }
        match traits.minimum_len() {
            None => return Err(format!("until: {name} can never match")),
            Some(0) => {
                return Err(format!(
                    "until: {name} matches the empty text, so that a response would end before it begins"
                ));
            }
            Some(_) => {}
        }
        let too_much = |_| format!("until: {name} needs too much memory: write a simpler one");
        let automaton = thompson::Compiler::new()
            .configure(thompson::Config::new().utf8(false))
            .build_from_hir(&parsed)
            .map_err(|error| format!("until: {name} cannot be used: {error}"))?;
        let limits = dense::Config::new()
            .match_kind(MatchKind::All)
            .start_kind(StartKind::Unanchored)
            .dfa_size_limit(Some(MAX_TABLE_BYTES))
            .determinize_size_limit(Some(MAX_BUILD_BYTES));
        let automaton = dense::Builder::new()
            .configure(limits)
            .build_from_nfa(&automaton)
            .map_err(too_much)?;
        let anywhere = start::Config::new().anchored(Anchored::No);
        let start = automaton.start_state(&anywhere);
        let start = start.map_err(|error| format!("until: {name} cannot be used: {error}"))?;
        Ok(Self { automaton, start })
    }

    /// The automaton reports a match one byte late, or when it is told that the input has ended.
    fn feed(&self, state: &mut StateID, bytes: &[u8]) -> Option<usize> {
        for (at, byte) in bytes.iter().enumerate() {
            *state = self.automaton.next_state(*state, *byte);
            if self.automaton.is_match_state(*state) {
                return Some(at);
            }
        }
        let end = self.automaton.next_eoi_state(*state);
        self.automaton.is_match_state(end).then_some(bytes.len())
    }
}

#[cfg(test)]
mod tests;
