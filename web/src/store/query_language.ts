// The languages that the query box of a store understands, which differ by how a query begins.

import { complete, hasCondition, quote, toggleCondition, type Offer } from "./query_text";
import {
  completeTraceQL,
  hasTraceQL,
  isTraceQL,
  quoteTraceQL,
  toggleTraceQL,
} from "./traceql_text";

interface QueryLanguage {
  complete: (text: string, cursor: number, names: string[]) => Offer;
  quote: (value: string) => string;
  // Conditions are those of cairn's own language.
  has: (query: string, condition: string) => boolean;
  toggle: (query: string, condition: string) => string; // adds it, or removes it
}

const CAIRN: QueryLanguage = { complete, quote, has: hasCondition, toggle: toggleCondition };
const TRACEQL: QueryLanguage = {
  complete: completeTraceQL,
  quote: quoteTraceQL,
  has: hasTraceQL,
  toggle: toggleTraceQL,
};

export const PLACEHOLDER =
  "errors   duration > 100ms   http.status = 500   last 2h   or TraceQL: { status = error }";
export const HINT =
  "query: such as errors last 2h, duration > 100ms, http.status = 500, or TraceQL: { status = error }";

export const languageOf = (query: string): QueryLanguage => (isTraceQL(query) ? TRACEQL : CAIRN);

export const has = (query: string, condition: string): boolean =>
  languageOf(query).has(query, condition);
export const toggle = (query: string, condition: string): string =>
  languageOf(query).toggle(query, condition);

export const including = (query: string, condition: string): string =>
  has(query, condition) ? query : toggle(query, condition);
