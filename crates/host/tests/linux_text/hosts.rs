//! What a host says of itself.

use super::{Sample, named, plain};

pub(super) const SAMPLES: &[Sample] = &[
    plain("dmesg", DMESG),
    plain(
        "dmesg_dates",
        "[Mon Jan  1 10:00:00 2024] igb 0000:03:00.0 eth0: Detected Tx Unit Hang\n",
    ),
    plain("lsmod", LSMOD),
    plain("proc_modules", MODULES),
    plain(
        "proc_version",
        "Linux version 5.10.0-28-amd64 (builder@example) (gcc-10 10.2.1) #1 SMP Debian 5.10.209-2 (2024-01-31)\n",
    ),
    plain(
        "uname_a",
        "Linux hv1 6.1.0-25-amd64 #1 SMP PREEMPT_DYNAMIC Debian 6.1.106-3 (2024-08-26) x86_64 GNU/Linux\n",
    ),
    plain("uname_a_cut", "Linux hv1 6.1.0-25-amd64 #1 SMP PREE"),
    named("uname_r", "uname -r", "6.1.0-25-amd64\n"),
    plain("os_release", OS_RELEASE),
    plain("hostnamectl", HOSTNAMECTL),
    named("hostname", "hostname", "hv1.example.org\n"),
    named("detect_virt", "systemd-detect-virt", "kvm\n"),
];

const DMESG: &str = "\
[    0.000000] Linux version 5.10.0 (builder@example) #1 SMP
[   12.345678] WARNING: CPU: 1 PID: 0 at net/core/dev.c:1700 dev_disable_lro+0x9c/0xb0
[   13.000001] e1000e 0000:00:19.0 eth0: Detected Hardware Unit Hang:
[   14.000001] xen_netfront: skb rides the rocket: 19 slots
[   15.000001] eth0: link up
";

const LSMOD: &str = "\
Module                  Size  Used by
br_netfilter           32768  0
bridge                319488  1 br_netfilter
";

const MODULES: &str = "\
br_netfilter 32768 0 - Live 0x0000000000000000
bridge 319488 1 br_netfilter, Live 0x0000000000000000
vboxdrv 540672 2 vboxnetadp,vboxnetflt, Live 0x0000000000000000 (OE)
";

const OS_RELEASE: &str = "\
NAME=\"Rocky Linux\"
VERSION=\"9.4 (Blue Onyx)\"
ID=\"rocky\"
ID_LIKE=\"rhel centos fedora\"
VERSION_ID=\"9.4\"
PRETTY_NAME=\"Rocky Linux 9.4 (Blue Onyx)\"
";

const HOSTNAMECTL: &str = "   Static hostname: hv1.example.org
         Icon name: computer-vm
           Chassis: vm
        Machine ID: 00112233445566778899aabbccddeeff
           Boot ID: ffeeddccbbaa99887766554433221100
    Virtualization: kvm
  Operating System: Debian GNU/Linux 12 (bookworm)
            Kernel: Linux 6.1.0-25-amd64
      Architecture: x86-64
";
