//! Replaces names and unknown words, each always by the same.

use std::{
    collections::{BTreeMap, BTreeSet},
    net::{IpAddr, Ipv4Addr, Ipv6Addr},
};

use jiff::Timestamp;

use super::{
    super::super::driver::plain,
    texts::Role,
    vocabulary::{Vocabulary, is_quantity},
};

/// The replacements. All texts are learned first, and then replaced.
pub(super) struct Mask {
    public: BTreeSet<String>,
    /// Words that stay as a piece of any name, in lower case.
    products: BTreeSet<String>,
    /// Drivers, as they appear in finalizers and in the Lease names of their sidecars. A prefix from the catalogue may
    /// precede them.
    drivers: BTreeSet<String>,
    vocabulary: Vocabulary,
    /// Names to hide, even if their words are known.
    hidden: BTreeSet<String>,
    /// The replacement of each piece of a name or word.
    pieces: BTreeMap<String, String>,
    /// The replacement of each address.
    addresses: BTreeMap<IpAddr, IpAddr>,
}

impl Mask {
    pub(super) fn new(
        public: BTreeSet<String>,
        products: BTreeSet<String>,
        drivers: BTreeSet<String>,
        vocabulary: Vocabulary,
    ) -> Self {
        Mask {
            public,
            products,
            drivers,
            vocabulary,
            hidden: BTreeSet::new(),
            pieces: BTreeMap::new(),
            addresses: BTreeMap::new(),
        }
    }

    /// Learns what is to be hidden.
    pub(super) fn learn(&mut self, role: Role, text: &str) {
        if role == Role::Finalizer {
            return;
        }
        for part in parts(text) {
            match part {
                Part::Address(address) if !stays(address) => {
                    self.addresses.insert(address, address);
                }
                Part::Word(name) if self.is_public(name) => {}
                // The Lease of a sidecar. Its driver is learned where an object names it.
                Part::Word(name)
                    if self
                        .beside_driver(name)
                        .is_some_and(|(before, _)| !before.is_empty()) => {}
                Part::Word(name) if role == Role::Driver => {
                    self.hidden.extend([name.to_owned(), plain(name)]);
                    self.learn_pieces(name, true);
                }
                // `system:node:NAME`: the words before a name are known.
                Part::Word(name) if role == Role::Name && !is_quantity(name) => {
                    if !(text.contains(':') && self.vocabulary.knows(name)) {
                        self.hidden.insert(name.to_owned());
                        self.learn_pieces(name, true);
                    }
                }
                Part::Word(word) => self.learn_pieces(word, false),
                Part::Address(_) | Part::Between(_) => {}
            }
        }
    }

    fn learn_pieces(&mut self, word: &str, all: bool) {
        let is_address = holds_address(word);
        for piece in word.split(['-', '.']) {
            let hidden = match piece.parse::<u8>() {
                Ok(_) => is_address,
                Err(_) => !is_quantity(piece) && (all || !self.vocabulary.knows_piece(piece)),
            };
            if hidden && !self.products.contains(&piece.to_lowercase()) {
                self.pieces.entry(piece.to_owned()).or_default();
            }
        }
    }

    /// Numbers the replacements, in alphabetical order, so that the same names get the same replacements.
    pub(super) fn number(&mut self) {
        for (number, replacement) in self.pieces.values_mut().enumerate() {
            *replacement = format!("x{}", number + 1);
        }
        for (number, replacement) in (1..).zip(self.addresses.values_mut()) {
            // Ranges for benchmarks and for documentation.
            *replacement = match *replacement {
                IpAddr::V4(_) => IpAddr::V4(Ipv4Addr::from(0xC612_0000_u32 | number & 0x1_FFFF)),
                IpAddr::V6(_) => IpAddr::V6(Ipv6Addr::from(0x2001_0DB8_u128 << 96 | u128::from(number))),
            };
        }
    }

    /// Replaces what is to be hidden.
    pub(super) fn apply(&self, role: Role, text: &mut String) {
        let mut out = String::with_capacity(text.len());
        for part in parts(text) {
            match part {
                Part::Between(text) => out.push_str(text),
                Part::Address(address) => {
                    out.push_str(&self.addresses.get(&address).unwrap_or(&address).to_string());
                }
                Part::Word(word) => out.push_str(&self.word(role, word)),
            }
        }
        *text = out;
    }

