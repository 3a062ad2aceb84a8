// Whether an engine of the page begins: node scripts/engine.mjs FILE.wasm
//
// Its table for values of JavaScript must take one, which is the first thing that wasm-bindgen's module does with it. Functions that it wants
// are not called for that. Exit code 1 if it does not.
import { readFileSync } from "node:fs";

const module = await WebAssembly.compile(readFileSync(process.argv[2])), wanted = {};
for (const { module: from, name } of WebAssembly.Module.imports(module)) (wanted[from] ??= {})[name] = () => {};
const { exports } = await WebAssembly.instantiate(module, wanted), table = exports.__wbindgen_externrefs;
try {
  table.set(table.grow(1), undefined);
} catch (error) {
  console.log(error.message);
  process.exit(1);
}
