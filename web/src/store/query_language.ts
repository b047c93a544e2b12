// The languages that the query box of a store understands. A language completes what is typed, and says where
// a time range and a condition are in a query, so that a click on a value, a bar or a time changes it.

import {
  complete,
  hasCondition,
  timesOf,
  toggleCondition,
  withLast,
  withTimes,
  withoutTimes,
  type Offer,
  type Times,
} from "./query_text";

export interface QueryLanguage {
  name: string; // in the address
  title: string;
  placeholder: string;
  hint: string;
  complete: (text: string, cursor: number, names: string[]) => Offer;
  has: (query: string, condition: string) => boolean;
  toggle: (query: string, condition: string) => string;
  times: (query: string) => Times;
  withTimes: (query: string, from: bigint, to: bigint) => string;
  withLast: (query: string, duration: string) => string;
  withoutTimes: (query: string) => string;
}

const CAIRN: QueryLanguage = {
  name: "",
  title: "cairn",
  placeholder: "errors   duration > 100ms   http.status = 500   method = Dao.query   last 2h",
  hint: "query: such as errors last 2h, duration > 100ms, http.status = 500, method = Dao.query",
  complete,
  has: hasCondition,
  toggle: toggleCondition,
  times: timesOf,
  withTimes,
  withLast,
  withoutTimes,
};

// The first one is the default. With more than one, the box has a choice.
export const LANGUAGES: [QueryLanguage, ...QueryLanguage[]] = [CAIRN];

export const languageOf = (name: string | undefined): QueryLanguage =>
  LANGUAGES.find((language) => language.name === name) ?? LANGUAGES[0];
