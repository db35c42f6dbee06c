//! What the `Location` lines of a redirect say.

/// Where a redirect leads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Location {
    To(Box<[u8]>),
    /// Two lines say different things, so that nobody knows which one is meant (RFC 9110 section 10.2.2 has one).
    Conflict(Box<[u8]>, Box<[u8]>),
}

impl Location {
    /// Adds the value of another line. An empty one leads nowhere: followed, it would lead to the same response again.
    pub fn add(known: Option<Self>, value: &[u8]) -> Option<Self> {
        let value = value.trim_ascii();
        match known {
            None => (!value.is_empty()).then(|| Self::To(value.into())),
            Some(Self::To(first)) if !value.is_empty() && *first != *value => {
                Some(Self::Conflict(first, value.into()))
            }
            known => known,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(lines: &[&str]) -> Option<Location> {
        let add = |known, line: &&str| Location::add(known, line.as_bytes());
        lines.iter().fold(None, add)
    }

    #[test]
    fn an_empty_line_says_nothing_and_the_same_line_twice_is_one() {
        let to = |value: &str| Some(Location::To(value.as_bytes().into()));
        assert_eq!(of(&[]), None);
        assert_eq!(of(&["", " "]), None);
        assert_eq!(of(&["", "/b"]), to("/b"));
        assert_eq!(of(&["/b ", "", "/b"]), to("/b"));
        let conflict = Location::Conflict(b"/b"[..].into(), b"/c"[..].into());
        assert_eq!(of(&["/b", "/c", "/d"]), Some(conflict));
    }
}
