//! What works side by side: namespaces, wires, and the kernel's GRO as an oracle. What measures throughput is in `paths`.

mod differential;
mod facts;
mod kernel_facts;
mod namespace;
mod oracle;
mod selftest;
mod wire;
