//! Metrics in the two text formats that Prometheus reads: its own, version 0.0.4, and OpenMetrics 1.0.
//!
//! The formats are written here. The crate `prometheus-client` writes only OpenMetrics, and it wants metrics that live as
//! long as the process. Here each look makes all series anew.

use std::{
    fmt::{self, Write},
    time::Duration,
};

use super::safe::harmless;
use crate::report::metrics::{Family, Kind, Series};

/// A text format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exposition {
    /// The format of Prometheus, version 0.0.4.
    Prometheus,
    /// OpenMetrics 1.0.
    OpenMetrics,
}

impl Exposition {
    /// The value of `Content-Type`.
    pub fn content_type(self) -> &'static str {
        match self {
            Exposition::Prometheus => "text/plain; version=0.0.4; charset=utf-8",
            Exposition::OpenMetrics => "application/openmetrics-text; version=1.0.0; charset=utf-8",
        }
    }
}

/// Writes the families in this format. Each belongs to the time that has passed since.
pub fn write<'a>(
    families: impl IntoIterator<Item = (&'a Family, Duration)>,
    format: Exposition,
    out: &mut impl Write,
) -> fmt::Result {
    for (family, since) in families {
        write_family(family, since, format, out)?;
    }
    match format {
        Exposition::Prometheus => Ok(()),
        Exposition::OpenMetrics => writeln!(out, "# EOF"),
    }
}

fn write_family(family: &Family, since: Duration, format: Exposition, out: &mut impl Write) -> fmt::Result {
    let (ending, kind) = match (family.kind, format) {
        (Kind::Gauge | Kind::Age, _) => ("", "gauge"),
        (Kind::Counter, _) => ("_total", "counter"),
        (Kind::Info, Exposition::Prometheus) => ("_info", "gauge"),
        (Kind::Info, Exposition::OpenMetrics) => ("_info", "info"),
    };
    // OpenMetrics describes the family without the ending of its series.
    let described = match format {
        Exposition::Prometheus => ending,
        Exposition::OpenMetrics => "",
    };
    let name = family.name;
    writeln!(out, "# HELP {name}{described} {}", family.help)?;
    writeln!(out, "# TYPE {name}{described} {kind}")?;
    for series in &family.series {
        write!(out, "{name}{ending}")?;
        write_labels(family, series, out)?;
        let value = match family.kind {
            Kind::Age => series.value + since.as_secs_f64().floor(),
            _ => series.value,
        };
        writeln!(out, " {value}")?;
    }
    Ok(())
}

fn write_labels(family: &Family, series: &Series, out: &mut impl Write) -> fmt::Result {
    if family.labels.is_empty() {
        return Ok(());
    }
    for (at, (name, value)) in family.labels.iter().zip(&series.labels).enumerate() {
        out.write_char(if at == 0 { '{' } else { ',' })?;
        write!(out, "{name}=\"")?;
        for character in harmless(value).chars() {
            match character {
                '\\' => out.write_str("\\\\")?,
                '"' => out.write_str("\\\"")?,
                other => out.write_char(other)?,
            }
        }
        out.write_char('"')?;
    }
    out.write_char('}')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(family: &Family, format: Exposition) -> String {
        let mut out = String::new();
        write([(family, Duration::from_millis(2_900))], format, &mut out).expect("written");
        out
    }

    fn family(kind: Kind, value: &str) -> Family {
        Family {
            name: "finalizers_things",
            kind,
            help: "Some things.",
            labels: &["name"],
            series: vec![Series {
                labels: vec![value.to_owned()],
                value: 1.5,
            }],
        }
    }

    #[test]
    fn text_from_the_cluster_stays_in_its_label() {
        for (hostile, shown) in [
            (
                "a\"} 9\nfinalizers_things{name=\"b",
                "a\\\"} 9 finalizers_things{name=\\\"b",
            ),
            ("back\\slash", "back\\\\slash"),
            ("\u{1b}[2J", "\\\\u{1b}[2J"),
            ("größer", "größer"),
        ] {
            let out = written(&family(Kind::Gauge, hostile), Exposition::Prometheus);
            let line = out.lines().last().expect("a line");
            assert_eq!(line, format!("finalizers_things{{name=\"{shown}\"}} 1.5"));
            assert_eq!(out.lines().count(), 3, "{out}");
        }
    }

    #[test]
    fn only_ages_grow_with_the_time_since() {
        let value = |kind| {
            let out = written(&family(kind, "x"), Exposition::Prometheus);
            out.trim_end().rsplit(' ').next().map(str::to_owned)
        };
        assert_eq!(value(Kind::Age).as_deref(), Some("3.5"));
        assert_eq!(value(Kind::Gauge).as_deref(), Some("1.5"));
    }

    #[test]
    fn each_format_has_its_own_names() {
        let kinds = [Kind::Gauge, Kind::Counter, Kind::Info];
        let all = |format| kinds.map(|kind| written(&family(kind, "x"), format)).concat();
        assert_eq!(
            all(Exposition::Prometheus),
            "\
# HELP finalizers_things Some things.
# TYPE finalizers_things gauge
finalizers_things{name=\"x\"} 1.5
# HELP finalizers_things_total Some things.
# TYPE finalizers_things_total counter
finalizers_things_total{name=\"x\"} 1.5
# HELP finalizers_things_info Some things.
# TYPE finalizers_things_info gauge
finalizers_things_info{name=\"x\"} 1.5
"
        );
        assert_eq!(
            all(Exposition::OpenMetrics),
            "\
# HELP finalizers_things Some things.
# TYPE finalizers_things gauge
finalizers_things{name=\"x\"} 1.5
# EOF
# HELP finalizers_things Some things.
# TYPE finalizers_things counter
finalizers_things_total{name=\"x\"} 1.5
# EOF
# HELP finalizers_things Some things.
# TYPE finalizers_things info
finalizers_things_info{name=\"x\"} 1.5
# EOF
"
        );
    }
}
