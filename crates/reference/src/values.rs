//! Values on the command line with units: times, rates, and pairs of them.

use jostle_discipline::Nanos;

/// Longer than any experiment.
const MAX_SECONDS: f64 = 3600.0;
const MIN_RATE: f64 = 1e-3;
const MAX_RATE: f64 = 1e6;
const MAX_COUNT: u64 = 1_000_000;
const MAX_FACTOR: f64 = 1000.0;

/// Parses a time such as "250us", "50ms" or "1.5s", which must be positive.
pub fn time(text: &str) -> Option<Nanos> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = match &text[digits.len()..] {
        "us" => 1e-6,
        "ms" => 1e-3,
        "s" => 1.0,
        _ => return None,
    };
    let seconds = number(digits, MAX_SECONDS / unit)? * unit;
    Some((seconds * 1e9).round() as Nanos).filter(|&nanos| nanos > 0)
}

/// Parses a period and a length such as "1s:50ms"; the length must be shorter than the period.
pub fn period(text: &str) -> Option<(Nanos, Nanos)> {
    let (period, length) = text.split_once(':')?;
    let (period, length) = (time(period)?, time(length)?);
    (length < period).then_some((period, length))
}

/// Parses a rate and a burst such as "100/s:20": requests per second, and requests at once.
pub fn rate(text: &str) -> Option<(f64, u64)> {
    let (rate, burst) = text.split_once("/s:")?;
    let rate = number(rate, MAX_RATE).filter(|&rate| rate >= MIN_RATE)?;
    Some((rate, count(burst)?))
}

/// Parses a count and a factor such as "20:3x".
pub fn factor(text: &str) -> Option<(u64, f64)> {
    let (many, factor) = text.strip_suffix('x')?.split_once(':')?;
    Some((count(many)?, number(factor, MAX_FACTOR)?))
}

fn count(text: &str) -> Option<u64> {
    let count = text.parse().ok()?;
    (1..=MAX_COUNT).contains(&count).then_some(count)
}

fn number(text: &str, max: f64) -> Option<f64> {
    let number: f64 = text.parse().ok()?;
    (number > 0.0 && number <= max).then_some(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_carry_their_units() {
        assert_eq!(time("250us"), Some(250_000));
        assert_eq!(time("1.5s"), Some(1_500_000_000));
        assert_eq!(period("1s:50ms"), Some((1_000_000_000, 50_000_000)));
        assert_eq!(rate("100/s:20"), Some((100.0, 20)));
        assert_eq!(factor("20:3x"), Some((20, 3.0)));
    }

    #[test]
    fn what_makes_no_sense_is_no_value() {
        for text in ["5", "ms", "-5ms", "0s", "nans", "2h", "4000s", ""] {
            assert_eq!(time(text), None, "{text:?}");
        }
        for text in ["50ms:1s", "1s", "1s:1s", "1s:"] {
            assert_eq!(period(text), None, "{text:?}");
        }
        for text in ["100:20", "100/s", "100/s:0", "0/s:1", "1e-9/s:1", "100/m:2"] {
            assert_eq!(rate(text), None, "{text:?}");
        }
        for text in ["20:3", "0:3x", "20:0x", "3x"] {
            assert_eq!(factor(text), None, "{text:?}");
        }
    }
}
