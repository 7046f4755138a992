//! A quantity, such as `10Gi`.

/// The suffixes of a quantity of storage or of a count (`kubernetes/apimachinery:pkg/api/resource/suffix.go`), the binary
/// ones first.
pub(crate) const UNITS: [(&str, f64); 13] = [
    ("Ki", 1024.0),
    ("Mi", 1_048_576.0),
    ("Gi", 1_073_741_824.0),
    ("Ti", 1_099_511_627_776.0),
    ("Pi", 1_125_899_906_842_624.0),
    ("Ei", 1_152_921_504_606_846_976.0),
    ("k", 1e3),
    ("M", 1e6),
    ("G", 1e9),
    ("T", 1e12),
    ("P", 1e15),
    ("E", 1e18),
    ("", 1.0),
];

/// The number that a quantity means; none if it is unreadable.
pub(crate) fn number(quantity: &str) -> Option<f64> {
    let (suffix, size) = UNITS.iter().find(|(suffix, _)| quantity.ends_with(suffix))?;
    let number: f64 = quantity.strip_suffix(suffix)?.parse().ok()?;
    number.is_finite().then_some(number * size)
}

#[test]
fn a_quantity_is_a_number_with_a_unit() {
    for (quantity, expected) in [
        ("1Gi", Some(1_073_741_824.0)),
        ("1Ei", Some(1_152_921_504_606_846_976.0)),
        ("1500", Some(1500.0)),
        ("1.5k", Some(1500.0)),
        ("junk", None),
        ("", None),
    ] {
        assert_eq!(number(quantity), expected, "{quantity}");
    }
}
