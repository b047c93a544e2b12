import assert from "node:assert/strict";
import { test } from "node:test";
import {
  clockMarks,
  complete,
  errorColumn,
  fieldName,
  groupsOf,
  hasCondition,
  printClock,
  quote,
  remember,
  toggleCondition,
  tokenize,
  withTimes,
  withoutTimes,
} from "../src/store/query_text";
import { has, including, toggle } from "../src/store/query_language";
import { completeTraceQL, isTraceQL } from "../src/store/traceql_text";

const names = ["http.status", "db", "uri"];
const offered = (text: string) => complete(text, text.length, names);

test("a query is words, quotes, comparisons and brackets", () => {
  const tokens = tokenize('(a!="b \\"c" or x~\'d e\')');
  assert.deepEqual(
    tokens.map((token) => token.text),
    ["(", "a", "!=", 'b "c', "or", "x", "~", "d e", ")"],
  );
  assert.deepEqual(tokens[3], { begin: 4, end: 11, text: 'b "c', kind: "quoted" });
});

test("names are completed where the cursor is", () => {
  const { kind, begin, words } = complete("errors AND http.s", 17, names);
  assert.deepEqual([kind, begin, words], ["name", 11, ["http.status"]]);
  assert.deepEqual(complete("(du = 3", 3, names).words, ["duration"]);
});

test("after a name come comparisons, those that it has", () => {
  assert.ok(!offered("duration ").words.includes("contains"));
  assert.ok(offered("uri ").words.includes("contains"));
  assert.deepEqual(offered("uri co").words, ["contains"]);
  assert.equal(offered("uri contains uri ").kind, "name", "a value is no name");
});

test("after a comparison come values", () => {
  assert.deepEqual(
    [offered("uri = /a").kind, offered("uri = /a").field, offered("uri = /a").typed],
    ["value", "uri", "/a"],
  );
  assert.deepEqual([offered("uri starts ").kind, offered("uri starts ").field], ["value", "uri"]);
  assert.deepEqual(offered("duration > 100").words, ["100ms"]);
  assert.ok(offered("last ").words.includes("1h"));
  assert.equal(offered('uri = "a b').typed, "a b");
  assert.equal(offered('uri = "a b" ').kind, "name");
});

test("values of attributes, types and first methods are looked up", () => {
  assert.deepEqual(
    ["uri", "type", "method", "root", "duration", "text", "last", ""].map(groupsOf),
    ["uri", "type", "method", "method", null, null, null, null],
  );
});

test("values are quoted when they need it, names marked", () => {
  assert.equal(quote("/items/1"), "/items/1");
  assert.equal(quote('a "b"'), '"a \\"b\\""');
  assert.equal(quote("and"), '"and"');
  assert.equal(quote(""), '""');
  assert.equal(fieldName("errors"), "@errors");
  assert.equal(fieldName("uri"), "uri");
});

test("a condition is added, and taken away again", () => {
  assert.equal(toggleCondition("errors", "type = db"), "errors type = db");
  assert.equal(toggleCondition("errors type = db", "type = db"), "errors");
  assert.equal(toggleCondition("type=db AND errors", "type = db"), "errors");
  assert.equal(toggleCondition("errors and type = db", "type = db"), "errors");
  assert.equal(toggleCondition("type = db", "type = db"), "");
  assert.equal(toggleCondition("a or b", "type = db"), "(a or b) type = db");
  assert.equal(toggleCondition('text = "type = db"', "type = db"), 'text = "type = db" type = db');
});

test("a condition is there unless it is negated", () => {
  assert.ok(hasCondition('uri = "a b" errors', 'uri = "a b"'));
  assert.ok(!hasCondition("NOT type = db", "type = db"));
  assert.ok(!hasCondition("type = dbx", "type = db"));
});

