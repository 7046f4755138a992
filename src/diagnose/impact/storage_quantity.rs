//! Adds up quantities of storage, in the form that people read.

use crate::diagnose::kinds::{PersistentVolume, PersistentVolumeClaim, quantity};
use crate::snapshot::facts::Object;

/// The total capacity of some volumes.
pub(crate) fn of<'a>(volumes: impl IntoIterator<Item = &'a &'a Object>) -> String {
    let volumes = volumes.into_iter();
    sum(volumes.map(|volume| PersistentVolume(volume).capacity()))
}

/// The total capacity of these claims.
pub(crate) fn of_claims(claims: &[&Object]) -> String {
    sum(claims.iter().map(|claim| PersistentVolumeClaim(claim).capacity()))
}

/// The sum of some quantities, in the largest binary unit that it fills: `30Gi`. Unreadable quantities count as
/// zero.
fn sum<'a>(quantities: impl Iterator<Item = &'a str>) -> String {
    let bytes: f64 = quantities
        .filter_map(quantity::number)
        .fold(0.0, |sum, bytes| sum + bytes);
    let unit = quantity::UNITS[..6].iter().rev().find(|(_, size)| bytes >= *size);
    let (name, size) = unit.copied().unwrap_or(("", 1.0));
    let number = format!("{:.1}", bytes / size);
    format!("{}{name}", number.trim_end_matches(".0"))
}

#[test]
fn sums_quantities_in_binary_units() {
    assert_eq!(sum(["10Gi", "20Gi"].into_iter()), "30Gi");
    assert_eq!(sum(["512Mi", "1Gi"].into_iter()), "1.5Gi");
    assert_eq!(sum(["1Ti", "junk", ""].into_iter()), "1Ti");
    assert_eq!(sum(["1G"].into_iter()), "953.7Mi");
    assert_eq!(sum([].into_iter()), "0");
}
