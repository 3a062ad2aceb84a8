#!/bin/sh
# Prints what coalescope needs to know of this host, as one bundle of text (docs/bundle.md).
#
#   collect.sh              to standard output
#   collect.sh FILE         to a new file
#
# For Linux and FreeBSD, with any POSIX shell. Reads only: it changes nothing, writes no other file,
# loads nothing. Root is not needed; what was not to be had without is named. No command may take
# longer than COLLECT_SECONDS (10). Left out on purpose: addresses of others (connections, routes
# but the default one and those to tunnels' other ends, filter rules), keys, and all configuration
# files but os-release.
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

# in_kernel MODULE: whether a part of the kernel that may be a module is there: to ask one that is not
# would load it.
in_kernel() {
    if [ ! -e /proc/modules ] || [ -d "/sys/module/$1" ]; then return 0; fi
    grep -qs "^$1 " /proc/modules || grep -qs "/$1.ko" "/lib/modules/$(uname -r)/modules.builtin"
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
    all=$(limited "$@" grep -rs '' /proc/sys/net)
    code=$?
    if [ "$code" -eq 124 ] || [ -z "$all" ]; then return "$code"; fi
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
        ip_links
        run ip route show default
        run ip -6 route show default
        tunnel_routes
    elif have ifconfig; then
        lacks ip 'not installed; ifconfig is used, which tells no kinds, masters and limits'
        run ifconfig -a
        titled 'ip link show' links_from_sys
    else
        lacks ip 'not installed; /sys is used, which tells no kinds and limits'
        titled 'ip link show' links_from_sys
    fi
}

# ip_links [COMMAND...]: links with their addresses; COMMAND gets into a namespace.
ip_links() {
    output=$(limited "$@" ip -d -s -j addr show 2>/dev/null)
    # The ip of busybox and old ones know no -j; what they take for it is not JSON.
    case $output in
    '['*) emit "${*:+$* }ip -d -s -j addr show" 0 "$output" '' ;;
    *) titled "${*:+$* }ip -d -s addr show" ip_addr_text "$@" ;;
    esac
}

ip_addr_text() { limited "$@" ip -d -s addr show || limited "$@" ip addr show; }

# The routes to the other ends of tunnels: they tell which interface carries these.
tunnel_routes() {
    ends=$(limited "$@" ip -d link show 2>/dev/null |
        sed -n 's/.* remote \([0-9a-f][0-9a-f.:]*\) .*/\1/p' | sort -u | head -n 64)
    for end in $ends; do run "$@" ip route get "$end"; done
}

# interface_files [COMMAND...]: settings of interfaces that no program prints, as PATH:VALUE. The shell
# within the namespace is to find the paths.
interface_files() {
    # shellcheck disable=SC2016
    limited "$@" sh -c 'for path in /sys/class/net/*; do
        for file in gro_flush_timeout napi_defer_hard_irqs threaded tun_flags; do
            if [ -r "$path/$file" ] && read -r value <"$path/$file"; then
                printf "%s:%s\n" "$path/$file" "$value"
            fi
        done
    done 2>/dev/null'
}

# holders PATTERN: what processes hold open that it fits, as WHAT PID NUMBER. One program looks at all
# of them; what ends meanwhile, or is not ours, is passed over.
holders() {
    limited find /proc/[0-9]*/fd -type l -exec ls -l {} + 2>/dev/null |
        sed -n -E "s#.* /proc/([0-9]+)/fd/([0-9]+) -> ($1)\$#\\3 \\1 \\2#p"
}

# /proc/net/packet, with the name of a process that holds each.
packet_sockets() {
    table=$(limited "$@" cat /proc/net/packet) || return
    pattern=$(printf '%s\n' "$table" |
        awk 'NR > 1 { printf "%ssocket:\\[%s\\]", (n++ ? "|" : ""), $9 }')
    owners=
    if [ -n "$pattern" ]; then
        owners=$(holders "$pattern" | while read -r held pid _; do
            if read -r process <"/proc/$pid/comm"; then printf '%s %s\n' "$held" "$process"; fi
        done 2>/dev/null)
    fi
    { printf '%s\n-\n' "$owners"; printf '%s\n' "$table"; } | awk '
        $0 == "-" { listed = 1; next }
        !listed { what = $1; sub(/^[^ ]* /, ""); owner[what] = $0; next }
        $9 == "Inode" { print $0, "Process"; next }
        { print $0, owner["socket:[" $9 "]"] }'
}

