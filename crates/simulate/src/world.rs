//! The event loop: carries packets between the two ends and through the elements.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use crate::app;
use crate::chance::Chance;
use crate::elements::{Outbox, State};
use crate::packet::Packet;
use crate::path::{Element, Hop};
use crate::pcap;
use crate::point::Watcher;
use crate::scenario::{Content, IpIds, Scenario};
use crate::schedule::{Nanos, Schedule};
use crate::side::Side;
use crate::tcp::{Context, Endpoint, Identity};
use crate::truth::{self, ConnectionTruth, Drop, LaneTruth, Truth};
use crate::{Outcome, PointCapture};

/// The client's first port.
const FIRST_PORT: u16 = 40_000;

/// An end's address, from the documentation ranges of RFC 5737 and RFC 3849.
pub(crate) fn address(side: Side, ipv6: bool) -> IpAddr {
    match (side, ipv6) {
        (Side::Client, false) => Ipv4Addr::new(192, 0, 2, 10).into(),
        (Side::Server, false) => Ipv4Addr::new(198, 51, 100, 80).into(),
        (Side::Client, true) => Ipv6Addr::new(0x2001, 0xdb8, 1, 0, 0, 0, 0, 0x10).into(),
        (Side::Server, true) => Ipv6Addr::new(0x2001, 0xdb8, 2, 0, 0, 0, 0, 0x80).into(),
    }
}

#[derive(Debug)]
enum Event {
    Connect {
        flow: usize,
    },
    /// A packet reaches the element of that index; one past either end is an endpoint.
    Arrive {
        place: isize,
        packet: Packet,
    },
    Wake {
        element: usize,
    },
    Timer {
        flow: usize,
        side: Side,
    },
}

struct World<'a> {
    scenario: &'a Scenario,
    schedule: Schedule<Event>,
    elements: Vec<State>,
    watchers: Vec<Watcher>,
    ends: Vec<[Endpoint; 2]>,
    timers: Vec<[Option<Nanos>; 2]>,
    /// The bytes that each side sends: on the main connections, then on each of the others.
    streams: Vec<[Vec<u8>; 2]>,
    next_piece: u64,
    drops: Vec<Drop>,
}

/// Runs a scenario to its end.
#[must_use]
pub fn run(scenario: &Scenario) -> Outcome {
    let mut world = World::new(scenario);
    while let Some((now, event)) = world.schedule.pop() {
        if now > scenario.limit {
            break;
        }
        world.handle(event, now);
    }
    world.finish()
}

impl<'a> World<'a> {
    fn new(scenario: &'a Scenario) -> Self {
        let mut points = 0;
        let numbered = scenario.path.iter().enumerate();
        let states = numbered.map(|(number, part)| State::new(part, number, &mut points, scenario));
        let elements = states.collect();
        let places = scenario.points().enumerate();
        let watchers =
            places.map(|(number, point)| Watcher::new(point, scenario.seed, number as u64));
        let mut world = Self {
            scenario,
            schedule: Schedule::new(),
            elements,
            watchers: watchers.collect(),
            ends: ends(scenario),
            timers: vec![[None; 2]; scenario.flows()],
            streams: streams(scenario),
            next_piece: 0,
            drops: Vec::new(),
        };
        for flow in 0..scenario.flows() {
            let start = scenario.start_of(flow);
            world.schedule.push(start, Event::Connect { flow });
        }
        world
    }

    fn handle(&mut self, event: Event, now: Nanos) {
        match event {
            Event::Connect { flow } => self.call(flow, Side::Client, now, Endpoint::connect),
            Event::Arrive { place, packet } => self.arrive(place, packet, now),
            Event::Wake { element } => {
                let out = self.elements[element].wake(now);
                self.dispatch(element, out);
            }
            Event::Timer { flow, side } => {
                self.timers[flow][side.index()] = None;
                self.call(flow, side, now, Endpoint::on_time);
            }
        }
    }

