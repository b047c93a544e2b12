// Long names of functions, shortened for a row or a box; the full name is shown on hover.

import { splitMethod } from "../format";
import { printable } from "./printable";
import { shortName } from "./short_name";

// "std::map<int, std::vector<int> >::at(int const&)" becomes "std::map<…>::at(int const&)".
// Operators such as "operator<<" and "->" contain no template arguments.
export function foldTemplates(name: string): string {
  let out = "";
  let depth = 0;
  for (let i = 0; i < name.length; i++) {
    const operator =
      depth === 0 ? /^operator\s*(<=>|<<=?|>>=?|<=?|>=?|->\*?)/.exec(name.slice(i)) : null;
    if (operator) {
      out += operator[0];
      i += operator[0].length - 1;
      continue;
    }
    const letter = name[i] ?? "";
    if (letter === "<" && i > 0 && /[\w>]/.test(name[i - 1] ?? "")) {
      if (depth++ === 0) out += "<…";
    } else if (letter === ">" && depth > 0 && name[i - 1] !== "-") {
      if (--depth === 0) out += ">";
    } else if (depth === 0) out += letter;
  }
  return depth === 0 ? out : name;
}

// A name of at most `max` letters, cut in the middle: the end tells functions apart. Methods of languages with dots
// keep their class.
export function shorten(name: string, max: number): string {
  if (name.length <= max) return name;
  const folded = foldTemplates(name);
  if (folded.length <= max) return folded;
  if (splitName(folded).scope.endsWith(".")) return shortName(folded, max);
  const head = Math.ceil((max - 1) * 0.4);
  return `${folded.slice(0, head)}…${folded.slice(folded.length - (max - 1 - head))}`;
}

const TAIL_MAX = 10; // letters
const TAIL_MIN = 4;

const HEAD_MIN = 3;

// A text in two parts, of which the first one may be cut: "copy_folio_from_iter_" and "atomic". The second one begins
// with a word where that leaves it neither long nor short.
export function splitTail(text: string): { head: string; tail: string } {
  if (text.length <= TAIL_MAX) return { head: "", tail: text };
  const tail = text.slice(-TAIL_MAX);
  const word = /^.*?((?<=[_\W])[^_\W]|(?<=[a-z])[A-Z])/.exec(tail)?.[0].length ?? 1;
  const at = TAIL_MAX - word + 1 < TAIL_MIN ? 0 : word - 1;
  const head = text.slice(0, text.length - TAIL_MAX + at);
  // A shorter one would be as wide as one that is cut, with a gap after it.
  return head.length < HEAD_MIN ? { head: "", tail: text } : { head, tail: tail.slice(at) };
}

// Where a name can be cut: "std::map<int>::", "at", "(int const&)"; "com.example.", "Dao.query", "".
export function splitName(name: string): { scope: string; last: string; rest: string } {
  const folded = foldTemplates(name);
  const at = folded.search(/(?<!^|operator)\((?!anonymous|lambda)/);
  const end = at < 0 ? folded.length : at;
  const callable = folded.slice(0, end);
  const scoped = /^([^]*::)(~?[^:]+|operator[^]*)$/.exec(callable);
  const { short, around } = splitMethod(callable);
  const scope = scoped?.[1] ?? (around ? `${around}.` : "");
  return { scope, last: scoped?.[2] ?? short, rest: folded.slice(end) };
}

// The name alone: "at" of "std::map<int, int>::at(int const&)", "Dao.query" of
// "com.example.Dao.query", "~thread" of "std::thread::~thread()".
export function bareName(name: string): string {
  const folded = foldTemplates(name.replace(/::cxx11\b/g, "")).replace(
    /\((?!anonymous|lambda).*$/s,
    "",
  );
  const scoped = /(?:^|::)(operator.*|[^:]+)$/s.exec(folded)?.[1] ?? folded;
  return splitMethod(scoped).short || name;
}

// Texts that are drawn thousands of times, with the font of the last canvas.
let font = "";
const widths = new Map<string, number>();
const bareNames = new Map<string, string>();

function cached<T>(cache: Map<string, T>, text: string, compute: () => T): T {
  const known = cache.get(text);
  if (known !== undefined) return known;
  if (cache.size > 20000) cache.clear();
  const value = compute();
  cache.set(text, value);
  return value;
}

function widthOf(context: CanvasRenderingContext2D, text: string): number {
  if (context.font !== font) {
    widths.clear();
    font = context.font;
  }
  return cached(widths, text, () => context.measureText(text).width);
}

const MIDDLE_MIN = 8; // letters: fewer have no room for a beginning and an end

// What a box has room for: the name, else without namespaces and arguments, else its beginning and its end, or of a
// few letters the beginning; "" where nothing legible remains.
export function fitName(context: CanvasRenderingContext2D, given: string, width: number): string {
  const name = printable(given);
  if (widthOf(context, name) <= width) return name;
  const bare = cached(bareNames, name, () => bareName(name));
  const size = widthOf(context, bare);
  if (size <= width) return bare;
  let letters = Math.min(bare.length - 1, Math.floor((width / size) * bare.length));
  const cut = () => {
    const end = letters < MIDDLE_MIN ? 0 : letters >> 1;
    return `${bare.slice(0, letters - end).trimEnd()}…${bare.slice(bare.length - end)}`;
  };
  while (letters > 1 && widthOf(context, cut()) > width) letters--;
  return letters < 2 ? "" : cut();
}