    fn word(&self, role: Role, word: &str) -> String {
        let known = || self.vocabulary.knows(word);
        if let Some((before, driver)) = self.beside_driver(word) {
            if self.is_public(driver) {
                return word.to_owned();
            }
            return format!("{before}{}", self.in_pieces(driver, |_| true));
        }
        if role == Role::Finalizer {
            return word.to_owned();
        }
        if self.is_public(word) || role == Role::Key && known() {
            return word.to_owned();
        }
        let ends = word.match_indices('-').map(|(end, _)| end).chain([word.len()]);
        if ends
            .into_iter()
            .any(|end| word.get(..end).is_some_and(|begin| self.hidden.contains(begin)))
        {
            return self.in_pieces(word, |_| true);
        }
        // `SERVICE.NAMESPACE.svc`, and words of which some pieces are unknown.
        let is_address = holds_address(word);
        let hosts = word.split('.').map(|part| {
            let hidden = is_address || self.hidden.contains(part);
            self.in_pieces(part, |piece| hidden || !self.vocabulary.knows_piece(piece))
        });
        hosts.collect::<Vec<_>>().join(".")
    }

    /// Replaces pieces of a name. Hyphens, dots and small numbers stay, so that related names stay related.
    fn in_pieces(&self, name: &str, is_hidden: impl Fn(&str) -> bool) -> String {
        let mut out = String::new();
        for piece in name.split_inclusive(['-', '.']) {
            let bare = piece.trim_end_matches(['-', '.']);
            match self.pieces.get(bare) {
                Some(replacement) if is_hidden(bare) => out.push_str(replacement),
                _ => out.push_str(bare),
            }
            out.push_str(piece.get(bare.len()..).unwrap_or_default());
        }
        out
    }

    fn is_public(&self, name: &str) -> bool {
        self.public.contains(name)
    }

    /// The driver in the name of a Lease or in a finalizer, and what precedes it.
    fn beside_driver<'w>(&self, word: &'w str) -> Option<(&'w str, &'w str)> {
        let ends = |driver: &String| {
            let before = word.strip_suffix(driver.as_str())?;
            let is_known = before.is_empty() || self.public.contains(before);
            is_known.then_some((before, word.get(before.len()..)?))
        };
        self.drivers.iter().find_map(ends)
    }
}

/// A part of a text.
enum Part<'a> {
    Address(IpAddr),
    /// Letters, digits, hyphens and dots. A name with an underscore is two words: an underscore joins names.
    Word(&'a str),
    Between(&'a str),
}

/// The parts of a text, in their order. A time is one part.
fn parts(text: &str) -> Vec<Part<'_>> {
    if text.parse::<Timestamp>().is_ok() {
        return vec![Part::Between(text)];
    }
    let mut parts = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let is_of_address = |c: char| c.is_ascii_hexdigit() || matches!(c, ':' | '.');
        let run = before(rest, |c| !is_of_address(c));
        let follows_word = parts.last().is_some_and(|part| matches!(part, Part::Word(_)));
        let taken = if let Some((address, length)) = address(run).filter(|_| !follows_word) {
            parts.push(Part::Address(address));
            length
        } else if is_of_word(first) {
            let word = before(rest, |c| !is_of_word(c));
            // A name may be followed by the full stop of a sentence.
            let name = word.trim_end_matches(['.', '-']);
            if name.is_empty() {
                parts.push(Part::Between(word));
                word.len()
            } else {
                parts.push(Part::Word(name));
                name.len()
            }
        } else {
            let between = before(rest, is_of_word);
            // An IPv6 address may begin with colons.
            let colons = between.find("::").filter(|at| *at > 0).unwrap_or(between.len());
            parts.push(Part::Between(between.get(..colons).unwrap_or_default()));
            colons
        };
        rest = rest.get(taken..).unwrap_or_default();
    }
    parts
}

/// What precedes the first of these characters.
fn before(text: &str, is_end: impl Fn(char) -> bool) -> &str {
    text.split(is_end).next().unwrap_or_default()
}

/// The address at the beginning of characters of addresses, and its length. A port or a full stop may follow.
fn address(run: &str) -> Option<(IpAddr, usize)> {
    let mut text = run.trim_end_matches('.');
    loop {
        if let Ok(address) = text.parse() {
            return Some((address, text.len()));
        }
        text = text.rsplit_once(':')?.0;
    }
}

/// Whether a name has an address in it, such as `ip-10-1-2-3`.
fn holds_address(name: &str) -> bool {
    let pieces: Vec<_> = name.split(['-', '.']).collect();
    pieces
        .windows(4)
        .any(|four| four.iter().all(|piece| piece.parse::<u8>().is_ok()))
}

/// Addresses that say nothing: loopback, and `0.0.0.0`.
fn stays(address: IpAddr) -> bool {
    address.is_loopback() || address.is_unspecified()
}

fn is_of_word(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '-' | '.')
}
