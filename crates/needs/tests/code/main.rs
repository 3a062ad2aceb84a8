//! What must hold of all code, whatever the code does.

mod modules;
mod product;
mod sentences;
mod titles;
