//! Text as mail carries it: quoted-printable (RFC 2045 section 6.7), as a message that was saved has it.

/// Lines at the head of a message.
const HEADERS: usize = 100;

/// The text, decoded if its head says that it is quoted-printable.
pub(super) fn decoded(text: String) -> String {
    let mut head = text.lines().take(HEADERS);
    let is_encoded = head.any(|line| {
        let line = line.to_ascii_lowercase();
        line.starts_with("content-transfer-encoding:") && line.ends_with("quoted-printable")
    });
    if is_encoded { decode(&text) } else { text }
}

fn decode(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let bare = line.trim_end();
        let soft = bare.strip_suffix('=');
        unescape(soft.unwrap_or(bare), &mut bytes);
        if soft.is_none() {
            bytes.push(b'\n');
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// `=3D` is `=`; what is no such pair stays.
fn unescape(line: &str, to: &mut Vec<u8>) {
    let mut parts = line.split('=');
    to.extend(parts.next().unwrap_or_default().bytes());
    for part in parts {
        let code = part
            .get(..2)
            .and_then(|pair| u8::from_str_radix(pair, 16).ok());
        match code {
            Some(byte) => {
                to.push(byte);
                to.extend(part[2..].bytes());
            }
            None => to.extend([b"=", part.as_bytes()].concat()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_joined_and_signs_restored_where_the_head_says_so() {
        let head = "Content-Transfer-Encoding: quoted-printable\n\n";
        let text = format!(
            "{head}net.ipv4.ip_forward =3D 1\n2: eth0: <UP> mt=\nu 1500 Gr=C3=B6=C3=9Fe =zz\n"
        );
        let expected = format!("{head}net.ipv4.ip_forward = 1\n2: eth0: <UP> mtu 1500 Größe =zz\n");
        assert_eq!(decoded(text), expected);
        let other = "a =3D b=\nc\n".to_owned();
        assert_eq!(decoded(other.clone()), other);
    }
}