    fn arrive(&mut self, place: isize, packet: Packet, now: Nanos) {
        let Some(element) = usize::try_from(place)
            .ok()
            .filter(|place| *place < self.elements.len())
        else {
            let (flow, side) = (packet.flow, packet.toward);
            self.call(flow, side, now, |end, context| {
                end.receive(&packet, context);
            });
            return;
        };
        if let State::Point(index) = self.elements[element] {
            self.capture(index, &packet, now);
        }
        let out = self.elements[element].handle(packet, now);
        self.dispatch(element, out);
    }

    fn capture(&mut self, index: usize, packet: &Packet, now: Nanos) {
        let talk = (packet.flow + 1).saturating_sub(self.scenario.connections);
        let stream = &self.streams[talk][packet.toward.index()];
        let payload = packet.tcp().filter(|tcp| tcp.len() > 0).and_then(|tcp| {
            let start = tcp.start as usize;
            stream.get(start..start + tcp.len())
        });
        let payload = payload.unwrap_or(&[]);
        self.watchers[index].see(packet, payload, self.scenario.vlan, now);
    }

    /// Enters the packets and the wake-up of an element into the schedule.
    fn dispatch(&mut self, element: usize, out: Outbox) {
        let dropped = out.dropped.iter();
        self.drops
            .extend(dropped.filter_map(|(packet, why)| Drop::of(packet, *why, element)));
        for (at, packet) in out.onward.into_iter().chain(out.back) {
            let step = if packet.toward == Side::Client { -1 } else { 1 };
            let place = element as isize + step;
            self.schedule.push(at, Event::Arrive { place, packet });
        }
        if let Some(at) = out.wake {
            self.schedule.push(at, Event::Wake { element });
        }
    }

