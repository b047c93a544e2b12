// A menu of a toolbar: a title that opens a box of choices. Arrow keys, Home, End and the first letter
// of a choice move through it; Esc and a click elsewhere close it.

import type { ComponentChildren } from "preact";
import { useRef } from "preact/hooks";
import { Icon, type IconName } from "./look/icons";
import { useListener } from "./use_listener";

const MARGIN_PX = 8; // between the box and the edge of the window

interface Props {
  title: string;
  icon?: IconName; // before the title
  label: string; // of the box
  onToggle?: () => void;
  children: ComponentChildren;
}

// The choice that a key leads to; null: the key means nothing here.
function nextChoice(choices: HTMLElement[], at: number, key: string): HTMLElement | null {
  const count = choices.length;
  const index =
    key === "ArrowDown"
      ? (at + 1) % count
      : key === "ArrowUp"
        ? (Math.max(at, 0) + count - 1) % count
        : key === "Home"
          ? 0
          : key === "End"
            ? count - 1
            : -1;
  if (index >= 0) return choices[index] ?? null;
  if (!/^\S$/.test(key)) return null;
  const begins = (choice: HTMLElement) =>
    (choice.closest("label") ?? choice).textContent
      ?.trim()
      .toLowerCase()
      .startsWith(key.toLowerCase());
  return [...choices.slice(at + 1), ...choices.slice(0, at + 1)].find(begins) ?? null;
}

export function Menu(props: Props) {
  const menu = useRef<HTMLDetailsElement>(null);
  const box = useRef<HTMLDivElement>(null);
  useListener("pointerdown", (event) => {
    if (menu.current?.open && !menu.current.contains(event.target as Node))
      menu.current.open = false;
  });
  // The box stays inside the window.
  const place = () => {
    if (!box.current || !menu.current?.open) return;
    const { style } = box.current;
    style.left = "0";
    const { right, top } = box.current.getBoundingClientRect();
    style.left = `${-Math.max(0, right - innerWidth + MARGIN_PX)}px`;
    // On a phone it is at the bottom, and as high as its style sheet says.
    const isBelow = getComputedStyle(box.current).position === "absolute";
    style.maxHeight = isBelow ? `min(60vh, ${innerHeight - top - MARGIN_PX}px)` : "";
  };
  useListener("resize", place);
  const onToggle = () => {
    props.onToggle?.();
    place();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const target = event.target as HTMLElement;
    const { current } = menu;
    if (!current || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Escape" && current.open) {
      current.open = false;
      current.querySelector("summary")?.focus();
    } else {
      if (target.matches("input:not([type=checkbox])") && !/^Arrow(Up|Down)$/.test(event.key))
        return;
      if (!current.open && event.key !== "ArrowDown") return;
      current.open = true;
      const choices = [...current.querySelectorAll<HTMLElement>("input, button:enabled")];
      const next = nextChoice(choices, choices.indexOf(target), event.key);
      if (!next) return;
      next.focus();
    }
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <details class="menu" ref={menu} onToggle={onToggle} onKeyDown={onKeyDown}>
      <summary>
        {props.icon && <Icon name={props.icon} />}
        {props.title}
        <Icon name="down" />
      </summary>
      <div role="group" aria-label={props.label} ref={box}>
        {props.children}
      </div>
    </details>
  );
}
