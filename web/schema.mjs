// What is made from docs/http-api.schema.json, the one description of the API:
//   node schema.mjs types           writes generated/answers.ts, the types of answers
//   node schema.mjs docs [--check]  writes the tables of docs/http-api.md; or fails if they are not current
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const SCHEMA = fileURLToPath(new URL("../docs/http-api.schema.json", import.meta.url));
const DOCUMENT = fileURLToPath(new URL("../docs/http-api.md", import.meta.url));
const TYPES = fileURLToPath(new URL("generated/answers.ts", import.meta.url));

const nameOf = (reference) => reference.slice("#/$defs/".length);
const basesOf = (rule) => (rule.allOf ?? []).map((base) => nameOf(base.$ref));
const list = (value) => (Array.isArray(value) ? value : [value]);

// Types in TypeScript.

const SIMPLE = {
  integer: "number",
  number: "number",
  string: "string",
  boolean: "boolean",
  null: "null",
};

function union(types) {
  return [...new Set(types)].join(" | ");
}

function tuple(rule) {
  const least = rule.minItems ?? rule.prefixItems.length;
  const items = rule.prefixItems.map(
    (item, i) => `${item.title}${i < least ? "" : "?"}: ${typeOf(item)}`,
  );
  if (rule.items) items.push(`...${rule.items.title}: (${typeOf(rule.items)})[]`);
  return `[${items.join(", ")}]`;
}

function typeOf(rule) {
  if (rule.$ref) return nameOf(rule.$ref);
  if (rule.oneOf) return union(rule.oneOf.map(typeOf));
  if (rule.enum) return union(rule.enum.map((value) => JSON.stringify(value)));
  if (rule.prefixItems) return tuple(rule);
  if (rule.type === "array") {
    const item = typeOf(rule.items);
    return item.includes(" ") && !item.startsWith("[") ? `(${item})[]` : `${item}[]`;
  }
  return union(list(rule.type).map((type) => SIMPLE[type]));
}

function comment(rule) {
  return rule.description ? ` // ${rule.description}` : "";
}

function interfaceOf(name, rule) {
  const bases = basesOf(rule);
  const members = Object.entries(rule.properties).map(([member, inner]) => {
    const mark = rule.required?.includes(member) ? "" : "?";
    return `  ${member}${mark}: ${typeOf(inner)};${comment(inner)}\n`;
  });
  return `export interface ${name}${bases.length ? ` extends ${bases.join(", ")}` : ""} {\n${members.join("")}}\n`;
}

function types(schema) {
  const parts = Object.entries(schema.$defs).map(
    ([name, rule]) =>
      (rule.description ? `// ${rule.description}\n` : "") +
      (rule.properties ? interfaceOf(name, rule) : `export type ${name} = ${typeOf(rule)};\n`),
  );
  return `// Made by schema.mjs from docs/http-api.schema.json: change that.\n\n${parts.join("\n")}`;
}

// Tables of the document.

function table(head, rows) {
  const line = (cells) =>
    `|${cells.map((cell) => (cell ? ` ${cell.replaceAll("|", "\\|")} |` : " |")).join("")}\n`;
  return line(head) + line(head.map(() => "---")) + rows.map(line).join("");
}

const link = (name) => `[${name}](#${name.toLowerCase()})`;

function describe(rule) {
  if (rule.$ref) return link(nameOf(rule.$ref));
  if (rule.oneOf) return rule.oneOf.map(describe).join(" or ");
  if (rule.enum)
    return rule.enum.map((value) => (value === null ? "null" : `\`${value}\``)).join(", ");
  if (rule.prefixItems) {
    const names = rule.prefixItems.map((item) => item.title);
    if (rule.items) names.push(`${rule.items.title}...`);
    return `\`[${names.join(", ")}]\``;
  }
  if (rule.type === "array") return `list of ${describe(rule.items)}`;
  return list(rule.type).join(" or ");
}

function parameter([name, meaning]) {
  const shown = name.startsWith("*") ? `*${name.slice(1)}*` : `\`${name}\``;
  return meaning ? `${shown} (${meaning})` : shown;
}

function questions(schema, group) {
  const head = group === "diff" ? "form" : "question";
  return table(
    [head, "parameters", "answer"],
    Object.entries(schema.questions[group]).map(([name, { parameters, answer, description }]) => [
      `\`${name}\``,
      Object.entries(parameters).map(parameter).join(", "),
      `${describe(answer)}: ${description}`,
    ]),
  );
}

// Names without a meaning share that of the one before.
function parameterSet(schema, name) {
  const rows = [];
  for (const [one, meaning] of Object.entries(schema.parameterSets[name])) {
    if (meaning) rows.push([`\`${one}\``, meaning]);
    else rows.at(-1)[0] += `, \`${one}\``;
  }
  return table(["parameter", "meaning"], rows);
}

function definition([name, rule]) {
  const bases = basesOf(rule).map(link).join(" and ");
  const about = [rule.description, bases && `All of ${bases}, and:`].filter(Boolean).join(" ");
  const body = rule.properties
    ? table(
        ["member", "type", "meaning"],
        Object.entries(rule.properties).map(([member, inner]) => [
          `\`${member}${rule.required?.includes(member) ? "" : "?"}\``,
          describe(inner),
          inner.description ?? "",
        ]),
      )
    : `${describe(rule)}\n`;
  return `### ${name}\n\n${about ? `${about}\n\n` : ""}${body}`;
}

const MAKERS = {
  questions,
  parameters: parameterSet,
  types: (schema) => Object.entries(schema.$defs).map(definition).join("\n"),
};

function withTables(schema, text) {
  return text.replace(
    /(<!-- made by web\/schema.mjs: (\w+) ?(\w*) -->\n).*?(<!-- end -->)/gs,
    (_, begin, what, of, end) => `${begin}\n${MAKERS[what](schema, of)}\n${end}`,
  );
}

// Two builds may do so at a time.
export function writeTypes() {
  const text = types(JSON.parse(readFileSync(SCHEMA, "utf8")));
  if (existsSync(TYPES) && readFileSync(TYPES, "utf8") === text) return;
  mkdirSync(new URL("generated", import.meta.url), { recursive: true });
  writeFileSync(`${TYPES}.${process.pid}`, text);
  renameSync(`${TYPES}.${process.pid}`, TYPES);
}

function writeDocs(isCheck) {
  const text = readFileSync(DOCUMENT, "utf8");
  const made = withTables(JSON.parse(readFileSync(SCHEMA, "utf8")), text);
  if (!isCheck) return writeFileSync(DOCUMENT, made);
  if (made === text) return;
  console.error("docs/http-api.md differs from docs/http-api.schema.json; run: make docs");
  process.exitCode = 1;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  if (process.argv[2] === "docs") writeDocs(process.argv[3] === "--check");
  else writeTypes();
}
