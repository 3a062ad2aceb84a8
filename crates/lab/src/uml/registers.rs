//! Whether the installed kernel can hold this processor's registers.

use std::fs;
use std::path::Path;
use std::sync::OnceLock;
use std::time::Duration;

use super::{Task, Uml};
use crate::error::Unavailable;

/// The processor's tiles (AMX): 8 KB more than the registers that kernels knew before.
const TILES: &str = "amx_tile";
/// How long a program may take that does nothing.
const LIMIT: Duration = Duration::from_secs(60);

/// A kernel that has room for fewer registers than the processor has hands ptrace too few bytes, is refused, and loses its
/// first program (`put_fp_registers`). Later kernels ask how many there are; which one this is shows by trying, once.
pub(super) fn fit(uml: &Uml) -> Result<(), Unavailable> {
    static FIT: OnceLock<bool> = OnceLock::new();
    let about = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    match !has_tiles(&about) || *FIT.get_or_init(|| starts_a_program(uml)) {
        true => Ok(()),
        false => Err(Unavailable {
            reason: "user-mode Linux has no room for the registers of this processor (AMX); install a later \
                     version of it, or run this on another machine"
                .to_owned(),
        }),
    }
}

fn has_tiles(cpuinfo: &str) -> bool {
    let mut flags = cpuinfo.lines().filter(|line| line.starts_with("flags"));
    flags.any(|flags| flags.split_whitespace().any(|flag| flag == TILES))
}

fn starts_a_program(uml: &Uml) -> bool {
    let Ok(folder) = tempfile::tempdir() else {
        // Whoever wants the kernel wants a folder as well, and will say why there is none.
        return true;
    };
    let task = Task::new(Path::new("/bin/true"), &[], folder.path(), LIMIT);
    uml.run(&task)
        .is_ok_and(|finished| finished.status == Some(0))
}

#[cfg(test)]
mod tests {
    use super::has_tiles;

    #[test]
    fn tiles_are_a_flag_of_their_own() {
        let with = "processor\t: 0\nflags\t\t: fpu sse amx_bf16 avx512f amx_tile amx_int8\n";
        assert!(has_tiles(with));
        assert!(!has_tiles("flags\t\t: fpu amx_bf16\nbugs\t: amx_tile\n"));
        assert!(!has_tiles(""));
    }
}
