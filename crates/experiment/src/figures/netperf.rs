//! netperf: the tables of its classic tests, and the lines of its omni tests (`-k`, `-o`).

use super::Figure;
use super::number::number;
use crate::effects::Sense;
use std::collections::BTreeMap;

/// The figures of netperf's output; empty for other output. With `-P 0` there are only bare
/// numbers, which `wall_s` distinguishes from those of other programs: no test takes longer than
/// the command.
pub(super) fn figures(text: &str, wall_s: f64) -> Vec<Figure> {
    let omni = omni(text);
    if !omni.is_empty() {
        return omni;
    }
    classic(text, wall_s).into_iter().collect()
}

/// Names and values of an omni test: `-k` prints `NAME=value` lines, `-o` a line of names and one
/// of values. netperf has two spellings of each name, which are unified here.
fn omni(text: &str) -> Vec<Figure> {
    let pairs = text.lines().filter_map(|line| line.split_once('='));
    let mut values: BTreeMap<String, &str> = pairs
        .filter(|(name, _)| is_name(name))
        .map(|(name, value)| (name.to_owned(), value.trim()))
        .collect();
    if !values.contains_key("THROUGHPUT") {
        values = comma_separated(text);
    }
    let read = |name: &str| values.get(name).copied().unwrap_or_default();
    let Some(rate) = number(read("THROUGHPUT")) else {
        return Vec::new();
    };
    let mut figures = vec![throughput(rate, read("THROUGHPUT_UNITS"))];
    for (name, end) in [("LOCAL_SD", "local"), ("REMOTE_SD", "remote")] {
        let demand = number(read(name)).map(|demand| demand_of(end, demand, read("SD_UNITS")));
        figures.extend(demand.flatten());
    }
    figures
}

fn is_name(name: &str) -> bool {
    let plain =
        |letter: char| letter.is_ascii_uppercase() || letter.is_ascii_digit() || letter == '_';
    !name.is_empty() && name.chars().all(plain)
}

/// The last two lines, if the first of them is a line of names.
fn comma_separated(text: &str) -> BTreeMap<String, &str> {
    let mut lines = text.lines().rev().filter(|line| !line.trim().is_empty());
    let (Some(values), Some(names)) = (lines.next(), lines.next()) else {
        return BTreeMap::new();
    };
    let names: Vec<_> = names.split(',').map(of_words).collect();
    let values: Vec<_> = values.split(',').map(str::trim).collect();
    if names.len() != values.len() {
        return BTreeMap::new();
    }
    names.into_iter().zip(values).collect()
}

/// `Throughput Units` is `THROUGHPUT_UNITS`, `Local Service Demand` is `LOCAL_SD`.
fn of_words(words: &str) -> String {
    let name = words.trim().to_uppercase().replace(' ', "_");
    name.replace("SERVICE_DEMAND", "SD")
}

/// Throughput in bit/s, or transactions per second; for an unknown unit in netperf's own.
fn throughput(rate: f64, units: &str) -> Figure {
    let per_second = ["/s", "/sec"];
    let unit = per_second
        .iter()
        .find_map(|end| units.strip_suffix(end))
        .unwrap_or(units);
    if let Some((_, bits)) = UNITS.iter().find(|(known, _)| *known == unit) {
        return Figure::throughput(rate * bits);
    }
    match unit {
        "Trans" | "Tran" => transactions(rate),
        _ => Figure::new("netperf_throughput", units, Sense::Speed, rate),
    }
}

/// netperf's `-f`: powers of 10 for bits, of 2 for bytes (its `format_units`).
const UNITS: [(&str, f64); 6] = [
    ("10^3bits", 1e3),
    ("10^6bits", 1e6),
    ("10^9bits", 1e9),
    ("KBytes", 8.0 * 1024.0),
    ("MBytes", 8.0 * 1_048_576.0),
    ("GBytes", 8.0 * 1_073_741_824.0),
];

fn transactions(rate: f64) -> Figure {
    Figure::new("transactions_per_s", "1/s", Sense::Speed, rate)
}

