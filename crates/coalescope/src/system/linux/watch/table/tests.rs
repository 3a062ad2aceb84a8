use super::*;
use coalescope_watch::facts::Connection;
use coalescope_watch::record::Looks;
use ratatui::Terminal;
use ratatui::backend::TestBackend;

const RECORD: &str = include_str!("../../../../../tests/cli/watch/router.jsonl");

/// The last look at a router whose firewall drops merged frames.
fn router() -> Watched {
    let looks = Looks::new(RECORD.as_bytes());
    looks.map(Result::unwrap).last().unwrap()
}

fn drawn(shown: &Shown, width: u16, height: u16) -> String {
    let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
    terminal.draw(|frame| shown.draw(frame)).unwrap();
    terminal.backend().to_string()
}

fn press(shown: &mut Shown, code: KeyCode) -> bool {
    shown.key(KeyEvent::new(code, KeyModifiers::NONE))
}

fn shown(look: &Watched) -> Shown {
    let mut shown = Shown::default();
    shown.take(look);
    shown
}

/// Names of interfaces in their order.
fn order(shown: &Shown) -> Vec<&str> {
    let all = shown.order.sorted(&shown.look).into_iter();
    all.map(|(one, _)| one.name.as_str()).collect()
}

#[test]
fn a_table_of_a_router() {
    insta::assert_snapshot!("table", drawn(&shown(&router()), 130, 12));
}

#[test]
fn a_narrow_terminal_shows_what_matters_most() {
    insta::assert_snapshot!("narrow", drawn(&shown(&router()), 40, 14));
}

#[test]
fn a_drop_that_is_opened() {
    let mut shown = shown(&router());
    press(&mut shown, KeyCode::Enter);
    insta::assert_snapshot!("opened", drawn(&shown, 100, 16));
    for _ in 0..12 {
        press(&mut shown, KeyCode::Down);
    }
    let scrolled = drawn(&shown, 100, 16);
    assert!(!scrolled.contains("tcpdump"), "{scrolled}");
    assert!(!press(&mut shown, KeyCode::Char('q')), "back to the table");
    assert!(!drawn(&shown, 100, 16).contains("tcpdump"));
    press(&mut shown, KeyCode::Enter);
    assert!(
        drawn(&shown, 100, 16).contains("tcpdump"),
        "from its beginning"
    );
    press(&mut shown, KeyCode::Esc);
    assert!(press(&mut shown, KeyCode::Char('q')));
}

#[test]
fn connections_are_opened_and_closed() {
    let mut look = router();
    let mut shown = shown(&look);
    press(&mut shown, KeyCode::Char('c'));
    assert!(drawn(&shown, 100, 16).contains("watch --connections"));
    look.connections = (0..40)
        .map(|n| Connection {
            local: format!("10.0.0.1:{n}"),
            remote: "10.0.0.2:443".to_owned(),
            segment_bytes: 1448,
            effective_window_segments: Some(2.0),
            ..Connection::default()
        })
        .collect();
    shown.take(&look);
    let seen = drawn(&shown, 160, 16);
    assert!(
        seen.contains("10.0.0.1:0 10.0.0.2:443: 2 segments a round trip"),
        "{seen}"
    );
    for _ in 0..30 {
        press(&mut shown, KeyCode::Down);
    }
    let seen = drawn(&shown, 160, 16);
    assert!(
        seen.contains("10.0.0.1:31 ") && !seen.contains("10.0.0.1:0 "),
        "{seen}"
    );
    press(&mut shown, KeyCode::Enter);
    assert!(
        drawn(&shown, 160, 16).contains("tcpdump"),
        "from its beginning"
    );
    assert!(!press(&mut shown, KeyCode::Esc));
    assert!(drawn(&shown, 160, 16).contains("interface"));
}

/// On the way of a tunnel tcpdump finds its packets by the addresses of its ends.
#[test]
fn a_drop_in_a_tunnel_is_looked_for_by_the_tunnels_ends() {
    let mut look = router();
    for sample in &mut look.drops[0].samples {
        sample.flow.as_mut().unwrap().tunnel = Some(coalescope_watch::facts::Tunnel {
            name: "vxlan 42".to_owned(),
            source: "192.0.2.1".to_owned(),
            destination: "192.0.2.2".to_owned(),
        });
    }
    let mut shown = shown(&look);
    press(&mut shown, KeyCode::Enter);
    let seen = drawn(&shown, 120, 16);
    assert!(
        seen.contains("'(host 192.0.2.1 and host 192.0.2.2) or icmp or icmp6'"),
        "{seen}"
    );
    assert!(seen.contains(":5001 in vxlan 42"), "{seen}");
}

