//! Dates as servers write them.

/// Parses a date in any form that servers write (section 5.1.1) into Unix seconds.
pub fn date(text: &[u8]) -> Option<i64> {
    let (mut time, mut day, mut month, mut year) = (None, None, None, None);
    let is_delimiter =
        |byte: &u8| matches!(*byte, b'\t' | 0x20..=0x2f | 0x3b..=0x40 | 0x5b..=0x60 | 0x7b..=0x7e);
    for token in text.split(is_delimiter).filter(|token| !token.is_empty()) {
        let digits = token
            .iter()
            .take_while(|byte| byte.is_ascii_digit())
            .count();
        let number = std::str::from_utf8(&token[..digits])
            .ok()
            .and_then(|text| text.parse::<i64>().ok());
        if time.is_none()
            && let Some(found) = clock(token)
        {
            time = Some(found);
        } else if day.is_none() && (1..=2).contains(&digits) {
            day = number;
        } else if month.is_none()
            && let Some(found) = month_of(token)
        {
            month = Some(found);
        } else if year.is_none() && (2..=4).contains(&digits) {
            year = number;
        }
    }
    let (seconds, day, month, year) = (time?, day?, month?, year?);
    let year = match year {
        70..=99 => year + 1900,
        0..=69 => year + 2000,
        _ => year,
    };
    let first = days(year, month, 1);
    let next_month = days(year + month / 12, month % 12 + 1, 1);
    ((1..=next_month - first).contains(&day) && year >= 1601)
        .then(|| (first + day - 1) * 86_400 + seconds)
}

/// Parses `hours:minutes:seconds` into seconds.
fn clock(token: &[u8]) -> Option<i64> {
    let mut parts = std::str::from_utf8(token).ok()?.splitn(3, ':');
    let mut next = || parts.next()?.parse::<i64>().ok();
    let (hours, minutes, seconds) = (next()?, next()?, next()?);
    let right =
        (0..24).contains(&hours) && (0..60).contains(&minutes) && (0..60).contains(&seconds);
    right.then_some(hours * 3600 + minutes * 60 + seconds)
}

fn month_of(token: &[u8]) -> Option<i64> {
    let begins = token.get(..3)?.to_ascii_lowercase();
    let months = b"janfebmaraprmayjunjulaugsepoctnovdec".chunks(3);
    let mut numbered = (1..).zip(months);
    let month = numbered.find(|(_, month)| *month == begins);
    month.map(|(number, _)| number)
}

/// Days from 1 January 1970 to a date of the Gregorian calendar (Hinnant, "chrono-compatible low-level date
/// algorithms").
fn days(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let of_era = year.rem_euclid(400);
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_read_in_all_three_forms() {
        for text in [
            "Sun, 06 Nov 1994 08:49:37 GMT",
            "Sunday, 06-Nov-94 08:49:37 GMT",
            "Sun Nov  6 08:49:37 1994",
        ] {
            assert_eq!(date(text.as_bytes()), Some(784_111_777), "{text}");
        }
        for text in [
            "",
            "tomorrow",
            "06 Nov 1994",
            "06 Nov 1994 25:00:00",
            "31 Nov 1994 08:49:37",
            "29 Feb 2023 08:49:37",
            "0 Nov 1994 08:49:37",
        ] {
            assert_eq!(date(text.as_bytes()), None, "{text}");
        }
        assert_eq!(date(b"29 Feb 2024 00:00:00"), Some(1_709_164_800));
        assert_eq!(date(b"31 Dec 2023 00:00:00"), Some(1_703_980_800));
    }
}
