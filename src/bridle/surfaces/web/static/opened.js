/** What of the conversation a person has opened or closed: it outlives leaving the screen by scrolling. */

import { useState } from "bridle/dom.js";

const opened = new Map();

/** Forget everything: another session is shown. */
export function forgetOpened() {
  opened.clear();
}

/** Whether something is open, as it usually is or as a person has made it; and how to turn it over. */
export function useOpened(key, usually = false) {
  const [own, setOwn] = useState(opened.get(key));
  const isOpen = own ?? usually;
  const turn = () => {
    opened.set(key, !isOpen);
    setOwn(!isOpen);
  };
  return [isOpen, turn];
}