/// Another drop may come first in the next look; the one that is open stays open.
#[test]
fn a_drop_stays_selected_whatever_comes_before_it() {
    let mut look = router();
    let mut shown = shown(&look);
    press(&mut shown, KeyCode::Down);
    press(&mut shown, KeyCode::Enter);
    let mut worse = look.drops[0].clone();
    worse.from = Some("other".to_owned());
    worse.merged_frames = 1000;
    look.drops.insert(0, worse);
    shown.take(&look);
    let seen = drawn(&shown, 100, 16);
    assert!(
        seen.contains("from left") && !seen.contains("from other"),
        "{seen}"
    );
    press(&mut shown, KeyCode::Esc);
    press(&mut shown, KeyCode::Up);
    press(&mut shown, KeyCode::Enter);
    assert!(drawn(&shown, 100, 16).contains("from other"));
}

#[test]
fn what_is_not_seen_is_told() {
    let look = Watched {
        unseen: vec![coalescope_watch::facts::Unseen {
            what: "merged frames".to_owned(),
            why: "the kernel has no BTF".to_owned(),
        }],
        ..Watched::default()
    };
    assert!(drawn(&shown(&look), 80, 12).contains("the kernel has no BTF"));
}

#[test]
fn of_a_long_name_the_interface_is_shown() {
    let mut look = router();
    look.interfaces[0].name = format!("ns/{}/eth7", "x".repeat(60));
    look.drops.clear();
    assert!(drawn(&shown(&look), 80, 12).contains("/eth7 "));
    look.interfaces = (0..30)
        .map(|n| {
            let mut one = look.interfaces[0].clone();
            one.name = format!("eth{n:02}");
            one
        })
        .collect();
    let mut shown = shown(&look);
    assert!(!drawn(&shown, 80, 20).contains("eth29"));
    press(&mut shown, KeyCode::PageDown);
    press(&mut shown, KeyCode::PageDown);
    let seen = drawn(&shown, 80, 20);
    assert!(seen.contains("eth29") && !seen.contains("eth19"), "{seen}");
}

#[test]
fn a_pause_keeps_what_is_shown() {
    let mut shown = shown(&router());
    press(&mut shown, KeyCode::Char('p'));
    shown.take(&Watched::default());
    assert!(drawn(&shown, 130, 12).contains("PAUSED"));
    assert_eq!(shown.look, router());
    press(&mut shown, KeyCode::Char('p'));
    shown.take(&Watched::default());
    assert_eq!(shown.look, Watched::default());
}

#[test]
fn keys_sort_and_ports_stand_below_their_bridge() {
    let mut look = router();
    let port = |name: &str, frames: u64| {
        let mut one = router().interfaces.remove(1);
        one.name = name.to_owned();
        one.master = Some("br0".to_owned());
        one.frames.as_mut().unwrap().received.frames = frames;
        one
    };
    let mut bridge = port("br0", 1);
    bridge.master = None;
    look.interfaces = vec![port("a", 9), bridge, port("left", 5), port("z", 7)];
    let mut other = port("alone", 100);
    other.master = None;
    look.interfaces.push(other);
    let mut shown = shown(&look);
    assert_eq!(order(&shown), ["br0", "left", "a", "z", "alone"]);
    press(&mut shown, KeyCode::Char('s'));
    assert_eq!(order(&shown), ["alone", "a", "z", "left", "br0"]);
}

#[test]
fn no_size_and_no_key_is_too_much() {
    let looks = [router(), Watched::default()];
    for look in &looks {
        let mut shown = shown(look);
        let keys = [
            KeyCode::Down,
            KeyCode::Enter,
            KeyCode::Up,
            KeyCode::Esc,
            KeyCode::Tab,
        ];
        for key in keys.into_iter().cycle().take(20) {
            press(&mut shown, key);
            for (width, height) in [(1, 1), (5, 3), (20, 5), (400, 100)] {
                drawn(&shown, width, height);
            }
        }
    }
    let mut shown = shown(&router());
    let control = KeyEvent::new(KeyCode::Char('c'), KeyModifiers::CONTROL);
    assert!(shown.key(control));
}
