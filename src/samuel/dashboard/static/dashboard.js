"use strict";
// One file for the pages and for the worker that they share: browsers open six connections to a host at most, so all
// pages of a browser get their events through one. Where there is no shared worker, a page has its own connection
// while it can be seen.

const SILENCE = 25000; // milliseconds without an event after which the connection counts as lost
const LONGEST_WAIT = 5000;

// One connection to the server, which is opened again whatever happens to it.
class EventStream {
  constructor(take) {
    this.take = take;
    this.views = "";
    this.source = null;
    this.lost = 0; // since when
    this.heard = 0;
    this.wait = 250;
    this.timer = 0;
    setInterval(() => {
      if (this.source && Date.now() - this.heard > SILENCE) this.fail();
    }, 2000);
  }

  look(views) {
    this.views = [...new Set(views)].sort().map((view) => `view=${encodeURIComponent(view)}`).join("&");
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.open(), 30);
  }

  open() {
    clearTimeout(this.timer);
    if (this.source) this.source.close();
    this.source = null;
    if (!this.views) return;
    this.heard = Date.now();
    const source = new EventSource(`/events?${this.views}`);
    this.source = source;
    source.onerror = () => source === this.source && this.fail();
    const on = (name, act) =>
      source.addEventListener(name, (event) => {
        if (source !== this.source) return;
        this.heard = Date.now();
        act(JSON.parse(event.data));
      });
    on("hello", (data) => {
      this.wait = 250;
      this.take({ kind: "there", since: this.lost, version: data.version });
      this.lost = 0;
    });
    on("fragment", (data) => this.take({ kind: "fragment", ...data }));
    on("beat", () => {});
  }

  fail() {
    if (this.source) this.source.close();
    this.source = null;
    this.lost = this.lost || Date.now();
    this.take({ kind: "lost", since: this.lost });
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.open(), this.wait);
    this.wait = Math.min(this.wait * 2, LONGEST_WAIT);
  }
}

function serveTabs() {
  const LONGEST_SILENCE = 150000; // of a page; a hidden one may speak once a minute
  const tabs = new Map();
  const stream = new EventStream((message) => {
    for (const [port, tab] of tabs) if (!message.view || message.view === tab.view) port.postMessage(message);
  });
  const look = () => stream.look([...tabs.values()].map((tab) => tab.view));
  self.onconnect = (event) => {
    const port = event.ports[0];
    port.onmessage = ({ data }) => {
      if (data.bye) {
        if (tabs.delete(port)) look();
        return;
      }
      const isNew = !tabs.has(port);
      tabs.set(port, { view: data.view, heard: Date.now() });
      if (isNew || data.again) look(); // also an old connection: its page may have missed something before this
    };
  };
  setInterval(() => {
    const count = tabs.size;
    for (const [port, tab] of tabs) if (Date.now() - tab.heard > LONGEST_SILENCE) tabs.delete(port);
    if (tabs.size < count) look();
  }, 10000);
}

// The page.

const time = (at) => new Date(at).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit", second: "2-digit" });

const timers = {};

function say(id, text, tone) {
  const line = document.getElementById(id);
  clearTimeout(timers[id]);
  if (tone === "good") timers[id] = setTimeout(() => say(id, "", ""), 20000);
  line.textContent = text;
  line.className = tone;
  line.hidden = !text;
}

function key(node) {
  return node.nodeType === 1 ? node.dataset.key || node.id || "" : "";
}

// Makes `old` like `wanted` and keeps what a person did in it: text in a field, what is open, what is focused.
function morph(old, wanted) {
  if (old.nodeType === 3) {
    if (old.data !== wanted.data) old.data = wanted.data;
    return;
  }
  if (old.hasAttribute("data-sure")) return; // a person is asked
  for (const { name, value } of [...wanted.attributes]) {
    if (name !== "open" && old.getAttribute(name) !== value) old.setAttribute(name, value);
  }
  for (const { name } of [...old.attributes]) {
    if (name !== "open" && name !== "style" && !wanted.hasAttribute(name)) old.removeAttribute(name);
  }
  if (old.hasAttribute("data-since")) return; // its text is made here
  const byKey = new Map([...old.children].filter(key).map((child) => [key(child), child]));
  let next = old.firstChild;
  for (const child of [...wanted.childNodes]) {
    let match = key(child) ? byKey.get(key(child)) : next;
    while (!key(child) && match && key(match)) match = match.nextSibling;
    if (match && match.nodeName === child.nodeName && key(match) === key(child)) {
      if (match !== next) old.insertBefore(match, next);
      else next = next.nextSibling;
      morph(match, child);
    } else {
      old.insertBefore(child, next);
    }
  }
  while (next) {
    const after = next.nextSibling;
    next.remove();
    next = after;
  }
}

