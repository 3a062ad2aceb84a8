#!/bin/sh
# Prints what coalescope needs to know of this host, as one bundle of text (docs/bundle.md).
#
#   collect.sh              to standard output
#   collect.sh FILE         to a new file
#
# For Linux and FreeBSD, with any POSIX shell. Reads only: it changes nothing, writes no other file,
# loads nothing. Root is not needed; what was not to be had without is named. No command may take
# longer than COLLECT_SECONDS (10). Left out on purpose: addresses of others (connections, routes
# but the default one, translation tables), keys, and all configuration files but os-release.
set -u
LC_ALL=C
export LC_ALL
PATH=$PATH:/usr/sbin:/sbin:/usr/local/sbin
seconds=${COLLECT_SECONDS:-10}
most_namespaces=64
sections=0

case ${1:-} in
-h | --help) sed -n '2,/^set/{/^#/s/^# \{0,1\}//p;}' "$0"; exit 0 ;;
esac
if [ $# -gt 1 ]; then
    echo "collect.sh: one file at most; try --help" >&2
    exit 2
fi
if [ $# -eq 1 ]; then
    # Nothing that is there already is written over.
    set -C
    if ! exec >"$1"; then
        echo "collect.sh: cannot create $1: give the path of a new file" >&2
        exit 2
    fi
    set +C
fi

have() { command -v "$1" >/dev/null 2>&1; }

# limited COMMAND...: with a time limit; 124 if it took too long. busybox has had other options.
if [ -z "${COLLECT_WITHOUT_TIMEOUT:-}" ] && timeout -k 1 1 true 2>/dev/null; then
    limited() { timeout -k 2 "$seconds" "$@"; }
else
    limited() {
        "$@" &
        command_pid=$!
        (
            sleep "$seconds" &
            sleep_pid=$!
            trap 'kill "$sleep_pid"; exit 0' TERM
            wait "$sleep_pid"
            kill -KILL "$command_pid"
        ) </dev/null >/dev/null 2>&1 &
        watch_pid=$!
        wait "$command_pid"
        command_rc=$?
        kill "$watch_pid" 2>/dev/null
        wait "$watch_pid" 2>/dev/null
        if [ "$command_rc" -eq 137 ]; then command_rc=124; fi
        return "$command_rc"
    }
fi

# Each line of output behind a mark, so that none can be taken for a header.
marked() { sed "s/^/$1/"; }

# emit TITLE CODE OUTPUT SAID
emit() {
    sections=$((sections + 1))
    lines=0
    if [ -n "$3" ]; then lines=$(($(printf '%s\n' "$3" | wc -l))); fi
    printf '#= section %s rc=%s lines=%s %s\n' "$sections" "$2" "$lines" "$1"
    if [ -n "$3" ]; then printf '%s\n' "$3" | marked '|'; fi
    if [ -n "$4" ]; then printf '%s\n' "$4" | marked '!'; fi
}

# run COMMAND...: a section of its output. It runs again for what it said on stderr, if it failed.
run() { titled "$*" limited "$@"; }

# titled TITLE COMMAND...: a function sees to the time limit itself.
titled() {
    title=$1
    shift
    output=$("$@" 2>/dev/null </dev/null)
    rc=$?
    said=
    if [ "$rc" -ne 0 ] && [ "$rc" -ne 124 ]; then
        said=$("$@" 2>&1 >/dev/null </dev/null | sed -n '1,3p' | cut -c 1-200)
    fi
    emit "$title" "$rc" "$output" "$said"
}

# try COMMAND...: as run, if it is installed. show FILE: if it is there.
try() { if have "$1"; then run "$@"; fi; }
show() { if [ -e "$1" ]; then run cat "$1"; fi; }

lacks() { printf '#= lacks %s: %s\n' "$1" "$2"; }

need() {
    if have "$1"; then return 0; fi
    lacks "$1" "not installed; $2"
    return 1
}

# --- Linux

# sysctl -a of net, without the program and without keys. A dot in the name of an interface is a
# slash, as sysctl(8) prints it.
linux_sysctls() {
    all=$(limited grep -rs '' /proc/sys/net)
    code=$?
    if [ "$code" -eq 124 ]; then return 124; fi
    printf '%s\n' "$all" | sed -n '
        /^[^:]*key/d
        /^[^:]*secret/d
        s|^/proc/sys/||
        h
        s/^[^:]*://
        x
        s/:.*//
        y|/.|./|
        G
        s/\n/ = /p'
}

# As ip(8) prints it, from /sys.
links_from_sys() {
    for path in /sys/class/net/*; do
        if [ ! -e "$path/ifindex" ]; then continue; fi
        name=${path##*/}
        read -r index <"$path/ifindex"
        read -r mtu <"$path/mtu"
        read -r flags <"$path/flags"
        read -r state <"$path/operstate"
        up=
        if [ $((flags & 1)) -ne 0 ]; then up=UP; fi
        if [ $((flags & 8)) -ne 0 ]; then up=${up:+$up,}LOOPBACK; fi
        master=$(readlink "$path/master")
        state=$(printf '%s' "$state" | tr '[:lower:]' '[:upper:]')
        printf '%s: %s: <%s> mtu %s %sstate %s\n' "$index" "$name" "$up" "$mtu" \
            "${master:+master ${master##*/} }" "$state"
        kind=ether
        if [ $((flags & 8)) -ne 0 ]; then kind=loopback; fi
        address=
        if read -r address <"$path/address" && [ -n "$address" ]; then
            printf '    link/%s %s\n' "$kind" "$address"
        fi
    done
}

# As ethtool -i prints it, from /sys.
driver_from_sys() {
    driver=$(readlink "/sys/class/net/$1/device/driver") || return 1
    bus=$(readlink "/sys/class/net/$1/device")
    printf 'driver: %s\nversion: \nfirmware-version: \nbus-info: %s\n' "${driver##*/}" "${bus##*/}"
}

linux_links() {
    if have ip; then
        output=$(limited ip -d -s -j link show 2>/dev/null)
        # The ip of busybox and old ones know no -j; what they take for it is not JSON.
        case $output in
        '['*) emit 'ip -d -s -j link show' 0 "$output" '' ;;
        *) titled 'ip -d -s link show' ip_link_text ;;
        esac
        run ip route show default
        run ip -6 route show default
    elif have ifconfig; then
        lacks ip 'not installed; ifconfig is used, which tells no kinds, masters and limits'
        run ifconfig -a
        titled 'ip link show' links_from_sys
    else
        lacks ip 'not installed; /sys is used, which tells no kinds and limits'
        titled 'ip link show' links_from_sys
    fi
}

