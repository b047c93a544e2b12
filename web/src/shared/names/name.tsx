// The name of a function in one line. Where there is no room, arguments go first, then the beginning: the last
// part tells functions apart and stays.

import { splitName, splitTail } from "./names";

// A text that is cut in the middle where there is no room.
export function Cut({ text }: { text: string }) {
  const { head, tail } = splitTail(text);
  return (
    <>
      {head && <span class="name-head">{head}</span>}
      <span class="name-tail">{tail}</span>
    </>
  );
}

export function Name({ name }: { name: string }) {
  const { scope, last, rest } = splitName(name);
  return (
    <span class="name" title={name}>
      {scope && <span class="name-scope">{scope}</span>}
      <span class="name-last">
        <Cut text={last} />
      </span>
      {rest && <span class="name-rest">{rest}</span>}
    </span>
  );
}
