//! Address ranges, as the allocator of Service addresses computes them.

// `core::net` only parses and holds addresses.
use core::net::IpAddr;

/// An address range in CIDR notation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Range {
    /// The first address as a number.
    start: u128,
    /// The number of bits of an address.
    width: u32,
    /// The length of the prefix in bits.
    bits: u32,
}

impl Range {
    /// Parses `10.96.0.0/16` or `2001:db8::/112`.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (address, bits) = text.split_once('/')?;
        let (start, width) = number(address.parse().ok()?);
        let bits: u32 = bits.parse().ok().filter(|bits| *bits <= width)?;
        let range = Range { start, width, bits };
        Some(Range {
            start: start & !range.host_bits(),
            ..range
        })
    }

    /// The host bits of the range.
    fn host_bits(self) -> u128 {
        match self.width - self.bits {
            128 => u128::MAX,
            free => (1 << free) - 1,
        }
    }

    /// Whether the other range lies in this one.
    pub(crate) fn covers(self, other: &Range) -> bool {
        self.width == other.width && self.bits <= other.bits && other.start & !self.host_bits() == self.start
    }

    /// Whether the allocator may have taken this address from the range: never the first address, and never the last
    /// IPv4 address.
    pub(crate) fn allocates(self, address: IpAddr) -> bool {
        let (address, width) = number(address);
        let last = self.start | self.host_bits();
        width == self.width
            && address & !self.host_bits() == self.start
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
    fn a_range_covers_itself_and_narrower_ranges() {
        assert!(range("10.96.0.0/12").covers(&range("10.97.0.0/16")));
        assert!(range("10.97.0.0/16").covers(&range("10.97.0.0/16")));
        assert!(!range("10.97.0.0/16").covers(&range("10.96.0.0/12")));
        assert!(!range("10.97.0.0/16").covers(&range("10.98.0.0/24")));
        assert!(!range("0.0.0.0/0").covers(&range("2001:db8::/112")));
        assert!(range("::/0").covers(&range("2001:db8::/112")));
    }

    #[test]
    fn the_allocator_never_gives_out_the_first_and_last_address() {
        let allocates =
            |text: &str, address: &str| range(text).allocates(address.parse().expect("an address"));
        assert!(allocates("10.97.0.0/30", "10.97.0.1") && allocates("10.97.0.0/30", "10.97.0.2"));
        assert!(!allocates("10.97.0.0/30", "10.97.0.0") && !allocates("10.97.0.0/30", "10.97.0.3"));
        assert!(!allocates("10.97.0.0/30", "10.97.0.4"));
        assert!(allocates("2001:db8::/126", "2001:db8::3") && !allocates("2001:db8::/126", "2001:db8::"));
        assert!(!allocates("10.97.0.0/30", "2001:db8::1"));
    }

    #[test]
    fn an_invalid_range_does_not_parse() {
        for text in ["", "10.0.0.0", "10.0.0.0/33", "x/8", "10.0.0.0/-1", "::/129"] {
            assert_eq!(Range::parse(text), None, "{text}");
        }
    }
}
