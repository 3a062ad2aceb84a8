//! Whether IPv4 identifications continue as a profile requires.

use crate::frame::held::{Held, Identifications, NO_IPV4, id_at};
use crate::gso::IdRun;
use crate::profile::{IpId, Profile};
use crate::reason::Reason;
use crate::rules::join::Join;

/// Checks whether all identifications of a frame fit the held ones.
pub(crate) fn identifications(
    profile: &Profile,
    held: &Held,
    frame: &[u8],
    join: Join,
) -> Result<(), Reason> {
    let Some(rules) = &profile.ipv4 else {
        return Ok(());
    };
    for (level, ids) in held.ids.iter().enumerate() {
        if ids.ip == NO_IPV4 {
            continue;
        }
        let id = id_at(frame, ids.ip);
        let df = frame
            .get(usize::from(ids.ip) + 6)
            .is_some_and(|byte| byte & 0x40 != 0);
        let count = held.segments as u16;
        let step = match join {
            Join::InFront => Step::InFront,
            _ => Step::Behind { count },
        };
        if !follows(rules.id, ids, id, df, step, level == 0) {
            return Err(Reason::IpId);
        }
    }
    Ok(())
}

/// Where a segment is to join, as the check of identifications needs it.
#[derive(Clone, Copy)]
pub(crate) enum Step {
    Behind { count: u16 },
    InFront,
}

/// Whether the identification of one IPv4 header fits the held ones.
#[inline(always)]
pub(crate) fn follows(
    rule: IpId,
    ids: &Identifications,
    id: u16,
    df: bool,
    step: Step,
    outer: bool,
) -> bool {
    let ahead = id.wrapping_sub(ids.first);
    let (increasing, second) = match step {
        Step::InFront => (ahead == u16::MAX, false),
        Step::Behind { count } => (ahead == count, count == 1),
    };
    let fixed = ahead == 0 && (second || ids.run == IdRun::Fixed);
    match rule {
        IpId::Ignored => true,
        IpId::IncreasingWithoutDf => df || increasing,
        IpId::IncreasingWithDf => df && increasing,
        IpId::IncreasingOrFixedWithDf if outer && df => true,
        IpId::IncreasingOrFixedWithDf => runs(ids, increasing, fixed && df),
        IpId::IncreasingOrFixed => runs(ids, increasing, fixed),
    }
}

/// Once fixed, always fixed: an increase after it does not count from the first.
#[inline(always)]
fn runs(ids: &Identifications, increasing: bool, fixed: bool) -> bool {
    fixed || (increasing && ids.run == IdRun::Increasing)
}
