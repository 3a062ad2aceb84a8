//! An archive changes nothing: captures are cut at random places into files, rows of these sorted into a random number of
//! shards, and the facts of the shards judged. What comes out is what one trace of the captures says.

use anyhow::{Context, Result, ensure};
use coalescope_archive::{
    Error, Facts, Place, PointFile, ShardBatch, digest, facts_of, judge as judge_facts,
    shards_with_fragments,
};
use coalescope_capture::Options;
use coalescope_capture::facts::Trace;
use coalescope_knowledge::{judge, judge_pair};
use coalescope_simulate::{Element, Format, rotated};

use crate::analyse::{input, source};
use crate::case::Case;
use crate::dice::Dice;
use crate::plan::Plan;

/// The most files that a capture is cut into, and the most shards.
const MOST: u64 = 64;

/// A capture in pieces.
struct Pieces {
    name: String,
    files: Vec<Vec<u8>>,
}

/// What one trace of the captures says and an archive of them does not, if there is anything.
pub(crate) fn change_by_archive(plan: &Plan, number: u64) -> Result<Option<String>> {
    let (family, seed) = (plan.family(number), plan.seed(number));
    let mut case = Case::draw(family, seed, &plan.disturb);
    as_can_be_cut(&mut case);
    let mut dice = Dice::new("archives", seed);
    let captures = case.play().captures;
    let shards = dice.whole(1..=MOST) as u32;
    let points: Vec<Pieces> = captures
        .iter()
        .map(|(name, bytes)| cut(name, bytes, &mut dice))
        .collect();
    let options = Options {
        separate: case.is_comparison(),
        ..Options::default()
    };
    let inputs = points
        .iter()
        .map(|point| input(&point.name, &point.files))
        .collect::<Result<_>>()?;
    let whole = coalescope_capture::trace(inputs, &options, &mut |_| {})?;
    let archived = archived(&points, shards, &options)?;
    let differ = difference(&words(&whole, &options)?, &words(&archived, &options)?);
    Ok(differ.map(|differ| format!("{}: {differ}", plan.which(number))))
}

/// Formats that the simulator can cut: each point a file of its own, of pcap.
fn as_can_be_cut(case: &mut Case) {
    case.in_one_file = false;
    for element in case.scenarios().flat_map(|run| &mut run.path) {
        if let Element::Point(point) = element
            && point.own.is_none()
        {
            point.format = Format::default();
        }
    }
}

fn cut(name: &str, bytes: &[u8], dice: &mut Dice) -> Pieces {
    let is_pcap = bytes.starts_with(&0xa1b2_c3d4_u32.to_le_bytes());
    let pieces = if is_pcap { dice.whole(1..=MOST) } else { 1 };
    let cuts: Vec<f64> = (1..pieces).map(|_| dice.between(0.0, 1.0)).collect();
    let files = match is_pcap {
        true => rotated(bytes, &cuts),
        false => vec![bytes.to_vec()],
    };
    let name = name.to_owned();
    Pieces { name, files }
}

/// What an archive of the pieces says: facts of each shard by itself where that can be, else of all together.
fn archived(points: &[Pieces], shards: u32, options: &Options) -> Result<Trace> {
    let (rows, files) = digested(points, shards)?;
    let parts = (0..shards_with_fragments(shards)).rev();
    let by_parts = parts.map(|shard| facts(&rows, &files, Some(shard), options));
    let by_parts = by_parts.collect::<Result<Vec<_>, Error>>();
    let judged = by_parts.and_then(|parts| {
        let mut all = Facts::default();
        parts.into_iter().for_each(|part| all.add(part));
        judge_facts(&all, &files)
    });
    match judged {
        Err(Error::Together) => {
            let together = facts(&rows, &files, None, options)?;
            Ok(judge_facts(&together, &files)?.trace)
        }
        judged => Ok(judged?.trace),
    }
}

/// Facts of a shard, or of all: rows come in any order.
fn facts(
    rows: &[ShardBatch],
    files: &[PointFile],
    shard: Option<u32>,
    options: &Options,
) -> Result<Facts, Error> {
    let wanted = rows.iter().rev();
    let wanted = wanted.filter(|batch| shard.is_none_or(|shard| batch.shard == shard));
    let batches: Vec<_> = wanted.map(|batch| batch.rows.clone()).collect();
    facts_of(&batches, files, shard, options)
}

fn digested(points: &[Pieces], shards: u32) -> Result<(Vec<ShardBatch>, Vec<PointFile>)> {
    let (mut rows, mut ends) = (Vec::new(), Vec::new());
    for (point, pieces) in (0..).zip(points) {
        for (file, bytes) in (0..).zip(&pieces.files) {
            let place = Place {
                point,
                point_name: pieces.name.clone(),
                file,
                points: points.len() as u16,
                shards,
            };
            let (name, source) = source(&pieces.name, file as usize, bytes)?;
            let mut digest = digest(name, source, place);
            for batch in &mut digest {
                rows.push(batch?);
            }
            ends.push(digest.finish());
        }
    }
    Ok((rows, ends))
}

/// All that was found, and what it means.
fn words(trace: &Trace, options: &Options) -> Result<String> {
    let diagnosis = match options.separate {
        true => judge_pair(trace).context("nothing to compare")?.1,
        false => judge(trace),
    };
    ensure!(!trace.points.is_empty(), "no points");
    Ok(format!("{trace:#?}\n{diagnosis:#?}"))
}

/// The first line that differs.
fn difference(one: &str, other: &str) -> Option<String> {
    let mut lines = one.lines().zip(other.lines());
    let differ = lines.find(|(one, other)| one != other);
    let differ = differ.map(|(one, other)| {
        format!(
            "{} by one trace, {} by an archive",
            one.trim(),
            other.trim()
        )
    });
    differ.or_else(|| (one.len() != other.len()).then(|| "one has more lines".to_owned()))
}
