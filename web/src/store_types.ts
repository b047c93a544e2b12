// What the server answers about stores of traces.

export interface StoreInfo {
  kind: "store";
  title: string;
  traceCount: number;
  segmentCount: number;
  first: string;
  last: string;
}

export interface TraceRow {
  key: string;
  trace: string;
  span: string | null;
  parent: string | null;
  time: string; // nanoseconds since the epoch
  duration: number;
  calls: number;
  records: number;
  errors: number;
  type: string | null;
  service: string | null;
  method: string | null;
}

export interface TraceList {
  count: number;
  traces: TraceRow[];
}

export interface Histogram {
  first: string;
  step: number;
  steps: [number, number][]; // traces, of these with errors
}

export interface Group {
  value: string;
  count: number;
  errors: number;
  p50: number;
  p90: number;
  p99: number;
  total: number;
}

export interface Groups {
  count: number;
  groups: Group[];
}

export interface Names {
  names: string[];
}

export type Value = string | null | Value[];

export interface TraceException {
  class: string | null;
  message: string | null;
  stack: string[];
}

export interface TraceNode {
  depth: number;
  method: string;
  start: number;
  duration: number;
  calls: number;
  isError: boolean;
  isOpen: boolean;
  attributes?: [string, Value][];
  exceptions?: TraceException[];
}

export interface Trace {
  trace: string;
  time: string;
  type: string | null;
  service: string | null;
  nodeCount: number;
  nodes: TraceNode[];
}
