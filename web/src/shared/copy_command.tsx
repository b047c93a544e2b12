// A command for a terminal, to be copied.

import { useLayoutEffect, useState } from "preact/hooks";

// A word of a shell.
export const shellQuote = (text: string): string =>
  /^[\w./:=@%+-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;

export function CopyCommand(props: { text: string }) {
  const [isCopied, setIsCopied] = useState(false);
  useLayoutEffect(() => setIsCopied(false), [props.text]);
  return (
    <button
      title={props.text}
      onClick={() =>
        void navigator.clipboard.writeText(props.text).then(
          () => setIsCopied(true),
          () => undefined,
        )
      }
    >
      {isCopied ? "Copied" : "Copy command"}
    </button>
  );
}
