//! `ip -j link` and `ip -j addr`.

use serde_json::{Map, Value};

use super::beneath::Beneath;
use super::details::{self, common, of_kind, of_port, on_bus};
use super::facts::{self, Facts};
use crate::model::{Interface, Setting, Snapshot};
use crate::text::linux::json::{for_each, has_keys, number_of, text_of};
use crate::text::linux::out::Out;
use crate::text::notes::mac;
use crate::text::{Reader, Text};

/// `ip -j link`.
pub(in crate::text::linux) const LINK: Reader = Reader {
    name: "ip -j link",
    // A port of a bridge has no type.
    recognises: |text| has_keys(text, &["ifindex", "ifname", "link_type"]),
    read,
};

fn read(text: &Text<'_>, snapshot: &mut Snapshot) {
    let mut out = Out::linux(text, LINK.name, snapshot);
    let mut beneath = Beneath::default();
    for_each(text, &mut out, |out, object| {
        link(out, &mut beneath, object);
    });
    beneath.resolve(&mut out);
    out.finish();
}

/// A filter leaves empty objects.
fn link(out: &mut Out<'_>, beneath: &mut Beneath, object: &Map<String, Value>) {
    let Some(name) = text_of(object, "ifname") else {
        if !object.is_empty() {
            out.unknown("an object without \"ifname\"");
        }
        return;
    };
    let mut facts = Facts::new();
    let mut block = block(object, &mut facts);
    let index = facts.get("link_index").map(|index| format!("if{index}"));
    let at = text_of(object, "link").map(str::to_owned).or(index);
    beneath.add(name, at.as_deref(), &mut block, &facts);
    out.interface(name, block);
}

fn block(object: &Map<String, Value>, facts: &mut Facts) -> Interface {
    let mut block = Interface {
        index: number_of(object, "ifindex").and_then(|index| index.try_into().ok()),
        description: text_of(object, "ifalias").map(str::to_owned),
        mac: text_of(object, "address").and_then(mac),
        ..Interface::default()
    };
    facts::of_json(object, facts);
    xdp(object, facts);
    if let Some(flags) = object.get("flags").and_then(Value::as_array) {
        details::flags(&mut block, flags.iter().filter_map(Value::as_str));
    }
    kind(&mut block, object);
    common(&mut block, facts);
    addresses(&mut block, object);
    names(&mut block, object);
    statistics(&mut block, object);
    block
}

fn kind(block: &mut Interface, object: &Map<String, Value>) {
    let info = object.get("linkinfo").and_then(Value::as_object);
    let own = |key| {
        let mut own = Facts::new();
        let data = info
            .and_then(|info| info.get(key))
            .and_then(Value::as_object);
        facts::of_json(data.unwrap_or(&Map::new()), &mut own);
        own
    };
    let named = |key| info.and_then(|info| text_of(info, key));
    if let Some(kind) = named("info_kind") {
        of_kind(block, kind, &own("info_data"));
    }
    if let Some(kind) = named("info_slave_kind") {
        of_port(block, kind, &own("info_slave_data"));
    }
    loopback(block, object);
}

fn loopback(block: &mut Interface, object: &Map<String, Value>) {
    if text_of(object, "link_type") == Some("loopback") {
        block.kind = Some("loopback".to_owned());
    } else if let Some(bus) = text_of(object, "parentbus") {
        on_bus(block, bus);
    }
}

/// `IFLA_XDP_ATTACHED` by number.
fn xdp(object: &Map<String, Value>, facts: &mut Facts) {
    let Some(xdp) = object.get("xdp").and_then(Value::as_object) else {
        return;
    };
    let mode = match number_of(xdp, "mode") {
        Some(1) => "native",
        Some(2) => "generic",
        Some(3) => "offload",
        Some(4) => "multi",
        _ => return,
    };
    facts.insert("xdp", mode.to_owned());
    let program = xdp.get("prog").and_then(Value::as_object);
    if let Some(id) = program.and_then(|program| number_of(program, "id")) {
        facts.insert("xdp_id", id.to_string());
    }
}

fn addresses(block: &mut Interface, object: &Map<String, Value>) {
    let list = object.get("addr_info").and_then(Value::as_array);
    for address in list.into_iter().flatten().filter_map(Value::as_object) {
        let local = text_of(address, "local").filter(|local| is_address(local));
        if let (Some(local), Some(length)) = (local, number_of(address, "prefixlen")) {
            block.addresses.push(format!("{local}/{length}"));
        }
    }
}

fn is_address(text: &str) -> bool {
    text.parse::<std::net::IpAddr>().is_ok()
}

fn names(block: &mut Interface, object: &Map<String, Value>) {
    let list = object.get("altnames").and_then(Value::as_array);
    for name in list.into_iter().flatten().filter_map(Value::as_str) {
        let key = format!("altname {name}");
        block.properties.insert(key, Setting::Flag(true));
    }
}

fn statistics(block: &mut Interface, object: &Map<String, Value>) {
    let stats = object.get("stats64").or_else(|| object.get("stats"));
    for way in ["rx", "tx"] {
        let counters = stats
            .and_then(|stats| stats.get(way))
            .and_then(Value::as_object);
        for (name, value) in counters.into_iter().flatten() {
            if let Some(value) = value.as_u64() {
                block.counters.insert(counter(way, name), value);
            }
        }
    }
}

/// Of these two the kernel's own names have no direction.
fn counter(way: &str, name: &str) -> String {
    match name {
        "multicast" | "collisions" | "carrier_changes" => name.to_owned(),
        _ => format!("{way}_{name}"),
    }
}
