// A page in headless Chromium, by the DevTools protocol.
import { end, listeners, pid, send } from "../../scripts/chromium.mjs";
import { within } from "../../scripts/within.mjs";

const KEYS = { Enter: { key: "Enter", code: "Enter", windowsVirtualKeyCode: 13, text: "\r" } };

// Opens an empty page in which a script runs before those of each document.
export async function begin(preload) {
  const requests = [], problems = [], heard = new Map(), frames = [];
  const { targetId } = await send("Target.createTarget", { url: "about:blank" });
  const { sessionId } = await send("Target.attachToTarget", { targetId, flatten: true });
  const tell = (method, params = {}) => send(method, params, sessionId);
  const next = (method) => new Promise((done) => heard.set(method, done));
  listeners.add(({ method, params }) => {
    heard.get(method)?.(params);
    heard.delete(method);
    if (method === "Network.requestWillBeSent") requests.push(params.request.url);
    if (method === "Runtime.exceptionThrown") problems.push(params.exceptionDetails.exception?.description ?? params.exceptionDetails.text);
    if (method === "Log.entryAdded" && params.entry.level === "error") problems.push(`log: ${params.entry.text}`);
    // Workers too: what they fetch is seen like the page's own.
    if (method === "Target.attachedToTarget") send("Network.enable", {}, params.sessionId).catch(() => {});
    if (method === "Target.attachedToTarget" && params.targetInfo.type === "iframe") frames.push(params.sessionId);
  });
  for (const domain of ["Page", "Runtime", "Log", "Network", "DOM"]) await within(tell(`${domain}.enable`), domain);
  await tell("Target.setAutoAttach", { autoAttach: true, waitForDebuggerOnStart: false, flatten: true });
  await tell("Page.addScriptToEvaluateOnNewDocument", { source: preload });
  const loads = async (method, params) => {
    const loaded = next("Page.loadEventFired");
    await tell(method, params);
    await within(loaded, "the page");
  };
  const mouse = (type, at) => tell("Input.dispatchMouseEvent", { type, ...at, button: "left", buttons: type === "mouseReleased" ? 0 : 1, clickCount: 1 });
  const halfway = (from, to) => ({ x: (from.x + to.x) / 2, y: (from.y + to.y) / 2 });
  // The page's frame may be in a process of its own. In a world of its own nobody sees what is asked.
  async function frame() {
    const { frameTree } = await tell("Page.getFrameTree"), child = frameTree.childFrames?.[0]?.frame.id;
    if (!child) return [frames.at(-1), {}];
    const { executionContextId } = await tell("Page.createIsolatedWorld", { frameId: child });
    return [sessionId, { contextId: executionContextId }];
  }
  async function over(data, at) {
    for (const type of ["dragEnter", "dragOver", "drop"]) await tell("Input.dispatchDragEvent", { type, ...at, data });
  }
  return {
    name: "Chromium", pid, requests, problems, end,
    go: (url) => loads("Page.navigate", { url }),
    reload: () => loads("Page.reload"),
    async evaluate(expression) {
      const { result, exceptionDetails } = await tell("Runtime.evaluate", { expression, awaitPromise: true, returnByValue: true });
      if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? "an exception");
      return result.value;
    },
    async inFrame(expression) {
      const [session, context] = await frame();
      const { result, exceptionDetails } = await send("Runtime.evaluate", { expression, awaitPromise: true, returnByValue: true, ...context }, session);
      if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? "an exception");
      return result.value;
    },
    async choose(selector, files) {
      const { root } = await tell("DOM.getDocument", { depth: 0 });
      const { nodeId } = await tell("DOM.querySelector", { nodeId: root.nodeId, selector });
      await tell("DOM.setFileInputFiles", { nodeId, files });
    },
    // A window of such a width; true where its theme can be chosen.
    async size(width, theme) {
      await tell("Emulation.setDeviceMetricsOverride", { width, height: 900, deviceScaleFactor: 1, mobile: false });
      await tell("Emulation.setEmulatedMedia", { features: [{ name: "prefers-color-scheme", value: theme }] });
      return true;
    },
    async press(key) {
      for (const type of ["keyDown", "keyUp"]) await tell("Input.dispatchKeyEvent", { type, ...KEYS[key] });
    },
    // As from a file manager, folders among them.
    drop: (files) => over({ items: [], files, dragOperationsMask: 1 }, { x: 200, y: 200 }),
    // By the mouse, from one place to another; false if nothing goes along.
    async drag(from, to) {
      await tell("Input.setInterceptDrags", { enabled: true });
      const taken = next("Input.dragIntercepted");
      for (const [type, at] of [["mouseMoved", from], ["mousePressed", from], ["mouseMoved", halfway(from, to)], ["mouseMoved", to]]) await mouse(type, at);
      // Nothing is told of a mouse that drags nothing along.
      const data = await Promise.race([taken.then((params) => params.data), new Promise((done) => setTimeout(done, 500))]);
      if (data) await over(data, to);
      await mouse("mouseReleased", to);
      await tell("Input.setInterceptDrags", { enabled: false });
      return !!data;
    },
  };
}
