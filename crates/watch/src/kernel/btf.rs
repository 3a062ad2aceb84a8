//! Names of the kernel's drop reasons, from its type information (BTF): their numbers differ from
//! version to version.
//!
//! The format: Documentation/bpf/btf.rst of Linux.

use std::collections::BTreeMap;

const ENUM: &str = "skb_drop_reason";
const PREFIX: &str = "SKB_DROP_REASON_";

/// Kinds of types, and the number of bytes after each type's head.
const HEAD: usize = 12;
const KIND_ENUM: u32 = 6;

/// Names by number, without their common prefix; none if the kernel has no drop reasons (before 5.17).
pub(super) fn reasons(btf: &[u8]) -> Option<BTreeMap<u32, String>> {
    let word = |at: usize| Some(u32::from_ne_bytes(btf.get(at..at + 4)?.try_into().ok()?));
    let size = |at: usize| word(at).and_then(|word| usize::try_from(word).ok());
    let header = size(4)?;
    let types = header.checked_add(size(8)?)?;
    let types = btf.get(types..types.checked_add(size(12)?)?)?;
    let strings = header.checked_add(size(16)?)?;
    let strings = btf.get(strings..strings.checked_add(size(20)?)?)?;
    let members = find(types, strings)?;
    let names = members.chunks_exact(8).filter_map(|member| {
        let name = text(strings, number(member, 0)?)?;
        let name = name.strip_prefix(PREFIX).unwrap_or(name);
        Some((number(member, 4)?, name.to_owned()))
    });
    Some(names.collect())
}

/// The members of the enum of drop reasons.
fn find<'a>(types: &'a [u8], strings: &[u8]) -> Option<&'a [u8]> {
    let mut rest = types;
    while let Some((head, after)) = rest.split_at_checked(HEAD) {
        let info = number(head, 4)?;
        let (kind, members) = ((info >> 24) & 0x1f, (info & 0xffff) as usize);
        let (body, next) = after.split_at_checked(body_bytes(kind, members)?)?;
        if kind == KIND_ENUM && text(strings, number(head, 0)?) == Some(ENUM) {
            return Some(body);
        }
        rest = next;
    }
    None
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
        let Some(reasons) = reasons(&btf) else {
            return needs::skipped("names of reasons", "a kernel of 5.17 or later");
        };
        assert!(reasons.values().any(|name| name == "NETFILTER_DROP"));
        assert!(reasons.values().any(|name| name == "NOT_SPECIFIED"));
    }

    #[test]
    fn a_description_that_is_cut_has_no_reasons() {
        let Some(btf) = kernel() else { return };
        for length in [0, 7, 23, 24, 1000, btf.len() / 2] {
            assert_eq!(reasons(&btf[..length]), None, "{length}");
        }
    }
}
