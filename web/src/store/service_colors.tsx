// One colour a service, in every view of a store: the services of the whole store share the colours, so
// that no two have the same while there are enough of them.

import { createContext, type ComponentChildren } from "preact";
import { useContext, useMemo } from "preact/hooks";
import { hash, isDark, labOf, mixTokens, themeColor } from "../shared/look/colors";
import { shorten } from "../shared/names/names";
import { useAnswer } from "../shared/use_answer";
import type { Names } from "../../generated/answers";

export type ServiceColor = (service: string) => string;

// The fills of docs/design.md. The palest ones, and the one that is next to the colour of errors, are taken last.
const FILLS = [1, 2, 3, 4, 6, 5, 7, 8];
const LAST = 3; // fills that are taken last
const SHADES = 2; // as it is, then darker
const DARKER = 0.55; // further from all others than less or more of it
const DARK = 0.6; // lightness of a ground that needs light text

// A fill and a shade for each service. The name alone decides, unless another one has the fill already.
export function serviceSlots(
  services: Iterable<string>,
): Map<string, [fill: number, shade: number]> {
  const slots = new Map<string, [number, number]>();
  const taken = new Set<string>();
  const usual = FILLS.length - LAST;
  for (const service of [...new Set(services)].sort()) {
    const at = hash(service) % usual;
    const order = [...FILLS.slice(at, usual), ...FILLS.slice(0, at), ...FILLS.slice(usual)];
    const all = Array.from({ length: SHADES }, (_, shade) =>
      order.map((fill): [number, number] => [fill, shade]),
    ).flat();
    const slot = all.find((one) => !taken.has(one.join())) ?? [order[0] ?? 1, 0];
    taken.add(slot.join());
    slots.set(service, slot);
  }
  return slots;
}

export const colorOfSlot = ([fill, shade]: [number, number]): string =>
  shade === 0 ? themeColor(`--fill-${fill}`) : mixTokens(`--fill-${fill}`, "--on-fill", DARKER);

// The colour of text on that of a service.
export const inkOn = (color: string): string =>
  labOf(color)[0] >= DARK ? themeColor("--on-fill") : themeColor(isDark() ? "--ink" : "--raised");

const alone = (service: string): string =>
  colorOfSlot(serviceSlots([service]).get(service) ?? [1, 0]);

const Colors = createContext<ServiceColor>(alone);

export const useServiceColor = (): ServiceColor => useContext(Colors);

export function ServiceColors(props: { path: string; children: ComponentChildren }) {
  const { value } = useAnswer<Names>(`${props.path}/names`);
  const color = useMemo(() => {
    const slots = serviceSlots(value?.services ?? []);
    return (service: string) => {
      const slot = slots.get(service);
      return slot ? colorOfSlot(slot) : alone(service);
    };
  }, [value]);
  return <Colors.Provider value={color}>{props.children}</Colors.Provider>;
}

export const NAME_MAX = 40; // letters of a service in a sentence

export function Service(props: { name: string; note?: string }) {
  const color = useServiceColor();
  return (
    <span class="service-name" title={props.name}>
      <i class="swatch" style={{ background: color(props.name) }} />
      {shorten(props.name, NAME_MAX)}
      {props.note !== undefined && <small>{props.note}</small>}
    </span>
  );
}
