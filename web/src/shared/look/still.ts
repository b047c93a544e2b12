// Leaves what it contains as it is while its keys stay the same: what the pointer moves is drawn
// sixty times a second, and most of a page is not. Functions of the children must depend on nothing
// but the keys.

import { Component, type ComponentChildren } from "preact";

interface Props {
  keys: unknown[];
  children: ComponentChildren;
}

export class Still extends Component<Props> {
  override shouldComponentUpdate(next: Props): boolean {
    return next.keys.some((key, i) => key !== this.props.keys[i]);
  }

  override render() {
    return this.props.children;
  }
}