/// The service demand; netperf prints a negative number where CPU was not measured.
fn demand_of(end: &str, demand: f64, units: &str) -> Option<Figure> {
    let name = match units {
        "us/KB" => format!("{end}_service_demand_us_per_kb"),
        _ => format!("{end}_service_demand"),
    };
    (demand >= 0.0).then(|| Figure::new(&name, units, Sense::Plain, demand))
}

/// The classic tests.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Test {
    Stream,
    Transactions,
}

fn classic(text: &str, wall_s: f64) -> Option<Figure> {
    let rows: Vec<_> = text.lines().filter_map(numbers).collect();
    if let Some(test) = banner(text) {
        return rows.iter().find_map(|row| figure(test, row, heads(text)));
    }
    let others = text.lines().filter(|line| !line.trim().is_empty()).count();
    let (test, row) = match rows.as_slice() {
        _ if others != rows.len() => return None,
        [row] => (Test::Stream, row),
        [row, sockets] if sockets.len() == 2 => (Test::Transactions, row),
        _ => return None,
    };
    let elapsed_s = row.get(elapsed(test))?.1;
    // One second of tolerance, for clocks that differ and a time that is rounded.
    let plausible = elapsed_s > 0.0 && elapsed_s <= wall_s + 1.0;
    figure(test, row, "").filter(|_| plausible && is_printed_so(test, row))
}

/// The test in the first line, which `-P 0` leaves out.
fn banner(text: &str) -> Option<Test> {
    let tests = [
        ("TCP STREAM TEST", Test::Stream),
        ("TCP MAERTS TEST", Test::Stream),
        ("TCP REQUEST/RESPONSE TEST", Test::Transactions),
        ("TCP Connect/Request/Response TEST", Test::Transactions),
    ];
    let known = |(words, test): (&str, Test)| text.contains(words).then_some(test);
    tests.into_iter().find_map(known)
}

/// The unit of the throughput, from the last head of the table: `10^6bits/sec`, `KBytes  /sec`.
fn heads(text: &str) -> &str {
    let words = text.split_whitespace();
    let mut units = words.map(|word| word.split_once('/').map_or(word, |(unit, _)| unit));
    let known = |unit: &&str| UNITS.iter().any(|(known, _)| known == unit);
    units.find(known).unwrap_or_default()
}

/// The words of a line that has nothing but numbers.
fn numbers(line: &str) -> Option<Vec<(&str, f64)>> {
    let words = line.split_whitespace();
    let row: Vec<_> = words
        .map(|word| Some((word, number(word)?)))
        .collect::<Option<_>>()?;
    (!row.is_empty()).then_some(row)
}

/// Columns before the time: receive and send socket, message; or send and receive socket, request
/// and response.
fn elapsed(test: Test) -> usize {
    match test {
        Test::Stream => 3,
        Test::Transactions => 4,
    }
}

/// With CPU measurement there are four more columns.
fn figure(test: Test, row: &[(&str, f64)], unit: &str) -> Option<Figure> {
    let at = elapsed(test) + 1;
    let rate = row.get(at)?.1;
    let whole = row.len() == at + 1 || row.len() == at + 5;
    let of_rate = || match (test, unit) {
        (Test::Transactions, _) => transactions(rate),
        (Test::Stream, "") => throughput(rate, "10^6bits/s"),
        (Test::Stream, unit) => throughput(rate, unit),
    };
    whole.then(of_rate)
}

/// Whether a row has netperf's format: sizes are whole numbers; time and rate have two decimals.
fn is_printed_so(test: Test, row: &[(&str, f64)]) -> bool {
    let (sizes, rest) = row.split_at_checked(elapsed(test)).unwrap_or_default();
    let whole = |word: &str| word.bytes().all(|byte| byte.is_ascii_digit());
    let fixed = |word: &str| word.split_once('.').is_some_and(|(_, end)| end.len() == 2);
    let mut rest = rest.iter().take(2);
    sizes.iter().all(|(word, _)| whole(word)) && rest.all(|(word, _)| fixed(word))
}
