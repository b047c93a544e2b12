// Tabs, and the panel of the chosen one. Arrow keys, Home and End move between tabs.

import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { takeFocus } from "./focus";

type Tab<T extends string> = readonly [name: T, title: ComponentChildren];

interface Props<T extends string> {
  group: string; // names the panel: "view"
  label: string;
  tabs: readonly Tab<T>[];
  chosen: string;
  onChoose: (name: T) => void;
}

const tabId = (group: string, name: string) => `${group}-tab-${name}`;
const panelId = (group: string) => `${group}-panel`;

export function Tabs<T extends string>(props: Props<T>) {
  const { group, tabs, chosen } = props;
  const choose = (index: number) => {
    const name = tabs[(index + tabs.length) % tabs.length]?.[0];
    if (name === undefined) return;
    props.onChoose(name);
    document.getElementById(tabId(group, name))?.focus();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const at = tabs.findIndex(([name]) => name === chosen);
    if (event.key === "ArrowRight") choose(at + 1);
    else if (event.key === "ArrowLeft") choose(at - 1);
    else if (event.key === "Home") choose(0);
    else if (event.key === "End") choose(tabs.length - 1);
    else return;
    event.preventDefault();
  };
  // In a narrow window, tabs scroll.
  const list = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const tab = document.getElementById(tabId(group, chosen));
    if (!list.current || !tab) return;
    const middle = tab.offsetLeft - list.current.offsetLeft + tab.offsetWidth / 2;
    list.current.scrollLeft = middle - list.current.clientWidth / 2;
  }, [chosen, tabs.length]);
  return (
    <div ref={list} role="tablist" aria-label={props.label} onKeyDown={onKeyDown}>
      {tabs.map(([name, title]) => (
        <button
          key={name}
          id={tabId(group, name)}
          role="tab"
          aria-selected={chosen === name}
          aria-controls={panelId(group)}
          tabIndex={chosen === name ? 0 : -1}
          onClick={(event) => {
            // After a click, the keys are those of the view.
            if (event.detail > 0) event.currentTarget.blur();
            props.onChoose(name);
          }}
        >
          {title}
        </button>
      ))}
    </div>
  );
}

export function TabPanel(props: { group: string; chosen: string; children: ComponentChildren }) {
  const panel = useRef<HTMLDivElement>(null);
  // A view that is loaded later takes the focus itself.
  useEffect(
    () => takeFocus(panel.current?.querySelector<HTMLElement>("[data-keys]")),
    [props.chosen],
  );
  return (
    <div
      ref={panel}
      id={panelId(props.group)}
      class="tab-panel"
      role="tabpanel"
      aria-labelledby={tabId(props.group, props.chosen)}
    >
      {props.children}
    </div>
  );
}