# Which processes hold the TUN devices of a namespace: the kernel tells a name only, which is of the
# process's own namespace if that has one of this name.
tun_owners() {
    printf 'device pid process\n'
    here=$(limited "$@" readlink /proc/self/ns/net)
    holders /dev/net/tun | while read -r _ pid number; do
        device=$(sed -n 's/^iff:[[:space:]]*//p' "/proc/$pid/fdinfo/$number")
        there=$(readlink "/proc/$pid/ns/net")
        if [ -z "$device" ] || ! read -r process <"/proc/$pid/comm"; then continue; fi
        if [ "$there" = "$here" ] || ! grep -q "^ *$device:" "/proc/$pid/net/dev"; then
            printf '%s %s %s\n' "$device" "$pid" "$process"
        fi
    done 2>/dev/null | sort -u
}

linux_holders() {
    titled "${*:+$* }cat /proc/net/packet" packet_sockets "$@"
    if limited "$@" sh -c 'ls -d /sys/class/net/*/tun_flags' >/dev/null 2>&1; then
        titled "${*:+$* }owners of TUN devices" tun_owners "$@"
    fi
}

# Lines of the kernel's log that rules know, and no others.
known_lines() {
    all=$(limited dmesg) || return
    printf '%s\n' "$all" | grep -F -e dev_disable_lro -e skb_warn_bad_offload -e 'caps=(0x' -e LRO \
        -e 'suspect GRO implementation' -e 'Detected Hardware Unit Hang' -e 'skb rides the rocket' \
        -e 'NETDEV WATCHDOG' -e generic_netmap_ -e 'netmap queues' -e 'drop mbuf that needs' |
        tail -n 100
    return 0
}

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
    ip_links ip netns exec "$1"
    run ip netns exec "$1" ip route show default
    tunnel_routes ip netns exec "$1"
    linux_holders ip netns exec "$1"
    for file in snmp netstat snmp6 ip_vs; do
        if [ -e "/proc/net/$file" ]; then run ip netns exec "$1" cat "/proc/net/$file"; fi
    done
    titled "ip netns exec $1 settings in /sys/class/net" interface_files ip netns exec "$1"
    titled "ip netns exec $1 sysctl -a" linux_sysctls ip netns exec "$1"
    linux_filters ip netns exec "$1"
    linux_policers ip netns exec "$1"
    if ! have ethtool; then return; fi
    names=$(limited ip netns exec "$1" ls /sys/class/net 2>/dev/null)
    for name in $names; do
        if [ "$name" != lo ] && [ "$name" != bonding_masters ]; then
            run ip netns exec "$1" ethtool -k "$name"
            run ip netns exec "$1" ethtool -i "$name"
        fi
    done
}

# Whether there is translation, and which rules ask for a packet's length; not of whom.
linux_filters() {
    if [ "$(id -u)" -ne 0 ]; then
        lacks 'address translation and packet filters' 'only root may see them'
        return
    fi
    # These only list; they would load their modules, so they are only asked if those are there.
    if have nft && in_kernel nf_tables; then
        titled "${*:+$* }nft list ruleset" nft_chains "$@"
    fi
    for family in ip ip6; do
        tables=$(limited "$@" cat "/proc/net/${family}_tables_names" 2>/dev/null)
        program="${family#ip}"
        program="ip${program}tables-legacy-save"
        if ! have "$program"; then program="${program%-legacy-save}-save"; fi
        for table in $tables; do
            if have "$program"; then
                titled "${*:+$* }$program -t $table" iptables_rules "$program" "$table" "$@"
            fi
        done
    done
}

