/** Turns what was typed and attached into a command. */

import { tell } from "bridle/actions.js";
import { post } from "bridle/api.js";
import { PICTURES } from "bridle/attached.js";
import { toast, toastError } from "bridle/toasts.js";
import { bytes } from "bridle/words.js";

const MAX_PROMPT_BYTES = 7.5 * 1024 * 1024; // what a request may have, less its head
const MAX_FILE_BYTES = 5 * 1024 * 1024; // what models take
const LONG_PASTE_CHARS = 3_000; // more is attached instead of typed
const LONG_PASTE_LINES = 40;
const SHELL = { model: "direct/bash", allow: ["bash"] }; // who has typed a command is not asked about it

/** @typedef {{name: string, mime: string, data?: string, text?: string}} Attached */

/**
 * Send a prompt: start a run, wait in the queue of one, or steer it.
 * @param {{head: object, text: string, files: Attached[], options: object, isSteer?: boolean}} prompt
 * @returns {Promise<boolean>} whether it was taken; what was typed must stay if not
 */
export async function send({ head, text, files, options, isSteer = false }) {
  const isShell = text.startsWith("!") && text.slice(1).trim() !== "";
  const words = isShell ? text.slice(1).trim() : await meant(text, head.cwd);
  if (words === null) return false;
  const message = { role: "user", parts: partsOf(words, files) };
  if (new Blob([JSON.stringify(message)]).size > MAX_PROMPT_BYTES) {
    toast("failed", `A prompt can have at most ${bytes(MAX_PROMPT_BYTES)}`);
    return false;
  }
  const command = isSteer && !isShell
    ? { type: "steer", message }
    : { type: "prompt", message, options: isShell ? { ...options, ...SHELL } : options };
  return (await tell(head.session, command)) !== null;
}

/** Put the skill in that a prompt calls as `/name`; null when there is none of that name. */
async function meant(text, cwd) {
  if (!text.startsWith("/")) return text;
  try {
    return (await post("/commands/expand", { text, cwd })).text;
  } catch (error) {
    toastError(error);
    return null;
  }
}

function partsOf(words, files) {
  const texts = files.filter((file) => file.text !== undefined);
  const media = files.filter((file) => file.data !== undefined);
  return [
    { type: "text", text: words },
    ...texts.map((file) => ({ type: "text", text: `\n\n[${file.name}]\n${file.text}` })),
    ...media.map(({ mime, data, name }) => ({ type: "media", mime, data, name })),
  ];
}

/** Attach what was pasted, when it is too long to be typed. */
export function pastedText(text, number) {
  return { name: `pasted text ${number}`, mime: "text/plain", text };
}

export function isLongPaste(text) {
  return text.length > LONG_PASTE_CHARS || text.split("\n", LONG_PASTE_LINES + 1).length > LONG_PASTE_LINES;
}

/** Read files that were dropped, pasted or chosen; what cannot be attached is told. @returns {Promise<Attached[]>} */
export async function readFiles(list) {
  const found = [];
  for (const file of list) {
    if (file.size > MAX_FILE_BYTES) {
      toast("warning", `${file.name} has ${bytes(file.size)}; at most ${bytes(MAX_FILE_BYTES)} can be attached`);
    } else if (PICTURES.includes(file.type)) {
      found.push({ name: file.name, mime: file.type, data: await base64(file) });
    } else if (await isText(file)) {
      found.push({ name: file.name, mime: "text/plain", text: await file.text() });
    } else {
      toast("warning", `${file.name} is neither a picture nor text`);
    }
  }
  return found;
}

async function isText(file) {
  const beginning = new Uint8Array(await file.slice(0, 4096).arrayBuffer());
  return !beginning.includes(0);
}

function base64(file) {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result).split(",", 2)[1] ?? "");
    reader.onerror = () => reject(reader.error);
    reader.readAsDataURL(file);
  });
}
