// Captures for the page to read.

// A capture of Ethernet without frames.
export function pcap() {
  const header = Buffer.alloc(24);
  header.writeUInt32LE(0xa1b2c3d4);
  header.writeUInt16LE(2, 4);
  header.writeUInt16LE(4, 6);
  header.writeUInt32LE(1, 20);
  return header;
}

// One whose frames say nothing, and take a while.
export function long(frames) {
  const record = Buffer.alloc(16 + 64);
  record.writeUInt32LE(64, 8);
  record.writeUInt32LE(64, 12);
  return Buffer.concat([pcap(), Buffer.concat(Array(frames).fill(record))]);
}

// Several captures of one interface each (pcapng of this machine's byte order) as one, as `tcpdump -i any` or dumpcap with several
// interfaces writes: frames in order of time, each with the number of its interface.
export function together(captures) {
  const interfaces = [], frames = [];
  captures.forEach((bytes, number) => {
    for (let at = 0; at < bytes.length; at += bytes.readUInt32LE(at + 4)) {
      const block = Buffer.from(bytes.subarray(at, at + bytes.readUInt32LE(at + 4)));
      if (block.readUInt32LE(0) === 1) interfaces.push(block);
      if (block.readUInt32LE(0) !== 6) continue;
      block.writeUInt32LE(number, 8);
      frames.push([(BigInt(block.readUInt32LE(12)) << 32n) | BigInt(block.readUInt32LE(16)), block]);
    }
  });
  frames.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
  const section = captures[0].subarray(0, captures[0].readUInt32LE(4));
  return Buffer.concat([section, ...interfaces, ...frames.map(([, block]) => block)]);
}
