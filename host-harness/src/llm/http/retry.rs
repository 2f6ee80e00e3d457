//! When to ask again.

use std::time::{Duration, SystemTime};

use super::HttpConfig;

/// What a failure says about asking again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Again {
    /// The same would come back.
    Never,
    /// It may pass by itself.
    Later,
    /// It passes after this time, as the provider says.
    After(Duration),
}

/// How often to ask again, and how long to wait where the provider does not say.
#[derive(Clone, Copy, Debug)]
pub(super) struct Policy {
    retries: u32,
    backoff: Duration,
}

impl Policy {
    /// As configured.
    pub(super) fn new(config: &HttpConfig) -> Self {
        Self { retries: config.max_retries, backoff: Duration::from_millis(config.backoff_ms.into()) }
    }

    /// The wait before the next attempt after `made` of them; `None` to give up, as when the wait is longer than the
    /// time that is `left`.
    pub(super) fn wait(&self, made: u32, again: &Again, left: Duration) -> Option<Duration> {
        if made > self.retries {
            return None;
        }
        let wait = match again {
            Again::Never => return None,
            Again::Later => self.backoff.saturating_mul(2_u32.saturating_pow(made.saturating_sub(1))),
            Again::After(wait) => *wait,
        };
        (wait < left).then_some(wait)
    }
}

/// The wait that a `Retry-After` header asks for (RFC 9110, 10.2.3): seconds, or the date to wait for. A date that has
/// passed asks for no wait.
pub(super) fn retry_after(header: &str, now: SystemTime) -> Option<Duration> {
    let header = header.trim();
    match header.parse() {
        Ok(seconds) => Some(Duration::from_secs(seconds)),
        Err(_) => httpdate::parse_http_date(header).ok().map(|date| date.duration_since(now).unwrap_or_default()),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const MS: Duration = Duration::from_millis(1);
    const AN_HOUR: Duration = Duration::from_secs(3600);

    fn policy() -> Policy {
        Policy { retries: 3, backoff: 500 * MS }
    }

    #[test]
    fn the_wait_doubles_with_each_retry_until_they_are_used_up() {
        let waits: Vec<_> = (1..=4).map(|made| policy().wait(made, &Again::Later, AN_HOUR)).collect();
        assert_eq!(waits, [Some(500 * MS), Some(1000 * MS), Some(2000 * MS), None]);
    }

    #[test]
    fn the_providers_own_wait_goes_before() {
        assert_eq!(policy().wait(3, &Again::After(7 * MS), AN_HOUR), Some(7 * MS));
        assert_eq!(policy().wait(4, &Again::After(7 * MS), AN_HOUR), None);
    }

    #[test]
    fn a_wait_that_does_not_fit_is_not_begun() {
        assert_eq!(policy().wait(1, &Again::After(AN_HOUR), AN_HOUR), None);
        assert_eq!(policy().wait(1, &Again::Later, 400 * MS), None);
    }

    #[test]
    fn what_would_come_back_is_not_tried_again() {
        assert_eq!(policy().wait(1, &Again::Never, AN_HOUR), None);
    }

    #[test]
    fn retry_after_is_seconds_or_a_date() {
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(784_111_777);
        assert_eq!(retry_after("120", now), Some(Duration::from_secs(120)));
        assert_eq!(retry_after(" 0 ", now), Some(Duration::ZERO));
        assert_eq!(retry_after("Sun, 06 Nov 1994 08:50:07 GMT", now), Some(Duration::from_secs(30)));
        assert_eq!(retry_after("Sun, 06 Nov 1994 08:49:07 GMT", now), Some(Duration::ZERO));
        assert_eq!(retry_after("soon", now), None);
        assert_eq!(retry_after("-1", now), None);
    }

    proptest! {
        #[test]
        fn no_header_and_no_number_of_attempts_is_too_much(header in "\\PC{0,40}", made: u32, retries: u32, ms: u32) {
            retry_after(&header, SystemTime::UNIX_EPOCH);
            let policy = Policy { retries, backoff: Duration::from_millis(ms.into()) };
            if let Some(wait) = policy.wait(made, &Again::Later, AN_HOUR) {
                prop_assert!(wait < AN_HOUR && made <= retries);
            }
        }
    }
}
