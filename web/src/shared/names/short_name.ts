// Names that do not fit, shortened so that the last part, the method, stays visible. The same rule as in the
// terminal (src/model/labels/short_name.h), tested with the same table (tests/support/short_names.tsv).

const ELLIPSIS = "…";
const PARTS_MAX = 64;
const INLINED = " (inlined)";
const NAME_MIN = 8;
const CLASS_MIN = 8;
const QUALIFIERS = [" const", " volatile", " &&", " &"];
const CLONES = [".isra.", ".part.", ".constprop.", ".cold", ".lto_priv.", ".llvm."];

// "RESULT SCOPE::LAST(PARAMETERS)"; numbers are positions in the text.
interface Parts {
  text: string;
  begin: number; // of scopes and last part
  end: number;
  params: [number, number] | null; // inside of the parentheses
  parts: number[]; // where parts begin
  separators: number[]; // length of the separator before each
}

interface Style {
  hasParams: boolean;
  hasArguments: boolean; // of templates
  hasResult: boolean;
  hasTypes: boolean; // "<alloc::vec::Vec<T> as core::ops::Drop>", else "<Vec as Drop>"
  first: number; // parts before that are left out, except the very first if hasFirst
  hasFirst: boolean;
  isBare: boolean; // without an ellipsis for parts that are left out
}

const widthOf = (text: string): number => [...text].length;
const opens = (c: string | undefined): boolean => c !== undefined && c !== "" && "<([{".includes(c);

// The ">" of an arrow or an operator closes nothing.
function closes(text: string, from: number, at: number): boolean {
  const c = text[at];
  if (c === ")" || c === "]" || c === "}") return true;
  return c === ">" && at > from && text[at - 1] !== "-" && text[at - 1] !== "=";
}

function skipQualifiers(text: string): number {
  let end = text.length;
  for (let i = 0; i < QUALIFIERS.length;) {
    const qualifier = QUALIFIERS[i] ?? "";
    if (text.slice(0, end).endsWith(qualifier)) {
      end -= qualifier.length;
      i = 0;
    } else {
      i++;
    }
  }
  return end;
}

// The parenthesis that belongs to the last character, ")"; -1: none.
function findOpening(text: string, last: number): number {
  let depth = 0;
  for (let at = last; at >= 0; at--) {
    if (text[at] === ")") depth++;
    if (text[at] === "(" && --depth === 0) return at;
  }
  return -1;
}

// "heat.c:25", "[unknown] [libz.so.1]" and "<main thread>" have no scopes.
function isPlain(text: string, end: number): boolean {
  const colon = text.indexOf(":");
  const next = text[colon + 1] ?? "";
  if (text.startsWith("[") || text.startsWith("loop at ")) return true;
  if (colon >= 0 && colon < end && next >= "0" && next <= "9") return true;
  if (!text.startsWith("<")) return false;
  let depth = 0;
  for (let at = 0; at < end; at++) {
    if (opens(text[at])) depth++;
    else if (closes(text, 0, at) && --depth === 0) return at + 1 === end;
  }
  return false;
}

function findParts(p: Parts): void {
  const { text } = p;
  let hasColons = false;
  let hasOperator = false;
  let depth = 0;
  for (let at = 0; at < p.end; at++) {
    if (depth === 0 && text.startsWith("operator", at)) hasOperator = true;
    if (depth === 0 && text[at] === " " && !hasOperator) p.begin = at + 1;
    if (opens(text[at]) && !hasOperator) depth++;
    else if (closes(text, 0, at) && depth > 0) depth--;
    hasColons ||= depth === 0 && text.startsWith("::", at);
  }
  p.parts = [p.begin];
  p.separators = [0];
  depth = 0;
  for (let at = p.begin; at < p.end && p.parts.length < PARTS_MAX; at++) {
    if (depth === 0 && text.startsWith("operator", at)) break;
    if (
      depth === 0 &&
      !hasColons &&
      CLONES.some((word) => text.slice(0, p.end).startsWith(word, at))
    )
      break;
    const separates = hasColons ? text.startsWith("::", at) : "./\\#".includes(text[at] ?? "x");
    const len = depth === 0 && separates ? (hasColons ? 2 : 1) : 0;
    if (len > 0 && at + len < p.end && at > p.begin) {
      p.separators.push(len);
      p.parts.push(at + len);
      at += len - 1;
      continue;
    }
    if (opens(text[at])) depth++;
    else if (closes(text, p.begin, at) && depth > 0) depth--;
  }
}

function split(text: string): Parts {
  const bare = skipQualifiers(text);
  const opening = bare > 0 && text[bare - 1] === ")" ? findOpening(text, bare - 1) : -1;
  const hasParams = opening > 0;
  const p: Parts = {
    text,
    begin: 0,
    end: hasParams ? opening : text.length,
    params: hasParams ? [opening + 1, bare - 1] : null,
    parts: [0],
    separators: [0],
  };
  if (!isPlain(text, p.end)) findParts(p);
  return p;
}

// Without arguments of templates, "<…>" instead. A "<" at the start of the name is no template.
function range(p: Parts, from: number, to: number, hasArguments: boolean): string {
  const { text } = p;
  let out = "";
  let depth = 0;
  for (let at = from; at < to; at++) {
    const operator = depth === 0 ? /^operator[<>=-]*/.exec(text.slice(at)) : null;
    if (operator) {
      out += operator[0];
      at += operator[0].length - 1;
    } else if (depth > 0) {
      if (text[at] === "<") depth++;
      if (text[at] === ">" && text[at - 1] !== "-" && --depth === 0) out += `<${ELLIPSIS}>`;
    } else if (!hasArguments && text[at] === "<" && at > p.begin) {
      depth = 1;
    } else {
      out += text[at] ?? "";
    }
  }
  return depth > 0 ? `${out}<${ELLIPSIS}` : out;
}