ip_link_text() { limited ip -d -s link show || limited ip link show; }

# Every kind of interface has features and a driver, only a device has the rest.
linux_interface() {
    for option in -k -i; do run ethtool "$option" "$1"; done
    if [ ! -e "/sys/class/net/$1/device" ]; then return; fi
    run ethtool "$1"
    for option in -c -g -l -S; do run ethtool "$option" "$1"; done
    run ethtool -n "$1" rx-flow-hash udp4
}

linux_interfaces() {
    tools=true
    need ethtool 'features, coalescing, rings, channels and statistics of interfaces are unknown' ||
        tools=false
    for path in /sys/class/net/*; do
        name=${path##*/}
        if [ "$name" = lo ] || [ ! -e "$path/ifindex" ]; then continue; fi
        if $tools; then
            linux_interface "$name"
        elif [ -e "$path/device/driver" ]; then
            titled "ethtool -i $name" driver_from_sys "$name"
        fi
    done
}

linux_namespaces() {
    if ! have ip; then return; fi
    if [ ! -d /var/run/netns ]; then return; fi
    if [ "$(id -u)" -ne 0 ]; then
        lacks 'network namespaces' 'only root may look into them'
        return
    fi
    count=0
    for path in /var/run/netns/*; do
        if [ ! -e "$path" ]; then continue; fi
        count=$((count + 1))
        if [ "$count" -le "$most_namespaces" ]; then linux_namespace "${path##*/}"; fi
    done
    if [ "$count" -gt "$most_namespaces" ]; then
        lacks 'network namespaces' "$most_namespaces of $count are collected"
    fi
}

linux_namespace() {
    run ip netns exec "$1" ip -d -s -j link show
    run ip netns exec "$1" cat /proc/net/snmp
    run ip netns exec "$1" sysctl net.ipv4.ip_forward net.ipv6.conf.all.forwarding
    if ! have ethtool; then return; fi
    names=$(limited ip netns exec "$1" ls /sys/class/net 2>/dev/null)
    for name in $names; do
        if [ "$name" != lo ] && [ "$name" != bonding_masters ]; then
            run ip netns exec "$1" ethtool -k "$name"
        fi
    done
}

