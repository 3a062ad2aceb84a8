//! What the host runs in, by the names of systemd-detect-virt(1): a container before a machine.

use std::fs;
use std::path::Path;

/// Makers and products in the firmware's tables, and what they are.
const FIRMWARE: [(&str, &str); 15] = [
    ("KVM", "kvm"),
    ("OpenStack", "kvm"),
    ("KubeVirt", "kvm"),
    ("Amazon EC2", "amazon"),
    ("QEMU", "qemu"),
    ("VMware", "vmware"),
    ("VMW", "vmware"),
    ("innotek GmbH", "oracle"),
    ("VirtualBox", "oracle"),
    ("Xen", "xen"),
    ("Bochs", "bochs"),
    ("Parallels", "parallels"),
    ("BHYVE", "bhyve"),
    ("Google Compute Engine", "google"),
    ("Hyper-V", "microsoft"),
];

/// The hypervisor or container; `none` if there is no sign of one.
pub(super) fn detect() -> Option<String> {
    let found = container().or_else(machine);
    Some(found.unwrap_or_else(|| "none".to_owned()))
}

fn read(path: &str) -> String {
    let bytes = fs::read(path).unwrap_or_default();
    String::from_utf8_lossy(&bytes).trim().to_owned()
}

fn container() -> Option<String> {
    let release = read("/proc/sys/kernel/osrelease");
    if release.contains("Microsoft") || release.contains("WSL") {
        return Some("wsl".to_owned());
    }
    if Path::new("/proc/vz").exists() && !Path::new("/proc/bc").exists() {
        return Some("openvz".to_owned());
    }
    of_environment(&read("/proc/1/environ"))
        .or_else(|| Some(read("/run/systemd/container")).filter(|name| !name.is_empty()))
        .or_else(marked)
}

/// `container=` in the environment of the first process.
fn of_environment(environment: &str) -> Option<String> {
    let mut variables = environment.split('\0');
    let value = variables.find_map(|variable| variable.strip_prefix("container="))?;
    Some(value.to_owned()).filter(|value| !value.is_empty())
}

/// Files that managers of containers leave. One of them may also have come with an image that a
/// machine was made of, so a machine's own namespaces say that it is none.
fn marked() -> Option<String> {
    if in_first_namespaces() {
        return None;
    }
    let marks = [("/run/.containerenv", "podman"), ("/.dockerenv", "docker")];
    let found = marks.iter().find(|(path, _)| Path::new(path).exists())?;
    Some(found.1.to_owned())
}

/// The numbers that the kernel gives the namespaces it starts with (include/linux/proc_ns.h).
const FIRST: [(&str, &str); 3] = [
    ("pid", "pid:[4026531836]"),
    ("uts", "uts:[4026531838]"),
    ("ipc", "ipc:[4026531839]"),
];

fn in_first_namespaces() -> bool {
    FIRST.iter().all(|(kind, first)| {
        let own = fs::read_link(format!("/proc/self/ns/{kind}"));
        own.is_ok_and(|own| own == Path::new(first))
    })
}

fn machine() -> Option<String> {
    let processor = read("/proc/cpuinfo");
    if processor.contains("User Mode Linux") {
        return Some("uml".to_owned());
    }
    firmware()
        .or_else(xen)
        .or_else(|| hypervisor_flag(&processor).then(|| "vm-other".to_owned()))
}

fn firmware() -> Option<String> {
    let fields = ["product_name", "sys_vendor", "board_vendor", "bios_vendor"];
    let texts = fields.map(|field| read(&format!("/sys/class/dmi/id/{field}")));
    of_firmware(&texts.each_ref().map(String::as_str))
}

/// Microsoft also makes hardware: only its virtual machines are called so.
fn of_firmware(texts: &[&str; 4]) -> Option<String> {
    if texts[1] == "Microsoft Corporation" && texts[0] == "Virtual Machine" {
        return Some("microsoft".to_owned());
    }
    let known = |text: &&str| FIRMWARE.iter().find(|(mark, _)| text.starts_with(mark));
    texts
        .iter()
        .find_map(known)
        .map(|(_, name)| (*name).to_owned())
}

/// The control domain of Xen is no guest.
fn xen() -> Option<String> {
    let is_xen = read("/sys/hypervisor/type") == "xen";
    let controls = read("/proc/xen/capabilities").contains("control_d");
    (is_xen && !controls).then(|| "xen".to_owned())
}

/// The processor says that there is a hypervisor, not which.
fn hypervisor_flag(processor: &str) -> bool {
    let mut flags = processor.lines().filter(|line| line.starts_with("flags"));
    let first = flags.next().unwrap_or_default();
    first.split_whitespace().any(|flag| flag == "hypervisor")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn firmware_names_the_hypervisor() {
        let of = |product, vendor| of_firmware(&[product, vendor, "", ""]);
        assert_eq!(of("Standard PC", "QEMU").as_deref(), Some("qemu"));
        assert_eq!(of("VMware7,1", "VMware, Inc.").as_deref(), Some("vmware"));
        let hyper_v = of("Virtual Machine", "Microsoft Corporation");
        assert_eq!(hyper_v.as_deref(), Some("microsoft"));
        assert_eq!(of("Surface Pro", "Microsoft Corporation"), None);
        assert_eq!(of("PowerEdge R640", "Dell Inc."), None);
    }

    #[test]
    fn the_first_process_names_the_container() {
        let environment = "PATH=/bin\0container=lxc\0TERM=linux";
        assert_eq!(of_environment(environment).as_deref(), Some("lxc"));
        assert_eq!(of_environment("PATH=/bin"), None);
    }

    #[test]
    fn the_processor_tells_of_a_hypervisor() {
        assert!(hypervisor_flag(
            "model name: x\nflags\t\t: fpu hypervisor lm\n"
        ));
        assert!(!hypervisor_flag("flags\t\t: fpu lm\nbugs: hypervisor\n"));
    }
}
