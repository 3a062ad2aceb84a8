//! Who takes part.

use std::cell::RefCell;
use std::io;
use std::rc::Rc;

use gro::Profile;

use crate::engine::Engine;
use crate::floor::Floor;
use crate::frames::{Frames, Layout, STRIDE};
use crate::id::Id;
use crate::options::Options;
use crate::ours::{Copying, ZeroCopy};
use crate::peer::{Peer, dpdk_segments};
use crate::report::Mode;
use crate::tunrs::TunRs;

/// All engines of a mode that can be had, with room for so many packets.
pub(crate) fn engines(
    options: &Options,
    mode: &Mode,
    most: usize,
) -> io::Result<Vec<Box<dyn Engine>>> {
    let layout = Layout {
        link: mode.link,
        headroom: 0,
        stride: STRIDE,
    };
    let mut lineup = Lineup {
        options,
        most,
        frames: Rc::new(RefCell::new(Frames::new(layout, most)?)),
        dpdk: Profile::dpdk_gro(),
    };
    // Peers first: the version of DPDK decides on our rules.
    let ids = mode.peers.iter().chain(mode.ours).chain(mode.floors);
    ids.filter_map(|&id| lineup.engine(id).transpose())
        .collect()
}

struct Lineup<'a> {
    options: &'a Options,
    most: usize,
    /// Those of all engines here that leave them as they are.
    frames: Rc<RefCell<Frames>>,
    dpdk: Profile,
}

impl Lineup<'_> {
    /// An engine; `None` if it cannot be had.
    fn engine(&mut self, id: Id) -> io::Result<Option<Box<dyn Engine>>> {
        let frames = &self.frames;
        Ok(Some(match id {
            Id::OursDpdk | Id::OursTable => Box::new(ZeroCopy::new(id, self.dpdk, frames)),
            Id::OursLinux => Box::new(ZeroCopy::new(id, linux(), frames)),
            Id::OursVerify => Box::new(ZeroCopy::new(id, Profile::wireguard(), frames).verifying()),
            Id::OursCopy128 => Box::new(Copying::new(id, 128, frames)),
            Id::OursCopy64 => Box::new(Copying::new(id, 64, frames)),
            Id::DpdkBurst | Id::DpdkTable => return self.peer(id, self.options.dpdk.as_ref()),
            Id::WireguardGo | Id::Tailscale | Id::Gvisor => {
                return self.peer(id, self.options.go.as_ref());
            }
            Id::TunRs => {
                println!("- {}: {}", id.title(), TunRs::VERSION);
                Box::new(TunRs::new(self.most)?)
            }
            Id::FloorHeaders | Id::FloorRead | Id::FloorCopy | Id::FloorBoth => {
                Box::new(Floor::new(id, frames))
            }
        }))
    }

    /// Starts a peer, or says why not.
    fn peer(&mut self, id: Id, program: Option<&String>) -> io::Result<Option<Box<dyn Engine>>> {
        let Some(program) = program else {
            println!("- {}: not built, left out", id.title());
            return Ok(None);
        };
        let peer = Peer::new(id, program, self.most)?;
        println!("- {}: {}", id.title(), peer.version);
        if id == Id::DpdkBurst {
            self.dpdk.limits.segments = dpdk_segments(&peer.version);
        }
        Ok(Some(Box::new(peer)))
    }
}

/// Linux' rules, with the flows in one bucket, so that no hash decides what is merged.
fn linux() -> Profile {
    let mut profile = Profile::linux_gro();
    (profile.table.buckets, profile.table.per_bucket) = (1, 128);
    profile
}
