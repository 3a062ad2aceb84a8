//! Every manager with trees like those of real machines, written after the managers' documentation.

mod ifupdown;
mod machine;
mod netplan;
mod networkd;
mod networkmanager;
mod nobody;
mod rhel;
