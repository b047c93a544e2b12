// A card of the overview, and links to the views that show what it says.

import type { ComponentChildren, Ref } from "preact";
import { linkTo, type State } from "../shared/state";

export function Card(props: {
  title: string;
  hint?: string;
  element?: Ref<HTMLElement>;
  children: ComponentChildren;
}) {
  return (
    <section class="card" aria-label={props.title} ref={props.element ?? null}>
      <h2>
        {props.title} {props.hint && <small>{props.hint}</small>}
      </h2>
      {props.children}
    </section>
  );
}

export function Link(props: { to: State; title?: string; children: ComponentChildren }) {
  return (
    <a href={linkTo(props.to)} title={props.title}>
      {props.children}
    </a>
  );
}

export const contextOf = (path: string[]): State => ({ v: "top-down", open: path.join(".") });
