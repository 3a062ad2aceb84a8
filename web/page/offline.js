// Keeps the page's own files, so that it works without a network. VERSION and DIRECTIVES are put in by scripts/web.
const NAME = "coalescope-VERSION";
// Sent along with each file, as `coalescope web` does: the page's own policy, since a worker has that of its file; and that the page is
// apart from all others, whose workers may then share memory.
const HEADERS = Object.entries({ "content-security-policy": "DIRECTIVES", "cross-origin-opener-policy": "same-origin", "cross-origin-embedder-policy": "require-corp" });
const FILES = ["./", "index.html", "style.css", "main.js", "points.js", "kinds.js", "worker.js", "ahead.js", "slices.js", "shared.js", "coalescope.js", "engine.js"];
const keeper = /** @type {ServiceWorkerGlobalScope} */ (/** @type {unknown} */ (self));

keeper.addEventListener("install", event => event.waitUntil((async () => {
  const cache = await caches.open(NAME);
  await cache.addAll(FILES.map(file => new Request(file, { cache: "reload" })));
  // A page that is open has the files that it began with, to the end: this version waits until it is closed.
})()));

keeper.addEventListener("activate", event => event.waitUntil((async () => {
  for (const name of await caches.keys()) if (name !== NAME) await caches.delete(name);
  await keeper.clients.claim();
})()));

/** @param {Request} request */
async function answer(request) {
  const cache = await caches.open(NAME), found = await cache.match(request) ?? await fetch(request);
  // Of other answers, such as that it is elsewhere, none can be made anew.
  if (found.type !== "basic") return found;
  const headers = new Headers(found.headers);
  for (const [name, value] of HEADERS) headers.set(name, value);
  return new Response(found.body, { status: found.status, statusText: found.statusText, headers });
}

keeper.addEventListener("fetch", event => event.respondWith(answer(event.request)));