# Whether there is translation, not of what.
linux_nat() {
    if [ "$(id -u)" -ne 0 ]; then
        lacks 'address translation' 'only root may see it'
        return
    fi
    # These only list; they would load their modules, so they are only asked if those are there.
    if have nft && [ -d /sys/module/nf_tables ]; then titled 'nft list ruleset' nft_chains; fi
    if [ -e /proc/net/ip_tables_names ] && grep -qs nat /proc/net/ip_tables_names; then
        titled 'iptables -t nat -S' iptables_nat
    fi
}

# Tables, chains and the verdicts of translation, without addresses.
nft_chains() {
    all=$(limited nft -s list ruleset) || return
    printf '%s\n' "$all" | sed -n -E '
        /^table /p
        /^[[:space:]]*chain /p
        /^[[:space:]]*type /p
        s/^([[:space:]]*).*(masquerade|snat|dnat|redirect).*/\1\2/p
        /^[[:space:]]*}/p'
}

iptables_nat() {
    all=$(limited iptables -t nat -S) || return
    printf '%s\n' "$all" | sed -n 's/^\(-A [^ ]*\) .*\( -j [^ ]*\).*/\1\2/p; /^-[PN] /p'
}

linux_stack() {
    titled 'sysctl -a' linux_sysctls
    for file in snmp netstat snmp6 softnet_stat dev packet vlan/config; do show "/proc/net/$file"; done
    for file in /proc/net/bonding/*; do show "$file"; done
    show /proc/net/ip_vs
    show /proc/modules
    if [ "$(id -u)" -ne 0 ] && [ ! -r /proc/net/ip_vs ]; then
        lacks 'IPVS' 'only root may see it'
    fi
    try bridge -j -d link show
    if ! have bridge; then try brctl show; fi
    linux_nat
}

linux_ovs() {
    if ! have ovs-vsctl; then return; fi
    run ovs-vsctl --timeout=5 show
    try ovs-dpctl show
}

linux() {
    run uname -a
    show /etc/os-release
    show /proc/sys/kernel/random/boot_id
    try systemd-detect-virt
    linux_links
    linux_interfaces
    linux_stack
    linux_ovs
    linux_namespaces
}

# --- FreeBSD and what is built on it

# The tree without keys.
freebsd_sysctls() {
    all=$(limited sysctl net hw.model hw.ncpu hw.vmm dev kern.ostype kern.osrelease kern.vm_guest)
    code=$?
    if [ "$code" -eq 124 ]; then return 124; fi
    printf '%s\n' "$all" | sed -E '/^[^:=]*(key|secret|serial|uuid)/d'
}

# Headings and the default route.
freebsd_routes() {
    all=$(limited netstat -rn) || return
    printf '%s\n' "$all" | sed -n '/^default/p; /^Routing/p; /^Internet/p; /^Destination/p; /^$/p'
}

# Only which kinds of rules there are.
freebsd_nat() {
    all=$(limited pfctl -sn) || return
    printf '%s\n' "$all" | sed -n -E 's/^((no )?[a-z-]+ on [^ ]+).*/\1/p' | sort -u
}

freebsd() {
    run uname -a
    try freebsd-version -r
    try opnsense-version
    run ifconfig -v -m
    titled 'sysctl net hw dev kern' freebsd_sysctls
    run netstat -s
    run netstat -i -n -b -d
    titled 'netstat -rn' freebsd_routes
    try pciconf -l
    try kldstat
    if [ "$(id -u)" -ne 0 ]; then
        lacks 'address translation' 'only root may see it'
    elif have pfctl; then
        titled 'pfctl -sn' freebsd_nat
    fi
}

echo '# coalescope bundle 1'
echo '#= by collect.sh 1'
if [ "$(id -u)" -ne 0 ]; then
    lacks 'root' 'some drivers give their statistics and settings only to root'
fi
case $(uname -s) in
Linux) linux ;;
FreeBSD) freebsd ;;
*) lacks "$(uname -s)" 'collect.sh is for Linux and FreeBSD; save the output of ifconfig -a'; run uname -a ;;
esac
printf '#= end sections=%s\n' "$sections"
