// Checks that the viewer uses the tokens of src/shared/look/theme.css and nothing else: no colour, size, duration or layer
// of its own in a style sheet, no colour and no font in a component, no token that is unknown, and no
// width of a window but those of docs/design.md.
//   node tokens.mjs
import { readFileSync, readdirSync } from "node:fs";

const THEME = "src/shared/look/theme.css";
const COLORS = "src/shared/look/colors.ts"; // mixes the colours of tokens
const BREAKPOINTS = ["640px", "641px", "900px", "901px", "1200px", "1201px", "1600px", "2560px"];
const NAMED =
  /\b(?:white|black|red|green|blue|yellow|orange|purple|gr[ae]y|silver|brown|pink|gold|navy|teal)\b/;

const files = readdirSync("src", { recursive: true })
  .map((name) => `src/${name}`)
  .sort();
const problems = [];
const used = new Set();

function positions(name, text, pattern, say) {
  for (const match of text.matchAll(pattern)) {
    const line = text.slice(0, match.index).split("\n").length;
    const problem = say(match);
    if (problem) problems.push(`${name}:${line}: ${problem}`);
  }
}

const blank = (match) => match.replace(/[^\n]/g, " ");

function checkSheet(name) {
  const text = readFileSync(name, "utf8").replace(/\/\*.*?\*\//gs, blank);
  const rules = text.replace(/@media[^{]*\{/g, blank);
  positions(name, text, /@media[^{]*\{/g, ([head]) => {
    const widths = head.match(/\d+[a-z]+/g) ?? [];
    const odd = widths.find((width) => !BREAKPOINTS.includes(width));
    return odd && `${odd} is no width of docs/design.md`;
  });
  const values = /(?<=[;{]\s*)([a-z-]+):\s*([^;{}]+);/g;
  positions(name, rules, values, ([, property, value]) => {
    const bare = value.replace(/var\(--[\w-]+\)|url\([^)]*\)|"[^"]*"/g, "");
    const size = /(?<![\w.-])-?(?:\d*\.)?\d+(?:px|r?em|pt|cm|mm|ms|s)\b/.exec(bare);
    if (size) return `${property}: ${size[0]} is no token`;
    if (/#[0-9a-f]{3,8}\b|\b(?:rgb|hsl|lab|oklab|lch|oklch)a?\(/i.test(bare) || NAMED.test(bare))
      return `${property}: ${value} has a colour that is no token`;
    if (/^(?:font-weight|z-index|line-height)$/.test(property) && /\d/.test(bare))
      return `${property}: ${value} is no token`;
    return null;
  });
}

// Colours and fonts of canvases come from tokens.
function checkScript(name) {
  if (name === COLORS) return;
  const text = readFileSync(name, "utf8").replace(/\/\/[^\n]*/g, blank);
  positions(
    name,
    text,
    /["'`](?:#[0-9a-f]{3,8}\b|(?:rgb|hsl|oklch)a?\()|\d(?:px|rem) (?:sans|mono|system)/gi,
    ([match]) => `${match.slice(1)}…: colours and fonts are tokens`,
  );
}

const theme = readFileSync(THEME, "utf8");
const known = new Set([...theme.matchAll(/^\s*(--[\w-]+):/gm)].map(([, token]) => token));
for (const name of files) {
  if (!/\.(?:css|tsx?)$/.test(name)) continue;
  const text = readFileSync(name, "utf8");
  for (const [, token] of text.matchAll(/var\((--[\w-]+)/g)) used.add(token);
  for (const [, token] of text.matchAll(/"(--[a-z][\w-]*)"/g)) used.add(token);
  for (const [, token] of text.matchAll(/[`](--[\w-]+-)\$\{/g))
    for (const other of known) if (other.startsWith(token)) used.add(other);
  if (name !== THEME) (name.endsWith(".css") ? checkSheet : checkScript)(name);
}
const local = new Set(); // of one component
for (const name of files.filter((one) => /\.(?:css|tsx)$/.test(one)))
  for (const [, token] of readFileSync(name, "utf8").matchAll(/(?:^\s*|")(--[a-z][\w-]*)"?:/gm))
    local.add(token);
for (const token of used)
  if (!known.has(token) && !local.has(token)) problems.push(`${token} is no token of ${THEME}`);
for (const problem of problems) console.error(problem);
process.exitCode = problems.length > 0 ? 1 : 0;
