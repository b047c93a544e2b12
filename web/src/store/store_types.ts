// The answers of the server about stores of traces.

export interface StoreInfo {
  kind: "store";
  title: string;
  traceCount: number;
  spanCount: number;
  segmentCount: number;
  first: string;
  last: string;
}

// What a trace and a span have in common; of a trace, key, type, service and method of its root.
interface Row {
  key: string;
  trace: string;
  time: string; // nanoseconds since the epoch
  duration: number;
  calls: number;
  records: number;
  errors: number;
  type: string | null;
  service: string | null;
  method: string | null;
}

export interface TraceRow extends Row {
  spans: number;
  services: string[]; // that of the root first
}

export interface SpanRow extends Row {
  span: string | null;
  parent: string | null;
}

export interface TraceList {
  count: number;
  damage: string | null; // why traces may be missing
  traces: TraceRow[];
}

export interface SpanList {
  count: number;
  damage: string | null;
  spans: SpanRow[];
}

export interface Histogram {
  first: string;
  step: number;
  steps: [count: number, errors: number, p50: number, p90: number, p99: number][];
}

interface CallSum {
  count: number;
  errors: number;
  p50: number;
  p90: number;
  p99: number;
  total: number;
}

export interface ServiceEdge extends CallSum {
  caller: string | null; // null: it is not in the store
  callee: string;
}

// All calls of a service from outside of it.
export interface ServiceSum extends CallSum {
  service: string;
}

export interface Services {
  count: number;
  first: string;
  last: string;
  edges: ServiceEdge[];
  services: ServiceSum[];
}

export interface CriticalStep {
  start: number; // ns from the begin of the trace
  duration: number;
  span?: string | null; // undefined: between spans
  service?: string | null;
  method?: string;
}

export interface CriticalPath {
  time: string;
  duration: number;
  count: number;
  steps: CriticalStep[];
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
  isPartial: boolean;
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
  node: number; // its number in the trace
  below: number; // calls inside it, at any depth
  depth: number;
  method: string;
  start: number;
  duration: number;
  self: number;
  calls: number;
  isError: boolean;
  isOpen: boolean;
  attributes?: [string, Value][];
  links?: TraceLink[];
  exceptions?: TraceException[];
}

// From a span to one of this or another trace.
export interface TraceLink {
  trace: string;
  span: string;
  attributes: [string, Value][];
}

export interface LinkList {
  count: number;
  spans: { span: string | null; service: string | null; method: string; links: TraceLink[] }[];
}

// The calls of a trace over time, of all services.
export interface ChartAnswer {
  time: string;
  duration: number;
  count: number;
  spans: { span: string | null; service: string | null; parent: number | null }[];
  calls: [
    span: number,
    node: number,
    depth: number,
    start: number,
    duration: number,
    self: number,
    method: number,
  ][];
  methods: string[];
}

export interface Trace {
  trace: string;
  time: string;
  type: string | null;
  service: string | null;
  nodeCount: number;
  path: number[]; // calls around the first of `nodes`
  nodes: TraceNode[];
  next?: number; // the first call of nodes[0] beyond the limit
  spans: TraceSpan[];
}

export interface TraceSpan {
  node: number;
  span: string | null;
  parent: string | null;
  time: string;
  duration: number;
  errors: number;
  type: string | null;
  service: string | null;
  method: string;
}

export interface MethodRow {
  method: string;
  calls: number;
  errors: number;
  total: number; // of outermost calls
  self: number;
  longest: number;
}

export interface Methods {
  count: number;
  methods: MethodRow[];
}

export interface FoundCall {
  isFound: boolean;
  count: number;
  place?: number;
  node?: number;
  duration?: number;
  path?: number[];
}
