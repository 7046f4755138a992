//! Ranges of addresses as the allocator of Service addresses sees them.

// The half of it that only parses.
use core::net::IpAddr;

/// A network in CIDR notation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Range {
    /// The address as a number, and how many bits such an address has.
    start: u128,
    width: u32,
    bits: u32,
}

impl Range {
    /// `10.96.0.0/16`, `2001:db8::/112`.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (address, bits) = text.split_once('/')?;
        let (start, width) = number(address.parse().ok()?);
        let bits: u32 = bits.parse().ok().filter(|bits| *bits <= width)?;
        let range = Range { start, width, bits };
        Some(Range {
            start: start & !range.hosts(),
            ..range
        })
    }

    /// The bits that differ within it.
    fn hosts(self) -> u128 {
        match self.width - self.bits {
            128 => u128::MAX,
            free => (1 << free) - 1,
        }
    }

    /// Whether the other one lies in it.
    pub(crate) fn covers(self, other: &Range) -> bool {
        self.width == other.width && self.bits <= other.bits && other.start & !self.hosts() == self.start
    }

    /// Whether this address can have been taken from it: never its first, and of IPv4 never its last.
    pub(crate) fn gives_out(self, address: IpAddr) -> bool {
        let (address, width) = number(address);
        let last = self.start | self.hosts();
        width == self.width
            && address & !self.hosts() == self.start
            && address != self.start
            && (width == 128 || address != last)
    }
}

fn number(address: IpAddr) -> (u128, u32) {
    match address {
        IpAddr::V4(address) => (u32::from(address).into(), 32),
        IpAddr::V6(address) => (address.into(), 128),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(text: &str) -> Range {
        Range::parse(text).expect("a range")
    }

    #[test]
    fn what_lies_in_what() {
        assert!(range("10.96.0.0/12").covers(&range("10.97.0.0/16")));
        assert!(range("10.97.0.0/16").covers(&range("10.97.0.0/16")));
        assert!(!range("10.97.0.0/16").covers(&range("10.96.0.0/12")));
        assert!(!range("10.97.0.0/16").covers(&range("10.98.0.0/24")));
        assert!(!range("0.0.0.0/0").covers(&range("2001:db8::/112")));
        assert!(range("::/0").covers(&range("2001:db8::/112")));
    }

    #[test]
    fn first_and_last_are_never_given_out() {
        let gives = |text: &str, address: &str| range(text).gives_out(address.parse().expect("an address"));
        assert!(gives("10.97.0.0/30", "10.97.0.1") && gives("10.97.0.0/30", "10.97.0.2"));
        assert!(!gives("10.97.0.0/30", "10.97.0.0") && !gives("10.97.0.0/30", "10.97.0.3"));
        assert!(!gives("10.97.0.0/30", "10.97.0.4"));
        assert!(gives("2001:db8::/126", "2001:db8::3") && !gives("2001:db8::/126", "2001:db8::"));
        assert!(!gives("10.97.0.0/30", "2001:db8::1"));
    }

    #[test]
    fn nonsense_is_no_range() {
        for text in ["", "10.0.0.0", "10.0.0.0/33", "x/8", "10.0.0.0/-1", "::/129"] {
            assert_eq!(Range::parse(text), None, "{text}");
        }
    }
}
