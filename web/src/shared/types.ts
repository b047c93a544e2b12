// The answers of the server, as docs/http-api.md describes them.

export interface Source {
  id: number;
  kind: "database" | "recording" | "store";
  name: string;
  path: string;
  format: string;
  state: "working" | "ready" | "failed";
  shareDone: number;
  failure?: string;
}

export interface Sources {
  version: string;
  sources: Source[];
}

export interface Metric {
  name: string;
  description: string | null;
  isVisible: boolean;
}

export type ThreadState = "running" | "waiting" | "blocked" | "pre-empted" | "no data";

export interface TimeState {
  name: string;
  metric: string;
  seconds: number | null;
}

export interface Task {
  index: number;
  tid: number;
  pid: number;
  name: string;
  profile?: number; // undefined: it recorded nothing
}

export interface Info {
  kind: string;
  isReady: boolean; // false: a recording that is being analysed
  title: string;
  threadCount: number;
  valueCount: number;
  sampleCount: number;
  contextLimit: number;
  hasTimelines: boolean;
  hasLatencies: boolean;
  origin: string;
  duration: number;
  timelineResolution?: number; // ns, if some samples were dropped: sums of samples are estimates
  metrics: Metric[];
  defaultMetric: string; // of views without a metric and without waits; "": none
  states: TimeState[]; // all time, then running, blocked, pre-empted; empty: unknown
  costTimes?: "corrected" | "recorded"; // of a recording; timelines and calls are recorded
  tasks?: Task[];
  facts?: [string, string][];
}

export interface Column {
  name: string;
  title: string;
  metric: string;
  side: "inclusive" | "exclusive";
  isPercentile: boolean;
  total: number | null;
  hasShare?: boolean; // false: a value is no part of the total
  heading?: string; // the title of the column, if it is not a side of a metric
  isSortable?: boolean; // default: true
}

export interface Row {
  id: string;
  kind: string;
  label: string;
  context: string; // id, in the top-down view, of one of its contexts
  module: string | null;
  file: string | null;
  line: number;
  isLeaf: boolean;
  values: (number | null)[];
}

export interface Rows {
  columns: Column[];
  label?: string; // of the row whose children these are
  count: number;
  rows: Row[];
  isPartial?: boolean; // an estimate: ask again
}

export interface Hit {
  path: string[]; // of the rows above
  row: Row;
}

export interface Hits {
  count: number;
  hits: Hit[];
  isPartial?: boolean;
}

// depth, name, module, total, self, id; then the waiting in self, by state
export type FlameNode = [
  number,
  number,
  number,
  number,
  number | null,
  string,
  ...(number | null)[],
];

export interface Flame {
  column: string;
  total: number;
  isCut: boolean;
  isPartial?: boolean; // an estimate: ask again
  names: string[];
  modules: string[];
  nodes: FlameNode[];
  pauses?: [number, number][]; // of a graph over time: begin and end of waiting, as starts
  starts?: number[]; // begin of each box, if they do not lie side by side
  side?: "total" | "self"; // of the boxes; callers have self costs
  waits?: string[]; // states of waiting, if the values count them
  waiting?: number; // seconds of waiting in a time range, which its values do not count
  functions?: [string, number][]; // of a time range: self ns, longest first
  others?: [number, number]; // how many more functions, and their ns
}

// Durations of calls: percentiles in ns, and calls by duration, [low ns, high ns, calls].
export interface Latency {
  p50: number | null;
  p90: number | null;
  p99: number | null;
  buckets: [number, number, number][];
}

export interface ContextDetail {
  columns: Column[];
  row: Row;
  path: { id: string; label: string }[];
  latency: Latency;
  threads: [number, number][];
}

// A function, and the path to the context where it costs most.
export interface Other {
  path: string[];
  row: Row;
  caller?: string; // of a function of the C library, in which a thread waits
}

export interface FunctionDetail {
  columns: Column[];
  function: Row;
  latency?: Latency; // with percentiles
  callers: Other[];
  callees: Other[];
}

export interface SourceText {
  path: string;
  line: number;
  column: string;
  total: number | null;
  lines: string[];
  costs: [number, number][];
  isPerFunction: boolean; // some costs belong to functions, not to lines
}

export interface NestedAnswerRow {
  profile: number;
  label: string;
  // columns, frame (null: no samples), share in percent, samples
  runs: [number, number | null, number, number][];
  waits?: [number, number, number][]; // first and last column of long waits, and the frame that waits
  held?: [number | null, number | null]; // frames that are open during waiting at both ends
  states?: [number, number | null][]; // columns, state: 0 running, 1 blocked, 2 pre-empted
}

// A timeline of whole stacks.
export interface NestedAnswer {
  threadCount: number;
  first: number;
  begin: number;
  end: number;
  columns: number;
  depthMax: number;
  idle: number;
  waiting: number;
  isEstimate: boolean;
  isPending: boolean; // asked again later, the answer is exact
  rows: NestedAnswerRow[];
  frames: [number, number | null, number][]; // frame, caller, function
  names: [number, string][];
  functions: [string, number][]; // self ns
  others: [number, number]; // how many more functions, and their ns
}

export interface Counter {
  profile: number;
  label: string; // of the thread
  name: string;
}

export type Points = [number, number, number, number][]; // time, minimum, maximum, last of a column

export interface CounterList {
  isPending: boolean;
  counters: Counter[];
}

export interface CounterPoints {
  counters: (Counter & { points: Points })[];
}

// Times in ns; inside calls and outside.
export interface States {
  isPending: boolean;
  states: ["running" | "blocked" | "pre-empted" | "no data", number][]; // empty: unknown
  wall?: number; // of a thread; unless it is unknown
  waitingOutside?: number; // outside of calls; of a list
  threads?: number[][]; // profile, ns of each state, waiting outside of calls; of a list
}

// profile, time and innermost function of both ends, and a name.
export interface FlowAnswer {
  count: number; // of all
  flows: [number, number, string | null, number, number, string | null, string][];
}

export interface Stack {
  begin?: number;
  end?: number;
  id?: string;
  state?: ThreadState;
  frames?: { label: string; place: number; depth: number }[]; // while it waits, around the wait
}

export interface Thread {
  profile: number;
  label: string;
  values: number;
  samples: number;
  group: string; // process or rank; "": none
  name: string; // in the group
  selector: string; // selects this thread alone
  creator?: number; // profile of the thread that started it
  start?: number; // when
}

export interface Call {
  time: number;
  kind: "enter" | "exit" | "lost" | "event";
  depth: number;
  name?: string;
  values: string;
  duration?: number; // of an entry whose exit was read, or that never returned
  atLeast?: number; // of an entry whose exit is after what was read
  isOpen?: boolean; // it never returned
  result?: string;
}

// `first` and `next` are positions to continue from.
export interface Calls {
  calls: Call[];
  first: string;
  next: string;
  isStart: boolean;
  isEnd: boolean;
  damage?: string;
}

export interface Found {
  isFound: boolean;
  time?: number;
  duration?: number;
  depth?: number;
  place?: string;
  next?: string; // nothing found so far: continue there
}
