//! Archives made by tar.

use std::io::Read;

use coalescope_unpack::tar::{Kind, Member, each_member};

use super::files::Files;
use super::found::Counted;
use super::place::{Folder, LEADS_OUT, Place};

impl Files<'_> {
    /// Goes through an archive.
    pub(super) fn archive(&mut self, place: &Place, reader: &mut dyn Read, nesting: usize) {
        let folder = place.folder.archive(&place.name);
        let read = each_member(reader, |member| {
            let goes_on = !self.is_over(&folder);
            if goes_on {
                self.member(&folder, member, nesting);
            }
            goes_on
        });
        if let Err(error) = read {
            let why = format!("the archive is cut or damaged here, or too large: {error}");
            self.found.named(&folder, folder.to_string(), why);
        }
    }

    fn member(&mut self, folder: &Folder, member: &mut Member<'_>, nesting: usize) {
        let Some(place) = Place::inside(folder, &member.name, self.limits.depth) else {
            let name = String::from_utf8_lossy(&member.name).into_owned();
            return self.found.named(folder, name, LEADS_OUT);
        };
        match member.kind {
            Kind::File => self.file(&place, member, nesting),
            Kind::Link => self.found.count(&place.folder, Counted::Link),
            Kind::Folder => {}
            Kind::Other => {
                let why = "a device, pipe or sparse file in an archive, not read";
                self.found.named(&place.folder, place.to_string(), why);
            }
        }
    }
}