// The last part of a type: "Vec" of "&mut alloc::vec::Vec<T>".
function lastOfType(text: string, from: number, to: number): string {
  let begin = from;
  let end = to;
  let depth = 0;
  for (let at = from; at < end; at++) {
    if (opens(text[at])) {
      end = depth === 0 && at > begin ? at : end;
      depth++;
    } else if (closes(text, from, at) && depth > 0) {
      depth--;
    } else if (depth === 0 && (text[at] === " " || text.startsWith("::", at))) {
      begin = at + (text[at] === " " ? 1 : 2);
    }
  }
  return begin < end ? text.slice(begin, end) : "";
}

// "<Vec as Drop>" of the first part of a name of Rust; null if it is none.
function implementation(text: string, from: number, to: number): string | null {
  let depth = 0;
  for (let at = from; at < to; at++) {
    if (opens(text[at])) depth++;
    else if (closes(text, from, at) && depth > 0) depth--;
    if (depth === 1 && text.startsWith(" as ", at))
      return `<${lastOfType(text, from + 1, at)} as ${lastOfType(text, at + 4, to - 1)}>`;
  }
  return null;
}

function nameIn(p: Parts, style: Style): string {
  const { text } = p;
  let out = style.hasResult ? text.slice(0, p.begin) : "";
  let from = p.parts[style.first] ?? 0;
  if (style.first > 0 && !style.isBare) {
    if (style.hasFirst) out += range(p, p.parts[0] ?? 0, p.parts[1] ?? 0, style.hasArguments);
    out += ELLIPSIS + text.slice(from - (p.separators[style.first] ?? 0), from);
  }
  if (!style.hasTypes && style.first === 0 && text[from] === "<" && p.parts.length > 1) {
    const to = (p.parts[1] ?? 0) - (p.separators[1] ?? 0);
    const short = implementation(text, from, to);
    if (short !== null) {
      out += short;
      from = to;
    }
  }
  out += range(p, from, p.end, style.hasArguments);
  if (!p.params) return out;
  const inside = text.slice(...p.params);
  return `${out}(${style.hasParams ? inside : inside ? ELLIPSIS : ""})`;
}

// The first and the last characters of a text.
function cutMiddle(text: string, width: number): string {
  const chars = [...text];
  const tail = Math.ceil((width - 1) / 2);
  const head = width - 1 - tail;
  return chars.slice(0, head).join("") + ELLIPSIS + (tail > 0 ? chars.slice(-tail).join("") : "");
}

// True if the last part says little without the one before: "Thread.run", "(*conn).serve".
function hasClass(p: Parts): boolean {
  const before = p.text[(p.parts.at(-1) ?? 0) - 1] ?? "x";
  return p.parts.length > 1 && p.separators.at(-1) === 1 && ".#".includes(before);
}

// Without scopes from the left; the class of a method is kept longer than the ellipsis.
function scopeStyles(p: Parts, least: Style): Style[] {
  const count = p.parts.length;
  const kept = hasClass(p) ? 2 : 1;
  const styles: Style[] = [];
  for (let first = 2; first + kept <= count; first++)
    styles.push({ ...least, first, hasFirst: true });
  for (let first = 1; first + kept <= count; first++) styles.push({ ...least, first });
  if (kept > 1) styles.push({ ...least, first: count - 2, isBare: true });
  return styles;
}

// A method with as much of its class as there is room for, at least CLASS_MIN columns; else without.
function methodIn(p: Parts, least: Style, width: number): string {
  const first = p.parts.length - 1;
  const dot = (p.parts[first] ?? 1) - 1;
  const method = (p.text[dot] ?? "") + nameIn(p, { ...least, first, isBare: true });
  const room = width - widthOf(method);
  if (room < CLASS_MIN) return nameIn(p, { ...least, first });
  return cutMiddle(range(p, p.parts[first - 1] ?? 0, dot, false), room) + method;
}

function shorten(text: string, width: number): string {
  const p = split(text);
  const style: Style = {
    hasParams: false,
    hasArguments: true,
    hasResult: true,
    hasTypes: true,
    first: 0,
    hasFirst: false,
    isBare: false,
  };
  const styles: Style[] = [
    style,
    { ...style, hasArguments: false },
    { ...style, hasArguments: false, hasResult: false },
  ];
  const least: Style = { ...style, hasArguments: false, hasResult: false, hasTypes: false };
  styles.push(least, ...scopeStyles(p, least));
  for (const one of styles) {
    const name = nameIn(p, one);
    if (widthOf(name) <= width) return name;
  }
  if (hasClass(p)) {
    const name = methodIn(p, least, width);
    if (widthOf(name) <= width) return name;
  }
  const begin = p.parts.at(-1) ?? 0;
  const last = nameIn({ ...p, begin, parts: [begin], separators: [0] }, least);
  return widthOf(last) <= width ? last : cutMiddle(last, width);
}

// A name in at most `width` characters, at least 1.
export function shortName(name: string, width: number): string {
  if (widthOf(name) <= width) return name;
  if (!name.endsWith(INLINED)) return shorten(name, width);
  const text = name.slice(0, -INLINED.length);
  return width >= INLINED.length + NAME_MIN
    ? shorten(text, width - INLINED.length) + INLINED
    : shorten(text, width);
}
