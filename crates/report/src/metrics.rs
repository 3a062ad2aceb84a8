//! Metrics in the text format of OpenMetrics, and in Prometheus' older one.

use std::collections::BTreeSet;
use std::fmt;
use std::io::{self, Write};

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric, text};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::gauge::ConstGauge;
use prometheus_client::registry::Registry;

/// Names and values.
pub(crate) type Labels = Vec<(&'static str, String)>;

/// The kind of a metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// May grow and shrink.
    Gauge,
    /// Only grows; its samples are named `NAME_total`.
    Counter,
}

/// A metric with its samples.
#[derive(Debug)]
pub(crate) struct Family {
    name: &'static str,
    /// One sentence, without the full stop that the encoder adds.
    help: &'static str,
    kind: Kind,
    samples: Vec<(Labels, u64)>,
}

impl Family {
    pub(crate) fn gauge(
        name: &'static str,
        help: &'static str,
        samples: Vec<(Labels, u64)>,
    ) -> Self {
        Self {
            name,
            help,
            kind: Kind::Gauge,
            samples,
        }
    }

    pub(crate) fn counter(
        name: &'static str,
        help: &'static str,
        samples: Vec<(Labels, u64)>,
    ) -> Self {
        let kind = Kind::Counter;
        Self {
            kind,
            ..Self::gauge(name, help, samples)
        }
    }

    /// The program's version, as a label.
    pub(crate) fn build_info(help: &'static str) -> Self {
        let version = vec![("version", env!("CARGO_PKG_VERSION").to_owned())];
        Self::gauge("coalescope_build_info", help, vec![(version, 1)])
    }
}

#[derive(Debug)]
struct Metrics(Vec<Family>);

impl Collector for Metrics {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        for family in &self.0 {
            let kind = match family.kind {
                Kind::Gauge => MetricType::Gauge,
                Kind::Counter => MetricType::Counter,
            };
            let mut metric = encoder.encode_descriptor(family.name, family.help, None, kind)?;
            for (labels, value) in &family.samples {
                let sample = metric.encode_family(labels)?;
                match family.kind {
                    Kind::Gauge => ConstGauge::new(signed(*value)).encode(sample)?,
                    Kind::Counter => ConstCounter::new(*value).encode(sample)?,
                }
            }
        }
        Ok(())
    }
}

fn signed(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

/// Writes all metrics in the older format of Prometheus, in which a counter is declared by the name of its samples.
pub(crate) fn write_older(families: Vec<Family>, out: &mut dyn Write) -> io::Result<()> {
    let counters = families.iter().filter(|one| one.kind == Kind::Counter);
    let counters: BTreeSet<_> = counters.map(|one| one.name).collect();
    let mut said = Vec::new();
    write(families, &mut said)?;
    for line in String::from_utf8_lossy(&said).lines() {
        match declared(line).filter(|(_, name, _)| counters.contains(name)) {
            Some((what, name, rest)) => writeln!(out, "# {what} {name}_total {rest}")?,
            None => writeln!(out, "{line}")?,
        }
    }
    Ok(())
}

/// A comment line's keyword, metric and text.
fn declared(line: &str) -> Option<(&str, &str, &str)> {
    let (what, rest) = line.strip_prefix("# ")?.split_once(' ')?;
    let (name, rest) = rest.split_once(' ')?;
    Some((what, name, rest))
}

/// Writes all metrics.
pub(crate) fn write(families: Vec<Family>, out: &mut dyn Write) -> io::Result<()> {
    let mut registry = Registry::default();
    registry.register_collector(Box::new(Metrics(families)));
    let mut said = String::new();
    text::encode(&mut said, &registry).map_err(io::Error::other)?;
    out.write_all(said.as_bytes())
}