# Tables, chains and their rules, with no address, name of a log or comment; of translation the verdicts alone.
nft_chains() {
    all=$(limited "$@" nft -s list ruleset) || return
    printf '%s\n' "$all" | sed -n -E '
        /^table /p
        /^}/p
        /^[[:space:]]*chain /,/^[[:space:]]*}/{
            s/ comment ".*"//
            s/ prefix "[^"]*"//
            /ct status/!s/^([[:space:]]*).*(masquerade|snat|dnat|redirect).*/\1\2/
            s/[0-9]{1,3}(\.[0-9]{1,3}){3}(-[0-9.]+)?(\/[0-9]+)?/@hidden/g
            s/[0-9a-f]*:[0-9a-f]*:[0-9a-f:.]*(\/[0-9]+)?/@hidden/g
            p
        }'
}

# iptables_rules PROGRAM TABLE [COMMAND...]
iptables_rules() {
    program=$1
    table=$2
    shift 2
    all=$(limited "$@" "$program" -t "$table") || return
    printf '%s\n' "$all" | sed -n -E '
        /^[*:]|^COMMIT|^# Generated/p
        s/ --(comment|log-prefix|nflog-prefix) ("[^"]*"|[^ ]+)//g
        s/^(-A [^ ]*) .*( -j (MASQUERADE|SNAT|DNAT|REDIRECT|NETMAP)).*/\1\2/
        s/ (-[sd]) [^ ]+/ \1 hidden/g
        s/[0-9]{1,3}(\.[0-9]{1,3}){3}(-[0-9.]+)?(\/[0-9]+)?/hidden/g
        s/[0-9a-f]*:[0-9a-f]*:[0-9a-f:.]*/hidden/g
        /^-A /p'
}

# How long a packet policers let pass, and where redirects lead.
linux_policers() {
    if ! have tc; then return; fi
    queues=$(limited "$@" tc qdisc show 2>/dev/null |
        sed -n -E 's/^qdisc (ingress|clsact) .* dev ([^ ]+) .*/\1:\2/p')
    for queue in $queues; do
        name=${queue#*:}
        titled "${*:+$* }tc filter show dev $name ingress" policers "$name" ingress "$@"
        if [ "${queue%%:*}" = clsact ]; then
            titled "${*:+$* }tc filter show dev $name egress" policers "$name" egress "$@"
        fi
    done
}

# policers INTERFACE WAY [COMMAND...]
policers() {
    name=$1
    way=$2
    shift 2
    all=$(limited "$@" tc filter show dev "$name" "$way") || return
    printf '%s\n' "$all" | sed -n '/^filter/p; /police /p; /mirred /p'
}

linux_stack() {
    titled 'sysctl -a' linux_sysctls
    for file in snmp netstat snmp6 softnet_stat dev vlan/config; do show "/proc/net/$file"; done
    titled 'settings in /sys/class/net' interface_files
    linux_holders
    titled 'dmesg' known_lines
    for file in /proc/net/bonding/*; do show "$file"; done
    show /proc/net/ip_vs
    show /proc/modules
    if [ "$(id -u)" -ne 0 ] && [ ! -r /proc/net/ip_vs ]; then
        lacks 'IPVS' 'only root may see it'
    fi
    try bridge -j -d link show
    if ! have bridge; then try brctl show; fi
    linux_filters
    linux_policers
}

linux_ovs() {
    if ! have ovs-vsctl; then return; fi
    run ovs-vsctl --timeout=5 show
    # It would load the module.
    if in_kernel openvswitch; then try ovs-dpctl show; fi
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
    if [ -r /etc/version ]; then titled 'cat /etc/version' cat /etc/version; fi
    run ifconfig -v -m
    titled 'sysctl net hw dev kern' freebsd_sysctls
    run netstat -s
    run netstat -i -n -b -d
    titled 'netstat -rn' freebsd_routes
    try pciconf -l
    try kldstat
    titled 'dmesg' known_lines
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
