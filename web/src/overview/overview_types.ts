// The answer to `overview`, as docs/http-api.md describes it.

import type { Column, Other, Row } from "../shared/types";

export interface Imbalance {
  by: "rank" | "thread";
  count: number;
  most: number; // number of the rank or thread with the largest value
  max: number;
  mean: number;
}

// The slowest call of a function; times in nanoseconds.
export interface SlowCall {
  function: string;
  task: number;
  time: number;
  duration: number;
  mean: number; // of all calls of the function
  count: number;
}

export interface Overview {
  metric: string;
  hotPath: Row[];
  columns?: Column[]; // these five are missing while a job computes them
  functionCount?: number;
  functions?: Other[];
  waiting?: Other[];
  slow?: Other[];
  threads: (number | null)[][]; // profile, value, waiting by kind
  labels: [number, string][]; // of the busiest threads
  imbalance: Imbalance | null;
  warnings: { text: string; isDamage: boolean }[];
  lostRecords?: number; // of recordings
  callCost?: number; // ns
  isPartial: boolean;
}
