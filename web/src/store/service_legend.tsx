// The colours of services, the same on every tab of a trace.

import { colorOf } from "../shared/colors";
import { shorten } from "../shared/names";

export const NAME_MAX = 40; // letters of a service in a sentence

export const serviceColor = (service: string): string => colorOf(service);

export function ServiceLegend(props: { services: string[] }) {
  return (
    <>
      {props.services.map((service) => (
        <span key={service} class="legend" title={service}>
          <i style={{ background: serviceColor(service) }} /> {shorten(service, NAME_MAX)}
        </span>
      ))}
    </>
  );
}
