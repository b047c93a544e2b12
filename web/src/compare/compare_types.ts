// The answers to `diff`, as docs/http-api.md describes them.

export interface Whole {
  metric: string;
  runs: [number, number];
  over: "runs" | "threads" | "calls" | null;
  a: number;
  b: number;
  gross: number;
  hasCalls: boolean;
  uncounted: number;
}

export interface DiffLine {
  a: number;
  b: number;
  difference: number;
  ratio: number | null;
  sharePercent: number | null;
  plusMinus: number | null;
  p: number | null;
  verdict: "unknown" | "real" | "noise" | "small";
  callsA: number | null;
  callsB: number | null;
}

export interface NamedLine extends DiffLine {
  function: string;
  label: string;
  path: string;
}

export interface Explained extends Whole {
  changedCount: number;
  realCount: number;
  explained: number;
  whole: DiffLine;
  lines: (NamedLine & {
    kind: "self" | "new" | "gone" | "moved" | "calls";
    paths: number;
    hasPath: boolean;
    node: string;
  })[];
}

export interface DiffRows extends Whole {
  cost: "total" | "self";
  count: number;
  rows: (NamedLine & { id: string; isLeaf: boolean })[];
}

// depth, name, a, b, self of a, self of b, id
export type DiffNode = [number, number, number, number, number | null, number | null, string];

export interface DiffFlame extends Whole {
  isCut: boolean;
  names: string[];
  nodes: DiffNode[];
}

export interface DiffFacets {
  readA: number;
  readB: number;
  isEstimated: boolean;
  damage: string | null;
  count: number;
  facets: {
    side: "a" | "b";
    key: string;
    relation: "=" | ">" | "<";
    value: string;
    hasA: number;
    ofA: number;
    hasB: number;
    ofB: number;
    logP: number;
  }[];
}
