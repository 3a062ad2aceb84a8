// What strangers wrote, with markup and scripts in it: names of files, interfaces and hosts, comments, bytes of frames.

// Would be seen as an element, or heard, wherever it is taken for markup: as it stands, at the end of an attribute, in a script.
const OWNED = `parent.postMessage("owned","*")`;
export const MARK = "x-mark";
export const NAMES = [`<${MARK}>`, `"'><${MARK} onclick=1>`, `<img src=x onerror=${OWNED}>`, `<!--`, `&lt;${MARK}&gt;&#60;${MARK}>`];
const SCRIPT = `</script></title></style><${MARK}><script>${OWNED}</script>`;
const MARKUP = NAMES.join("") + SCRIPT;

const padded = (bytes) => Buffer.concat([bytes, Buffer.alloc(-bytes.length & 3)]);

// An option of pcapng: https://www.ietf.org/archive/id/draft-ietf-opsawg-pcapng-02.html, section 3.5.
function option(code, text) {
  const value = Buffer.from(text), head = Buffer.alloc(4);
  head.writeUInt16LE(code);
  head.writeUInt16LE(value.length, 2);
  return padded(Buffer.concat([head, value]));
}

function block(kind, body) {
  const head = Buffer.alloc(8), tail = Buffer.alloc(4);
  head.writeUInt32LE(kind);
  for (const [at, where] of [[4, head], [0, tail]]) where.writeUInt32LE(body.length + 12, at);
  return Buffer.concat([head, body, tail]);
}

// A capture (pcapng of this machine's byte order) whose section and interfaces have such names and comments (if_name 2, if_description 3,
// opt_comment 1, shb_userappl 4); and a block of names (4) in which an address has one: 192.0.2.1.
export function marked(bytes, number) {
  const made = [];
  for (let at = 0; at < bytes.length; at += bytes.readUInt32LE(at + 4)) {
    const kind = bytes.readUInt32LE(at), body = bytes.subarray(at + 8, at + bytes.readUInt32LE(at + 4) - 4);
    const fixed = { 0x0a0d0d0a: 16, 1: 8 }[kind];
    if (!fixed) {
      made.push(block(kind, kind === 6 ? written(body) : body));
      continue;
    }
    const told = kind === 1 ? [option(2, `${number}${MARKUP}`), option(3, MARKUP)] : [option(4, MARKUP)];
    // What is told last counts; four zeros end a list.
    made.push(block(kind, Buffer.concat([body.subarray(0, fixed), body.subarray(fixed, -4), option(1, MARKUP), ...told, Buffer.alloc(4)])));
  }
  const record = Buffer.concat([Buffer.from([192, 0, 2, 1]), Buffer.from(`${MARKUP}\0`)]), head = Buffer.alloc(4);
  head.writeUInt16LE(1);
  head.writeUInt16LE(record.length, 2);
  made.push(block(4, Buffer.concat([head, padded(record), Buffer.alloc(4)])));
  return Buffer.concat(made);
}

// The last bytes of a long frame, as a name of a server or a page stands in it.
function written(body) {
  const changed = Buffer.from(body), kept = body.readUInt32LE(12);
  if (kept > 200 + MARKUP.length) changed.write(MARKUP, 20 + kept - MARKUP.length, "latin1");
  return changed;
}

// Bytes changed here and there, each time the same: lengths, kinds, headers.
export function broken(bytes, seed) {
  const changed = Buffer.from(bytes);
  let state = seed;
  const next = (below) => { state = (Math.imul(state, 1664525) + 1013904223) >>> 0; return Math.floor((state / 2 ** 32) * below); };
  for (let n = 0; n < 40; n++) changed[next(changed.length)] = next(256);
  return seed % 2 ? changed.subarray(0, next(changed.length)) : changed;
}

// What a host printed, and the names in it. An interface has no blank in its name, and what has one is no line of that command.
export function printed() {
  const one = `"'><${MARK}/onclick=1>`;
  return [
    `Linux <${MARK}> 6.12.0 #1 SMP x86_64 GNU/Linux\n`,
    `root@router:~# ethtool -k ${one}\nFeatures for ${one}:\ngeneric-receive-offload: on\nlarge-receive-offload: on\n`,
    `root@router:~# ethtool -i ${one}\ndriver: <${MARK}>\nversion: ${SCRIPT}\nfirmware-version: ${MARKUP}\n`,
    `root@router:~# sysctl net.ipv4.ip_forward\nnet.ipv4.ip_forward = 1\n`,
    `root@router:~# ip -d link show\n2: ${one}: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc mq state UP mode DEFAULT group default qlen 1000\n    link/ether 02:00:00:00:00:01 brd ff:ff:ff:ff:ff:ff promiscuity 0 alias ${SCRIPT}\n`,
  ].join("");
}