    /// Calls an endpoint and takes the packets that it sends.
    fn call<F>(&mut self, flow: usize, side: Side, now: Nanos, action: F)
    where
        F: FnOnce(&mut Endpoint, &mut Context<'_>),
    {
        let next_piece = &mut self.next_piece;
        let mut context = Context {
            now,
            next_piece,
            out: Vec::new(),
        };
        action(&mut self.ends[flow][side.index()], &mut context);
        let place = if side == Side::Client {
            0
        } else {
            self.elements.len() as isize - 1
        };
        for packet in context.out {
            self.schedule.push(now, Event::Arrive { place, packet });
        }
        self.set_timer(flow, side, now);
    }

    /// A timer that comes too early does no harm, so only an earlier deadline needs a new one.
    fn set_timer(&mut self, flow: usize, side: Side, now: Nanos) {
        let Some(deadline) = self.ends[flow][side.index()].deadline() else {
            return;
        };
        let deadline = deadline.max(now);
        let timer = &mut self.timers[flow][side.index()];
        if timer.is_none_or(|at| deadline < at) {
            *timer = Some(deadline);
            self.schedule.push(deadline, Event::Timer { flow, side });
        }
    }

    fn finish(mut self) -> Outcome {
        for watcher in &mut self.watchers {
            watcher.finish();
        }
        let truth = self.truth();
        let points = self.watchers.into_iter().map(|watcher| PointCapture {
            name: watcher.point.name.clone(),
            bytes: pcap::file(&watcher.point, &watcher.records),
            point: watcher.point,
            records: watcher.records,
        });
        Outcome {
            points: points.collect(),
            truth,
        }
    }

    fn truth(&self) -> Truth {
        let connections = self.ends.len();
        let points = self
            .watchers
            .iter()
            .map(|watcher| truth::point(watcher, connections, &self.drops));
        let pairs = self.watchers.windows(2);
        let hops = pairs.flat_map(|pair| {
            let down = truth::hop(&pair[1], &pair[0], Side::Client);
            [down, truth::hop(&pair[0], &pair[1], Side::Server)]
        });
        Truth {
            cause: self.scenario.cause,
            points: points.collect(),
            hops: hops.collect(),
            drops: truth::drops(&self.drops),
            connections: self
                .ends
                .iter()
                .enumerate()
                .map(|(flow, ends)| connection(port_of(self.scenario, flow), ends))
                .collect(),
        }
    }
}

/// The bytes of the turns, by the side that they go toward.
fn streams(scenario: &Scenario) -> Vec<[Vec<u8>; 2]> {
    let others = scenario.others.iter().map(|other| &other.turns);
    let talks = std::iter::once(&scenario.turns).chain(others);
    talks
        .map(|turns| Side::BOTH.map(|toward| app::stream(turns, toward.other())))
        .collect()
}

fn connection(client_port: u16, ends: &[Endpoint; 2]) -> ConnectionTruth {
    ConnectionTruth {
        client_port,
        closed: ends.iter().all(Endpoint::is_closed),
        rtt: ends[0].handshake,
        toward: Side::BOTH.map(|side| lane(&ends[side.index()], &ends[side.other().index()])),
    }
}

fn lane(receiver: &Endpoint, sender: &Endpoint) -> LaneTruth {
    // The client's end is open half a round trip before the server's, and may send by then.
    let opened = [receiver.opened_at, sender.opened_at];
    LaneTruth {
        bytes: receiver.received(),
        timeouts: sender.timeouts(),
        idle: sender.chrono().application,
        window_limited: sender.chrono().window,
        segment_size: sender.segment_size() as u32,
        begin: opened.into_iter().flatten().min().unwrap_or(0),
        end: receiver.received_at.unwrap_or(0),
    }
}

/// Both ends of every connection. Behind a NAT or a director they know each other by other
/// addresses than their own.
fn ends(scenario: &Scenario) -> Vec<[Endpoint; 2]> {
    let mut chance = Chance::new(scenario.seed ^ named(&scenario.name), 999);
    (0..scenario.flows())
        .map(|flow| pair(scenario, flow, &mut chance))
        .collect()
}

/// A hash of the scenario's name (FNV-1a): captures of two scenarios with the same seed are not of one connection.
fn named(name: &str) -> u64 {
    name.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

fn port_of(scenario: &Scenario, flow: usize) -> u16 {
    FIRST_PORT.wrapping_add((flow % scenario.ports.max(1)) as u16)
}

/// Within a megabyte, and within four seconds, of the largest.
const NEAR_WRAP: (u32, u32) = (0xfff0_0000, 0xffff_f000);

fn pair(scenario: &Scenario, flow: usize, chance: &mut Chance) -> [Endpoint; 2] {
    let port = port_of(scenario, flow);
    let tls = scenario
        .turns_of(flow)
        .iter()
        .any(|turn| turn.content == Content::Handshake);
    let service = if tls { 443 } else { 80 };
    let client = (address(Side::Client, scenario.ipv6), port);
    let server = (address(Side::Server, scenario.ipv6), service);
    let (mut seen_client, mut real_server) = (client, server);
    for element in &scenario.path {
        match element {
            Element::Hop(Hop::Nat) => {
                seen_client = crate::elements::translated(client, scenario.ipv6);
            }
            Element::Hop(Hop::Director { .. }) => {
                real_server.0 = crate::elements::real_server(scenario.ipv6);
            }
            _ => {}
        }
    }
    let mut end = |side: Side, own: (IpAddr, u16), peer: (IpAddr, u16)| {
        let (mut first_seq, mut clock, ip_id) = (chance.any(), chance.any(), chance.any() as u16);
        if scenario.near_wrap {
            (first_seq, clock) = (first_seq | NEAR_WRAP.0, clock | NEAR_WRAP.1);
        }
        let id = Identity {
            flow,
            side,
            own,
            peer,
            first_seq,
            clock,
            ip_id: if scenario.host_of(flow, side).ip_ids == IpIds::Zero {
                0
            } else {
                ip_id
            },
            chance: first_seq ^ clock,
        };
        Endpoint::new(id, scenario.host_of(flow, side), scenario.turns_of(flow))
    };
    [
        end(Side::Client, client, server),
        end(Side::Server, real_server, seen_client),
    ]
}