function place(root) {
  for (const bar of root.querySelectorAll("[data-style]")) {
    if (bar.style.cssText !== bar.dataset.style) bar.style.cssText = bar.dataset.style;
  }
}

function tick() {
  for (const span of document.querySelectorAll("[data-since]")) {
    const seconds = Math.max(0, Math.round(Date.now() / 1000 - Number(span.dataset.since)));
    const parts = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60];
    const words = (parts[0] ? parts : parts.slice(1)).map((part, at) => (at ? String(part).padStart(2, "0") : part));
    span.textContent = words.join(":");
  }
}

function runOf(root) {
  const head = root.querySelector("[data-run]");
  return head ? head.dataset.run : "";
}

function take(message) {
  if (message.kind === "fragment") {
    const old = document.querySelector(`[data-fragment="${message.name}"]`);
    if (!old) return;
    const before = runOf(old);
    const wanted = new DOMParser().parseFromString(`<div>${message.html}</div>`, "text/html").body.firstChild;
    wanted.dataset.fragment = message.name;
    morph(old, wanted);
    place(old);
    tick();
    const after = runOf(old);
    if (before && after && before !== after) say("notice", `a new run began: ${after}; the one before it was ${before}`, "wait");
  } else if (message.kind === "lost") {
    document.body.dataset.connection = "lost";
    say("connection", `no connection since ${time(message.since)}: what is below may be old; trying again`, "bad");
  } else {
    if (message.version !== document.body.dataset.version) return location.reload();
    document.body.dataset.connection = "there";
    say("connection", "", "");
    if (message.since)
      say("notice", `there was no connection from ${time(message.since)} to ${time(Date.now())}; this is how it is now`, "wait");
  }
}

function confirmed(form, button) {
  if (!form.dataset.confirm || form.dataset.sure) return true;
  form.dataset.sure = "yes";
  const question = document.createElement("span");
  question.className = "sure small";
  question.textContent = `${form.dataset.confirm} `;
  const cancel = document.createElement("button");
  cancel.type = "button";
  cancel.textContent = "cancel";
  const before = button.textContent;
  button.textContent = `${before}: yes`;
  cancel.onclick = () => {
    delete form.dataset.sure;
    button.textContent = before;
    question.remove();
  };
  question.append(cancel);
  form.append(question);
  return false;
}

async function send(form, button) {
  button.disabled = true;
  try {
    const answer = await fetch(form.action, {
      method: "POST",
      headers: { Accept: "application/json" },
      body: new URLSearchParams(new FormData(form)),
    });
    const result = await answer.json();
    say("notice", result.message, result.ok ? "good" : "bad");
    if (result.ok) form.reset();
  } catch {
    say("notice", "not done: there is no connection", "bad");
  } finally {
    button.disabled = false;
    const cancel = form.querySelector(".sure button");
    if (cancel) cancel.click();
  }
}

function watch() {
  const view = document.body.dataset.view;
  place(document);
  tick();
  setInterval(tick, 1000);
  document.addEventListener("submit", (event) => {
    event.preventDefault();
    const button = event.submitter || event.target.querySelector("button");
    if (confirmed(event.target, button)) send(event.target, button);
  });
  document.getElementById("notice").onclick = () => say("notice", "", "");
  if (!view) return;
  if (window.SharedWorker) {
    const { port } = new SharedWorker(document.currentScript.src);
    const hello = (again) => port.postMessage({ view, again });
    port.onmessage = ({ data }) => take(data);
    hello(false);
    setInterval(() => hello(false), 30000);
    addEventListener("pagehide", () => port.postMessage({ bye: true }));
    addEventListener("pageshow", (event) => event.persisted && hello(true));
    addEventListener("online", () => hello(true));
  } else {
    const stream = new EventStream(take);
    const look = () => stream.look(document.hidden ? [] : [view]);
    document.addEventListener("visibilitychange", look);
    addEventListener("online", look);
    look();
  }
}

if (typeof document === "undefined") serveTabs();
else watch();
