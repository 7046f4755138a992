//! Decides whether `NO_PROXY` exempts a host.
//!
//! kube compares `NO_PROXY` with the address of the *proxy*, and rejects the whole kubeconfig over one invalid entry
//! (`config/file_loader.rs`, `config/no_proxy.rs`). So this file has the rules of Go's
//! `golang.org/x/net/http/httpproxy`, which kubectl uses:
//! * Entries are separated by commas. Empty and invalid entries are skipped.
//! * `example.com` matches itself and its subdomains, `.example.com` and `*.example.com` only the subdomains.
//! * A port limits an entry to that port.
//! * `*` alone exempts everything.
//! * The loopback is always exempt.

use std::net::IpAddr;

/// Whether a request to this host (without brackets) and port must not use a proxy from the environment.
pub(super) fn exempts(list: &str, host: &str, port: u16) -> bool {
    let host = host.to_lowercase();
    let address: Option<IpAddr> = host.parse().ok();
    if host == "localhost" || address.is_some_and(|ip| ip.to_canonical().is_loopback()) {
        return true;
    }
    list.split(',')
        .map(|entry| entry.trim().to_lowercase())
        .filter(|entry| !entry.is_empty())
        .any(|entry| entry_exempts(&entry, &host, address, port))
}

fn entry_exempts(entry: &str, host: &str, address: Option<IpAddr>, port: u16) -> bool {
    if entry == "*" {
        return true;
    }
    if let Some((network, length)) = entry.split_once('/') {
        return address.is_some_and(|ip| in_network(network, length, ip).unwrap_or(false));
    }
    let (name, wanted_port) = split_port(entry);
    if wanted_port.is_some_and(|wanted| wanted.parse() != Ok(port)) {
        return false;
    }
    if let Ok(exempt) = name.parse::<IpAddr>() {
        return address.is_some_and(|ip| ip.to_canonical() == exempt.to_canonical());
    }
    if address.is_some() || name.is_empty() {
        return false;
    }
    let name = name
        .strip_prefix('*')
        .filter(|rest| rest.starts_with('.'))
        .unwrap_or(name);
    match name.strip_prefix('.') {
        Some(_) => host.ends_with(name),
        None => host == name || host.strip_suffix(name).is_some_and(|rest| rest.ends_with('.')),
    }
}

/// Splits `host:port`, `[v6]:port`, `[v6]`, `host` or a bare `v6`.
fn split_port(entry: &str) -> (&str, Option<&str>) {
    if let Some(bracketed) = entry.strip_prefix('[')
        && let Some((name, rest)) = bracketed.split_once(']')
    {
        return (name, rest.strip_prefix(':'));
    }
    match entry.split_once(':') {
        Some((name, port)) if !port.contains(':') => (name, Some(port)),
        _ => (entry, None),
    }
}

/// Whether the network contains the address; `None` if it is not a network. A shift by the whole width (`/0`) gives
/// `None` on both sides, which are equal.
fn in_network(network: &str, length: &str, address: IpAddr) -> Option<bool> {
    let length: u32 = length.parse().ok()?;
    Some(match (network.parse().ok()?, address.to_canonical()) {
        (IpAddr::V4(network), IpAddr::V4(address)) => {
            let shift = u32::BITS.checked_sub(length)?;
            network.to_bits().checked_shr(shift) == address.to_bits().checked_shr(shift)
        }
        (IpAddr::V6(network), IpAddr::V6(address)) => {
            let shift = u128::BITS.checked_sub(length)?;
            network.to_bits().checked_shr(shift) == address.to_bits().checked_shr(shift)
        }
        _ => false,
    })
}

#[cfg(test)]
mod tests {
    use super::exempts;

    #[test]
    fn entries_match_as_in_go() {
        for (list, host, port, expected) in [
            // The loopback needs no entry.
            ("", "localhost", 6443, true),
            ("", "127.0.0.9", 6443, true),
            ("", "::1", 6443, true),
            ("", "example.com", 443, false),
            // Domains.
            ("example.com", "example.com", 443, true),
            ("example.com", "API.Example.com", 443, true),
            ("example.com", "badexample.com", 443, false),
            (".example.com", "api.example.com", 443, true),
            (".example.com", "example.com", 443, false),
            ("*.example.com", "api.example.com", 443, true),
            ("*.example.com", "example.com", 443, false),
            // Everything.
            ("*", "10.0.0.1", 443, true),
            ("a.example, * ,b", "example.com", 443, true),
            // Ports.
            ("example.com:6443", "example.com", 6443, true),
            ("example.com:6443", "example.com", 443, false),
            ("10.0.0.1:6443", "10.0.0.1", 6443, true),
            ("10.0.0.1:6443", "10.0.0.1", 443, false),
            ("[fd00::1]:6443", "fd00::1", 6443, true),
            ("[fd00::1]:6443", "fd00::1", 443, false),
            // Addresses and networks.
            ("10.0.0.1", "10.0.0.1", 443, true),
            ("10.0.0.1", "10.0.0.10", 443, false),
            ("fd00::1", "fd00::1", 443, true),
            ("10.0.0.0/8", "10.200.3.4", 443, true),
            ("10.0.0.0/8", "11.0.0.1", 443, false),
            ("10.96.0.1/32", "10.96.0.1", 443, true),
            ("0.0.0.0/0", "8.8.8.8", 443, true),
            ("fd00::/8", "fdff::1", 443, true),
            ("fd00::/8", "10.0.0.1", 443, false),
            ("10.0.0.0/8", "ten.example", 443, false),
            // Invalid entries are skipped, and later entries still count.
            (",, ,example.com,", "example.com", 443, true),
            ("10.0.0.0/99,:443,[,example.com", "example.com", 443, true),
            ("10.0.0.0/99,:443,[", "10.0.0.1", 443, false),
        ] {
            assert_eq!(exempts(list, host, port), expected, "{list:?} {host} {port}");
        }
    }
}
