//! What reports call a tunnel.

use coalescope_wire::{Tunnel, TunnelKind};

#[test]
fn a_tunnel_is_named_with_its_identifier_if_it_has_one() {
    let name = |kind, id| Tunnel { kind, id }.to_string();
    assert_eq!(name(TunnelKind::Vxlan, 42), "vxlan 42");
    assert_eq!(name(TunnelKind::Geneve, 7), "geneve 7");
    assert_eq!(name(TunnelKind::Gre, 0), "gre 0");
    assert_eq!(name(TunnelKind::Erspan, 3), "erspan 3");
    assert_eq!(name(TunnelKind::IpInIp, 0), "ip-in-ip");
    assert_eq!(name(TunnelKind::Mpls, 16), "mpls 16");
    assert_eq!(name(TunnelKind::Pppoe, 1), "pppoe 1");
}
