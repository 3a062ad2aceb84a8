// Keeps the page's own files, so that it works without a network. VERSION is put in by scripts/web.
const NAME = "coalescope-VERSION";
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

keeper.addEventListener("fetch", event => event.respondWith((async () => (await caches.match(event.request)) ?? fetch(event.request))()));
