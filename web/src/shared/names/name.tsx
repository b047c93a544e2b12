// The name of a function in one line. Where there is no room, arguments go first, then the beginning: the last
// part tells functions apart and stays.

import { splitName } from "./names";

export function Name({ name }: { name: string }) {
  const { scope, last, rest } = splitName(name);
  return (
    <span class="name" title={name}>
      {scope && <span class="name-scope">{scope}</span>}
      <span class="name-last">{last}</span>
      {rest && <span class="name-rest">{rest}</span>}
    </span>
  );
}
