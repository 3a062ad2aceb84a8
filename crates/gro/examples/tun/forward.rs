//! What a VPN does between its TUN device and its tunnel, and back: this file is there to be copied.
//! `docs/tun.md` of the repository walks through it.

use std::io::{self, IoSlice};
use std::net::Ipv4Addr;

use gro::split::{SplitSettings, Splitter};
use gro::virtio::{VirtioForm, VirtioNetHeader};
use gro::{BatchCoalescer, ByteSink, LinkType, OutgoingBytes, Profile, Settings, Verification};
use tun_rs::{DeviceBuilder, Layer, SyncDevice};

/// The header in front of each packet of a TUN device that was opened with `IFF_VNET_HDR`.
const HEADER: VirtioForm = VirtioForm::LEGACY;
/// The longest that is read: that header, and the longest IP packet.
const LONGEST: usize = HEADER.len() + 65_535;
/// Packets of one batch, at about which reading goes on in the next one. Merging needs several of a
/// flow in one batch; waiting for more than are there would cost latency.
const BATCH: usize = 128;

/// Opens a TUN device that takes and gives merged packets, in the calling thread's network namespace,
/// with an address of a network of 256.
pub(crate) fn open(name: &str, mtu: u16, address: Ipv4Addr) -> io::Result<SyncDevice> {
    let builder = DeviceBuilder::new().name(name).mtu(mtu).layer(Layer::L3);
    let builder = builder.ipv4(address, 24, None);
    // IFF_VNET_HDR, and TUNSETOFFLOAD with checksums and TSO: the kernel then hands over up to 64 KB of
    // a TCP stream as one packet, and takes the same.
    let device = builder.offload(true).build_sync()?;
    device.set_nonblocking(true)?;
    Ok(device)
}

/// What was counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    /// Packets that the kernel gave, and those of them that were merged.
    pub(crate) read: u64,
    pub(crate) read_merged: u64,
    /// Segments that went through the tunnel.
    pub(crate) segments: u64,
    /// Packets that the kernel got, and those of them that were merged.
    pub(crate) written: u64,
    pub(crate) written_merged: u64,
    /// Packets that contradict themselves or that the kernel did not take: lost, as on any line.
    pub(crate) lost: u64,
}

/// One direction.
pub(crate) struct Forwarder {
    /// `None` hands each segment on by itself.
    merger: Option<BatchCoalescer>,
    packet: Vec<u8>,
    /// The segments of a batch; buffers behind `used` wait to be used again.
    segments: Vec<Vec<u8>>,
    used: usize,
    pub(crate) counts: Counts,
}

impl Forwarder {
    /// `merges`: whether segments are merged before they are written.
    pub(crate) fn new(merges: bool) -> Self {
        let settings = Settings {
            // A TUN device has no Ethernet header.
            link: LinkType::Raw,
            // A packet that merges with none is written as it is, and the kernel verifies it; it is not
            // read here. `Trusted` is for tunnels whose far end is known to send no wrong checksum.
            verification: Verification::WhenMerging,
            // Checksums of merged packets are the pseudo-header's sum: the kernel does the rest, if it is
            // ever needed.
            ..Settings::default()
        };
        Self {
            merger: merges.then(|| BatchCoalescer::new(&Profile::wireguard(), settings)),
            packet: vec![0; LONGEST],
            segments: Vec::new(),
            used: 0,
            counts: Counts::default(),
        }
    }

    /// Forwards all that waits in `from`. Where this says `read` a VPN would encrypt and send the
    /// segments, where it says `write` it would have received and decrypted them.
    pub(crate) fn run(&mut self, from: &SyncDevice, to: &SyncDevice) -> io::Result<()> {
        while self.read(from)? {
            self.write(to);
        }
        Ok(())
    }

