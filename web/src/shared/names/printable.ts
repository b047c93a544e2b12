// Characters that reorder or hide the text around them: names come from data of others. They are
// shown as in "\u202e", everywhere, because every text of the page passes here.

import { options, type VNode } from "preact";

const CONTROLS = /[^\P{Cc}\t\n\r]|[\u202a-\u202e\u2066-\u2069]/gu;
const SHOWN = ["title", "aria-label", "placeholder"];

export function printable(text: string): string {
  return text.replace(CONTROLS, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

// Texts are nodes without a type, whose properties are a string.
function show(node: VNode): void {
  const properties: unknown = node.props;
  if (typeof properties === "string")
    node.props = printable(properties) as unknown as VNode["props"];
  else if (typeof node.type === "string") {
    const attributes = properties as Record<string, unknown>;
    for (const name of SHOWN) {
      const value = attributes[name];
      if (typeof value === "string") attributes[name] = printable(value);
    }
  }
}

export function showControls(): void {
  const before = options.vnode;
  options.vnode = (node) => {
    show(node);
    before?.(node);
  };
}
