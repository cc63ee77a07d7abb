/** What a record says, on one line. */

import { oneLine } from "bridle/words.js";

const LONGEST = 160;

/** The fields of an event that say most, by its type; a path goes down into what they hold. */
const TELLS = {
  session_created: ["cwd"],
  session_titled: ["title"],
  prompt_queued: ["message"],
  queue_edited: ["message"],
  run_started: ["model", "mode"],
  message_added: ["message"],
  turn_started: ["turn"],
  turn_ended: ["turn"],
  model_replied: ["message"],
  retrying: ["message"],
  model_switched: ["model", "reason"],
  approval_requested: ["tool", "why"],
  approval_decided: ["answer", "reason"],
  question_asked: ["question.text"],
  question_answered: ["answers"],
  tool_started: ["tool", "args"],
  tool_finished: ["result.name", "result.output"],
  files_changed: ["changes"],
  files_seen: ["files"],
  todos_changed: ["todos"],
  rewound: ["to_seq", "scope"],
  hook_completed: ["hook_id", "point"],
  hook_failed: ["hook_id", "error"],
  hook_denied: ["hook_id", "message"],
  hook_rewrote: ["hook_id", "point"],
  compacted: ["summary"],
  compaction_failed: ["error"],
  pinned: ["text"],
  child_started: ["name", "task"],
  child_ended: ["outcome", "reason"],
  budget_warned: ["kind"],
  budget_exhausted: ["kind"],
  run_ended: ["outcome", "reason"],
};

/** @param {{seq: number, at: number, event: {type: string}}} record */
export function recordWords(record) {
  const { type } = record.event;
  const said = (TELLS[type] ?? []).map((path) => told(at(record.event, path))).filter(Boolean);
  return { kind: oneLine(type.replaceAll("_", " ")), text: oneLine(said.join(" · "), LONGEST) };
}

function at(value, path) {
  return path.split(".").reduce((inner, name) => inner?.[name], value);
}

function told(value) {
  if (value === null || value === undefined) return "";
  if (typeof value !== "object") return String(value).slice(0, LONGEST * 2);
  if (Array.isArray(value)) return value.slice(0, 5).map((one) => told(one?.path ?? one?.text ?? one)).join(", ");
  if (Array.isArray(value.parts)) return value.parts.map(part).filter(Boolean).join(" · ");
  return Object.values(value)
    .filter((one) => typeof one !== "object")
    .map((one) => String(one).slice(0, LONGEST))
    .join(" ");
}

function part(one) {
  if (one.type === "tool_call") return `calls ${one.name}`;
  return String(one.text ?? one.output ?? "").slice(0, LONGEST * 2);
}
