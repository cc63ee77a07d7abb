/** Loads what a replay shows. It keeps some of it and never all: a session may have 100,000 records. */

import { get, sessionPath } from "bridle/api.js";

const CHUNK = 20; // records asked for at once
const MOST = 24; // answers of a kind that are kept

/** Keeps the newest answers; one that failed is asked for again. */
class Kept {
  constructor(ask) {
    this._ask = ask;
    this._answers = new Map();
  }

  /** @returns {Promise<any>} */
  get(key) {
    const old = this._answers.get(key);
    this._answers.delete(key);
    const answer = old ?? this._ask(key);
    this._answers.set(key, answer);
    if (!old) answer.catch(() => this._answers.delete(key));
    while (this._answers.size > MOST) this._answers.delete(this._answers.keys().next().value);
    return answer;
  }
}

export class ReplayLoader {
  /** @param {string} session */
  constructor(session) {
    this._path = (rest) => sessionPath(session, rest);
    this._boards = new Kept((at) => get(this._path("/board"), { at }));
    this._records = new Kept((chunk) => get(this._path("/records"), { after: chunk * CHUNK, limit: CHUNK }));
    this._diffs = new Kept((key) => {
      const [after, upto] = key.split("-");
      return get(this._path("/diff"), { after, upto });
    });
  }

  /** How many records there are now. */
  async length() {
    return (await get(this._path("/board"))).head.seq;
  }

  /** The board as it was after a record. */
  board(seq) {
    return this._boards.get(seq);
  }

  /** One record, or null when there is none. */
  async record(seq) {
    const page = await this._records.get(Math.floor((seq - 1) / CHUNK));
    return page.records.find((record) => record.seq === seq) ?? null;
  }

  /** What was changed on disk after one record and up to another. */
  diff(after, upto) {
    return this._diffs.get(`${after}-${upto}`);
  }
}