test("times replace earlier ones", () => {
  const query = withTimes(
    'errors since "2020-01-01 00:00" until 2021-01-01 last 2h',
    0n,
    1_500_000_000n,
  );
  assert.equal(query, 'errors since "1970-01-01 00:00:00" until "1970-01-01 00:00:01.5"');
  assert.equal(withoutTimes(query), "errors");
  assert.equal(printClock(1_700_000_000_123_456_789n), "2023-11-14 22:13:20.123456789");
});

test("errors point at a character, though columns are bytes", () => {
  assert.equal(errorColumn("query, column 10: a value is missing", "duration >"), 9);
  assert.equal(errorColumn("query, column 8: a value is missing", "größe ="), 5);
  assert.equal(errorColumn("something else", ""), -1);
});

test("the last query is remembered first, once", () => {
  assert.deepEqual(remember(["a", "b"], "b"), ["b", "a"]);
  assert.deepEqual(remember(["a"], ""), ["a"]);
});

test("marks of an axis are different times", () => {
  const second = 1_000_000_000n;
  const first = 1_700_000_000n * second;
  assert.deepEqual(clockMarks(first, first + second / 2n, 3), [
    "2023-11-14 22:13:20 UTC",
    "22:13:20.25",
    "22:13:20.5",
  ]);
  assert.deepEqual(clockMarks(first, first + 86_400n * second, 2), [
    "2023-11-14 22:13:20 UTC",
    "2023-11-15 22:13:20",
  ]);
});

const traceql = (text: string) =>
  completeTraceQL(text, text.length, [
    "http.status",
    "host.name",
    "resource.host.name",
    "event.kind",
  ]);

test("TraceQL is completed by fields, comparisons, values, relations and stages", () => {
  assert.ok(isTraceQL(" ({ a } || {})") && !isTraceQL("a = {"));
  assert.deepEqual(traceql("{ sta").words, ["status", "statusMessage"]);
  assert.deepEqual(traceql("{ span.h").words, ["span.http.status"]);
  assert.deepEqual(traceql("{ resource.").words, ["resource.host.name"]);
  assert.deepEqual(traceql("{ event.k").words, ["event.kind"]);
  assert.ok(traceql("{ status ").words.includes("!="));
  assert.deepEqual(traceql("{ status = e").words, ["error"]);
  const value = traceql('{ span.http.status = "5');
  assert.deepEqual([value.kind, value.field, value.begin], ["value", "http.status", 21]);
  assert.equal(traceql("{ resource.service.name = ").field, "service");
  assert.deepEqual(traceql('{ name = "a" ').words, ["&&", "||", "}"]);
  assert.ok(traceql("{ } ").words.includes(">>"));
  assert.deepEqual(traceql("{ } | ra").words, ["rate()"]);
  assert.deepEqual(traceql("{ } last 1").words, ["15m", "1h"]);
});

test("conditions are spansets of TraceQL, before its stages and times", () => {
  assert.equal(toggle("{ }", "service = pay"), '{ } && { resource.service.name = "pay" }');
  assert.equal(
    toggle("{ } >> { } | rate() last 2h", "errors"),
    "({ } >> { }) && { status = error } | rate() last 2h",
  );
  assert.equal(toggle("{ }", 'uri contains "a.b"'), '{ } && { .uri =~ ".*a\\\\.b.*" }');
  assert.equal(toggle("{ }", "NOT http.status = 500"), "{ } && { .http.status != 500 }");
  assert.equal(toggle("{ }", "@duration = x y"), '{ } && { .duration = "x" }');
  const query = toggle("{ a = 1 } last 2h", "type = server");
  assert.equal(query, "{ a = 1 } && { kind = server } last 2h");
  assert.ok(has(query, "type = server") && !has(query, "type = client"));
  assert.equal(toggle(query, "type = server"), "{ a = 1 } last 2h");
  assert.equal(including(query, "type = server"), query);
  assert.equal(toggle("{ status = error }", "errors"), "");
});
