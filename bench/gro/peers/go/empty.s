// SPDX-License-Identifier: MIT OR Apache-2.0
// With an assembly file in the package, the compiler accepts functions without a body, which is
// what functions reached by go:linkname are.
