// Keeps the page's own files, so that it works without a network. VERSION and DIRECTIVES are put in by scripts/web.
const NAME = "coalescope-VERSION";
// The page's own, sent along with each file: a worker has the policy of its file, and not that of the page.
const POLICY = "DIRECTIVES";
const FILES = ["./", "index.html", "style.css", "main.js", "points.js", "kinds.js", "worker.js", "slices.js", "coalescope.js", "engine.js"];
const keeper = /** @type {ServiceWorkerGlobalScope} */ (/** @type {unknown} */ (self));

keeper.addEventListener("install", event => event.waitUntil((async () => {
  const cache = await caches.open(NAME);
  await cache.addAll(FILES.map(file => new Request(file, { cache: "reload" })));
  await keeper.skipWaiting();
})()));

keeper.addEventListener("activate", event => event.waitUntil((async () => {
  for (const name of await caches.keys()) if (name !== NAME) await caches.delete(name);
  await keeper.clients.claim();
})()));

/** @param {Request} request */
async function answer(request) {
  const found = await caches.match(request);
  if (!found) return fetch(request);
  const headers = new Headers(found.headers);
  headers.set("content-security-policy", POLICY);
  return new Response(found.body, { status: found.status, statusText: found.statusText, headers });
}

keeper.addEventListener("fetch", event => event.respondWith(answer(event.request)));
