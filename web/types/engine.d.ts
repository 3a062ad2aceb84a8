// engine.js is written by scripts/web: the engine, packed, as text.
declare const engine: string;
export default engine;
