//! What Linux GRO did differently before 6.18, one case for each change.

use super::run::{BOTH, case, check_under};
use crate::build::{data, flag};

const ERAS: &[&str] = &["linux-gro", "linux-gro-4.6", "linux-gro-2.6"];

/// `tcp_gro_receive` left CWR out of what it compares until 6.15; one on the new segment has always kept it from joining.
#[test]
fn a_segment_without_cwr_joined_one_with_it_until_6_15() {
    check_under(
        ERAS,
        &[
            case(
                "CWR on the first of two",
                BOTH,
                [data(100).flags(flag::CWR), data(100)],
            )
            .out(&["linux-gro"], [100, 100])
            .out(&["linux-gro-4.6", "linux-gro-2.6"], [200]),
            case(
                "CWR on the second of two",
                BOTH,
                [data(100), data(100).flags(flag::CWR)],
            )
            .out(ERAS, [100, 100]),
        ],
    );
}

/// One list of all flows, of at most eight (`MAX_GRO_SKBS`), until the hash table of 4.19.
#[test]
fn before_4_19_eight_flows_were_held_in_all() {
    use gro::Profile;
    let held = |profile: Profile| profile.table.buckets * profile.table.per_bucket;
    assert_eq!(held(Profile::linux_gro_2_6()), 8);
    assert_eq!(held(Profile::linux_gro_4_6()), 64);
}
