// The page's Python, in its own worker, which may be stopped at any time without a loss.
"use strict";

const MOST = 20000; // the most characters that a run may print
const TRYING = 3; // seconds for which a verdict may search for a correcting change: the page stops the run after ten
let python = null;
let session = null;
let room = 0;
let languageInUse = "es";
let mayDraw = false;

function print(text) {
  if (room <= 0) return;
  const shown = text.slice(0, room);
  room -= text.length;
  postMessage({ kind: "print", text: shown, cut: room <= 0 });
}

/** Report how much of the files has arrived, to whoever requested them. */
function count(sizes, base) {
  const total = Object.values(sizes).reduce((sum, size) => sum + size, 0);
  const plain = self.fetch.bind(self);
  let came = 0;
  self.fetch = async (address, options) => {
    const answer = await plain(address, options);
    if (!answer.ok || !String(address.url ?? address).includes(base)) return answer;
    const counted = answer.body.pipeThrough(new TransformStream({
      transform(part, controller) {
        came += part.byteLength;
        postMessage({ kind: "progress", part: Math.min(1, came / total) });
        controller.enqueue(part);
      },
    }));
    return new Response(counted, { headers: answer.headers });
  };
}

async function start({ base, language }) {
  const { numpy, sizes } = await (await fetch(`${base}files.json`)).json();
  count(sizes, base);
  importScripts(`${base}pyodide.js`);
  python = await loadPyodide({ indexURL: base });
  // As it comes, not line by line: a text without an end of line belongs to the run that printed it.
  for (const set of ["setStdout", "setStderr"]) {
    const decoder = new TextDecoder();
    python[set]({ write(bytes) {
      const text = decoder.decode(bytes, { stream: true });
      // A Python that ends says where it was, in lines that are not the reader's.
      if (/^(Fatal Python error|Stack \(most recent call first\))/.test(text)) room = 0;
      print(text);
      return bytes.length;
    } });
  }
  const [course] = await Promise.all([
    fetch(`${base}course.zip`).then((answer) => answer.arrayBuffer()),
    python.loadPackage(`${base}${numpy}`, { messageCallback() {} }),
  ]);
  python.FS.writeFile("/course.zip", new Uint8Array(course));
  python.runPython(`
import json, sys, zipfile
sys.stdout.reconfigure(line_buffering=True)
zipfile.ZipFile("/course.zip").extractall("/course")
sys.path.insert(0, "/course")
`);
  languageInUse = language;
  begin();
}

/** The error in one line: the last line of a Python traceback. */
function lineOf(error) {
  const lines = String(error.message ?? error).trim().split("\n");
  return lines[0].startsWith("Traceback") ? lines.at(-1) : lines[0];
}

/** Begin a session that remembers nothing; where it may draw, matplotlib must have come. */
function begin() {
  python.globals.set("language", languageInUse);
  python.globals.set("drawing", mayDraw);
  session = python.runPython(`
from attn_course.exercises import repaired
from attn_course.in_page.session import Session
repaired.seconds = ${TRYING}
_session = Session(language, drawing)
lambda request: json.dumps(_session.answer(json.loads(request)))
`);
}

/** Load matplotlib and its dependencies, which few pages need; the earlier cells must then run again. */
async function draw({ base }) {
  const { drawing } = await (await fetch(`${base}files.json`)).json();
  const wheels = Object.keys(drawing).map((name) => base + name);
  await python.loadPackage(wheels, { messageCallback() {} });
  mayDraw = true;
  begin();
}

/** Load the translator's weights, which few readers of the code need. */
async function bring({ file }) {
  const answer = await fetch(file);
  if (!answer.ok) throw new Error(file);
  python.FS.writeFile("/brought.zip", new Uint8Array(await answer.arrayBuffer()));
  python.runPython('zipfile.ZipFile("/brought.zip").extractall("/course")');
}

onmessage = async ({ data }) => {
  const prepare = { start, begin, bring, draw }[data.kind];
  if (prepare) {
    try {
      await prepare(data);
      postMessage({ kind: "ready" });
    } catch (error) {
      postMessage({ kind: "failed", why: lineOf(error) });
    }
  } else {
    room = MOST;
    try {
      postMessage({ kind: "done", ...JSON.parse(session(JSON.stringify(data.request))) });
    } catch (error) { // Python itself has ended, as of a recursion that is too deep for the browser.
      postMessage({ kind: "done", ended: lineOf(error) });
    }
  }
};
