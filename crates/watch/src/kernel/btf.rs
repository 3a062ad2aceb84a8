//! Names of the kernel's drop reasons, from its type information (BTF): their numbers differ from
//! version to version.
//!
//! The format: Documentation/bpf/btf.rst of Linux.

use std::collections::BTreeMap;

/// Where the kernel has its own types.
pub(super) const BTF: &str = "/sys/kernel/btf/vmlinux";

const ENUM: &str = "skb_drop_reason";
const PREFIX: &str = "SKB_DROP_REASON_";

/// Kinds of types, and the number of bytes after each type's head.
const HEAD: usize = 12;
const KIND_ENUM: u32 = 6;

/// Why drop reasons have no names.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum NoReasons {
    /// The kernel has none.
    #[error("kernels before 5.17 tell only where")]
    Old,
    /// A type of a kind whose length is not known: what follows it cannot be found.
    #[error(
        "the kernel's types (BTF) have one of kind {0}, which this version of coalescope does not know: \
         a newer one may"
    )]
    Kind(u32),
    /// The types end before their end.
    #[error("the kernel's types (BTF) are damaged")]
    Damaged,
}

/// Names by number, without their common prefix.
pub(super) fn reasons(btf: &[u8]) -> Result<BTreeMap<u32, String>, NoReasons> {
    let (types, strings) = sections(btf).ok_or(NoReasons::Damaged)?;
    let members = find(types, strings)?;
    let names = members.chunks_exact(8).filter_map(|member| {
        let name = text(strings, number(member, 0)?)?;
        let name = name.strip_prefix(PREFIX).unwrap_or(name);
        Some((number(member, 4)?, name.to_owned()))
    });
    Ok(names.collect())
}

/// Types, and their strings.
fn sections(btf: &[u8]) -> Option<(&[u8], &[u8])> {
    let word = |at: usize| Some(u32::from_ne_bytes(btf.get(at..at + 4)?.try_into().ok()?));
    let size = |at: usize| word(at).and_then(|word| usize::try_from(word).ok());
    let header = size(4)?;
    let types = header.checked_add(size(8)?)?;
    let types = btf.get(types..types.checked_add(size(12)?)?)?;
    let strings = header.checked_add(size(16)?)?;
    let strings = btf.get(strings..strings.checked_add(size(20)?)?)?;
    Some((types, strings))
}

/// The members of the enum of drop reasons.
fn find<'a>(types: &'a [u8], strings: &[u8]) -> Result<&'a [u8], NoReasons> {
    let mut rest = types;
    while !rest.is_empty() {
        let (name, kind, length) = head(rest)?;
        let ends = rest
            .get(HEAD..)
            .and_then(|body| body.split_at_checked(length));
        let (body, next) = ends.ok_or(NoReasons::Damaged)?;
        if kind == KIND_ENUM && text(strings, name) == Some(ENUM) {
            return Ok(body);
        }
        rest = next;
    }
    Err(NoReasons::Old)
}

/// The name and the kind of the first type, and the number of bytes after its head.
fn head(types: &[u8]) -> Result<(u32, u32, usize), NoReasons> {
    let word = |at| number(types, at).ok_or(NoReasons::Damaged);
    let (name, info) = (word(0)?, word(4)?);
    let (kind, members) = ((info >> 24) & 0x1f, (info & 0xffff) as usize);
    let length = body_bytes(kind, members).ok_or(NoReasons::Kind(kind))?;
    Ok((name, kind, length))
}

/// Number of bytes after the head of a type; none for an unknown kind, after which the next type cannot be found.
fn body_bytes(kind: u32, members: usize) -> Option<usize> {
    Some(match kind {
        // Pointers, forward declarations, typedefs, qualifiers, functions, floats, type tags.
        2 | 7..=12 | 16 | 18 => 0,
        // Integers, variables, declaration tags.
        1 | 14 | 17 => 4,
        // Arrays.
        3 => 12,
        // Structures, unions, sections, enums of 64 bits.
        4 | 5 | 15 | 19 => members * 12,
        // Enums, prototypes of functions.
        KIND_ENUM | 13 => members * 8,
        _ => return None,
    })
}

fn number(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_ne_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

fn text(strings: &[u8], at: u32) -> Option<&str> {
    let rest = strings.get(at as usize..)?;
    let end = rest.iter().position(|byte| *byte == 0)?;
    std::str::from_utf8(rest.get(..end)?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kernel() -> Option<Vec<u8>> {
        let file = std::fs::read("/sys/kernel/btf/vmlinux");
        needs::had("names of reasons", file)
    }

    use coalescope_needs as needs;

    #[test]
    fn this_kernels_reasons_have_names() {
        let Some(btf) = kernel() else { return };
        let Some(reasons) = needs::had("names of reasons", reasons(&btf)) else {
            return;
        };
        assert!(reasons.values().any(|name| name == "NETFILTER_DROP"));
        assert!(reasons.values().any(|name| name == "NOT_SPECIFIED"));
    }

    #[test]
    fn a_description_that_is_cut_is_damaged() {
        let Some(btf) = kernel() else { return };
        for length in [0, 7, 23, 24, 1000, btf.len() / 2] {
            assert_eq!(reasons(&btf[..length]), Err(NoReasons::Damaged), "{length}");
        }
    }

    /// Types of these kinds and numbers of members, each with a body of this many bytes, and strings.
    fn described(types: &[(u32, u32, u32, &[u32])], strings: &[u8]) -> Vec<u8> {
        let mut words = Vec::new();
        for (name, kind, members, body) in types {
            words.extend([*name, kind << 24 | members, 4]);
            words.extend(*body);
        }
        let length = 4 * words.len() as u32;
        let head = [0x0001_eb9f, 24, 0, length, length, strings.len() as u32];
        let all = head.into_iter().chain(words).flat_map(u32::to_ne_bytes);
        all.chain(strings.iter().copied()).collect()
    }

    #[test]
    fn a_kind_that_is_not_known_is_named() {
        let strings = b"\0skb_drop_reason\0SKB_DROP_REASON_XDP\0";
        let integer = (0, 1, 0, [0].as_slice());
        let wanted = (1, KIND_ENUM, 1, [17, 72].as_slice());
        let newer = (0, 21, 0, [7, 7].as_slice());
        let names = BTreeMap::from([(72, "XDP".to_owned())]);
        let told = |types: &[_]| reasons(&described(types, strings));
        assert_eq!(told(&[integer, wanted]), Ok(names.clone()));
        assert_eq!(told(&[integer, wanted, newer]), Ok(names));
        assert_eq!(told(&[integer, newer, wanted]), Err(NoReasons::Kind(21)));
        assert_eq!(told(&[integer]), Err(NoReasons::Old));
    }
}