    /// Reads packets until there is a batch of segments, or no more; whether there is any.
    fn read(&mut self, from: &SyncDevice) -> io::Result<bool> {
        self.used = 0;
        while self.used < BATCH {
            match from.recv(&mut self.packet) {
                Ok(len) => self.cut(len),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(self.used > 0)
    }

    /// Cuts a packet into the segments of which it was made: no tunnel carries 64 KB.
    fn cut(&mut self, len: usize) {
        self.counts.read += 1;
        let mut packet = std::mem::take(&mut self.packet);
        if self
            .segments_of(packet.get_mut(..len).unwrap_or_default())
            .is_none()
        {
            self.counts.lost += 1;
        }
        self.packet = packet;
    }

    fn segments_of(&mut self, packet: &mut [u8]) -> Option<()> {
        let (header, packet) = packet.split_at_mut_checked(HEADER.len())?;
        let header = VirtioNetHeader::decode(header, HEADER).ok()?;
        // All that a header can say wrongly is looked at here: it comes from another program's socket.
        let Some(gso) = header.gso(LinkType::Raw, packet).ok()? else {
            // One segment. The kernel leaves its checksum to the device, which this program is.
            header.complete_checksum(packet).ok()?;
            self.segment().extend_from_slice(packet);
            return Some(());
        };
        let settings = SplitSettings {
            link: LinkType::Raw,
            ..SplitSettings::default()
        };
        let mut splitter = Splitter::new(packet, gso, settings).ok()?;
        while let Some(segment) = splitter.next_segment() {
            segment.copy_to(self.segment());
        }
        self.counts.read_merged += 1;
        Some(())
    }

    /// An empty buffer for the next segment.
    fn segment(&mut self) -> &mut Vec<u8> {
        if self.used == self.segments.len() {
            self.segments.push(Vec::new());
        }
        self.used += 1;
        self.counts.segments += 1;
        let buffer = &mut self.segments[self.used - 1];
        buffer.clear();
        buffer
    }

    /// Merges the segments of the batch, and writes what comes of them. Nothing is held until the next
    /// batch: a packet waits no longer than those that were read with it.
    fn write(&mut self, to: &SyncDevice) {
        let segments: Vec<&[u8]> = self.segments[..self.used]
            .iter()
            .map(Vec::as_slice)
            .collect();
        let counts = &mut self.counts;
        let mut writer = Writer { to, counts };
        match &mut self.merger {
            Some(merger) => merger.run(&segments, &mut writer),
            None => segments
                .into_iter()
                .for_each(|segment| writer.single(segment)),
        }
    }
}

/// Writes what comes out of the merger to a device.
struct Writer<'a> {
    to: &'a SyncDevice,
    counts: &'a mut Counts,
}

impl ByteSink for Writer<'_> {
    fn take(&mut self, out: OutgoingBytes<'_>) {
        let Some(gso) = out.about.gso else {
            return self.single(out.bytes);
        };
        // The segment size goes with the packet. To lose it here is what the incidents of this
        // project are about.
        let header = VirtioNetHeader::for_merged(LinkType::Raw, out.bytes, &gso);
        let written = header.is_ok_and(|header| self.put(&header, out.bytes));
        self.count(true, written);
    }
}

impl Writer<'_> {
    /// Writes a packet that is not merged.
    fn single(&mut self, packet: &[u8]) {
        let written = self.put(&VirtioNetHeader::default(), packet);
        self.count(false, written);
    }

    /// Writes a packet behind its header; whether the kernel took it.
    fn put(&self, header: &VirtioNetHeader, packet: &[u8]) -> bool {
        let bytes = header.to_bytes(HEADER.endian);
        let pieces = [IoSlice::new(&bytes[..HEADER.len()]), IoSlice::new(packet)];
        self.to.send_vectored(&pieces).is_ok()
    }

    fn count(&mut self, merged: bool, written: bool) {
        self.counts.written += u64::from(written);
        self.counts.written_merged += u64::from(written && merged);
        self.counts.lost += u64::from(!written);
    }
}
