// The icons of buttons: lines on a grid of 16, in the colour of the text around them.

const PATHS = {
  search: "M7 2.5a4.5 4.5 0 1 0 0 9a4.5 4.5 0 0 0 0-9M10.3 10.3L14 14",
  help: "M8 1.5a6.5 6.5 0 1 0 0 13a6.5 6.5 0 0 0 0-13M6 6.2a2 2 0 1 1 2.6 1.9q-.6.3-.6 1.2M8 11.3v.4",
  sun: "M8 5.2a2.8 2.8 0 1 0 0 5.6a2.8 2.8 0 0 0 0-5.6M8 1.2v1.6M8 13.2v1.6M1.2 8h1.6M13.2 8h1.6M3.2 3.2l1.1 1.1M11.7 11.7l1.1 1.1M12.8 3.2l-1.1 1.1M4.3 11.7l-1.1 1.1",
  moon: "M13.5 9.6A6 6 0 0 1 6.4 2.5A6 6 0 1 0 13.5 9.6z",
  close: "M4 4l8 8M12 4l-8 8",
  right: "M6 3.5L10.5 8L6 12.5",
  down: "M3.5 6L8 10.5L12.5 6",
  up: "M3.5 10L8 5.5L12.5 10",
  left: "M10 3.5L5.5 8L10 12.5",
  pin: "M9.8 1.8l4.4 4.4l-1.6.6l-2.4 2.4l-.3 3.1l-6.2-6.2l3.1-.3l2.4-2.4zM6.8 9.2L2 14",
  save: "M8 2v8M4.8 7L8 10.2L11.2 7M2.5 13.5h11",
  copy: "M5.5 5.5h8v8h-8zM10.5 5.5v-3h-8v8h3",
  columns: "M2 3h12v10H2zM6 3v10M10 3v10",
  warning: "M8 2L14.5 13.5h-13zM8 6.2v3.6M8 11.6v.3",
  check: "M3 8.5L6.5 12L13 4.5",
  fit: "M2.5 6v-3.5h3.5M10 2.5h3.5v3.5M13.5 10v3.5h-3.5M6 13.5h-3.5v-3.5",
  ruler: "M1.5 10.5L10.5 1.5L14.5 5.5L5.5 14.5zM4.5 7.5l1.5 1.5M7 5l2 2M9.5 2.5l1.5 1.5",
  map: "M2 3h12v3.5H2zM2 9.5h12v3.5H2z",
  path: "M1.5 4H8v8h6.5M12 9.5L14.5 12L12 14.5",
  swap: "M4.5 2v11M4.5 2L2 4.5M4.5 2L7 4.5M11.5 14V3M11.5 14L9 11.5M11.5 14l2.5-2.5",
  compare: "M2.5 3.5h4.5v9H2.5zM9 6h4.5v6.5H9z",
  filter: "M2 3h12L9.5 8.5v4.5l-3-1.5v-3z",
  plus: "M8 3v10M3 8h10",
  minus: "M3 8h10",
  next: "M8 3v9M4.5 8.5L8 12L11.5 8.5",
  previous: "M8 13V4M4.5 7.5L8 4L11.5 7.5",
} as const;

export type IconName = keyof typeof PATHS;

export function Icon({ name }: { name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 16 16" aria-hidden="true">
      <path d={PATHS[name]} />
    </svg>
  );
}

// Stones on each other.
export function Logo() {
  return (
    <svg class="logo" viewBox="0 0 16 16" aria-hidden="true">
      <path d="M1 13.2c0-1.5 3-2.2 7-2.2s7 .7 7 2.2S12 15 8 15s-7-.3-7-1.8z" />
      <path d="M3 9c0-1.4 2.2-2 5-2s5 .6 5 2s-2.2 1.9-5 1.9S3 10.4 3 9z" />
      <path d="M5 4.3C5 2.4 6.3 1 8 1s3 1.4 3 3.3c0 1.6-1.3 2.4-3 2.4S5 5.9 5 4.3z" />
    </svg>
  );
}
