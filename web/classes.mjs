// Checks that style sheets and components agree: every class that a component sets has a rule, or is what a
// test in e2e/ looks for; every class with a rule is set by a component; every style sheet is imported.
//   node classes.mjs
import { readFileSync, readdirSync } from "node:fs";
import ts from "typescript";

const files = (folder, ending) =>
  readdirSync(folder, { recursive: true })
    .map((name) => `${folder}/${name}`)
    .filter((name) => ending.test(name))
    .sort();
const read = (name) => readFileSync(name, "utf8");
const words = (text) => text.split(/\s+/).filter(Boolean);

const sheets = files("src", /\.css$/);
const rules = sheets.map((name) => read(name).replace(/\/\*.*?\*\//gs, ""));
const selectors = rules.flatMap((text) =>
  [...text.matchAll(/([^{};]*)\{/g)].map(([, head]) => head),
);
const styled = new Set(
  selectors.flatMap((head) => [...head.matchAll(/\.([a-z][\w-]*)/gi)].map(([, name]) => name)),
);
const tested = files("e2e", /\.mjs$/)
  .map(read)
  .join("");

// A class whose name begins or ends with a value is a pattern: kind-${row.kind} is kind-*.
const set = new Map(); // class or pattern -> a file that sets it
const elsewhere = new Set(); // words in files that set a class which is not written there

const isText = (node) => ts.isStringLiteral(node) || ts.isNoSubstitutionTemplateLiteral(node);
const isComparison = (node) =>
  ts.isBinaryExpression(node) && /^[!=]==?$/.test(node.operatorToken.getText());

function addWords(node, file) {
  if (isText(node)) for (const word of words(node.text)) set.set(word, file);
  if (isComparison(node)) return;
  if (ts.isTemplateExpression(node)) {
    const text = [node.head, ...node.templateSpans.map(({ literal }) => literal)];
    for (const word of words(text.map((part) => part.text).join("*")))
      if (/-\*|\*-/.test(word)) set.set(word, file);
      else for (const part of word.split("*").filter(Boolean)) set.set(part, file);
  }
  ts.forEachChild(node, (child) => addWords(child, file));
}

function isWritten(node) {
  let found = true;
  const visit = (inner) => {
    if (ts.isCallExpression(inner) || ts.isPropertyAccessExpression(inner)) found = false;
    if (ts.isIdentifier(inner) && !ts.isConditionalExpression(inner.parent)) found = false;
    ts.forEachChild(inner, visit);
  };
  ts.forEachChild(node, visit);
  return found;
}

// Words that a function returns or is called with.
function addPassed(node) {
  const { parent } = node;
  if (isText(node) && !isComparison(parent) && !ts.isArrayLiteralExpression(parent))
    for (const word of words(node.text)) elsewhere.add(word);
  ts.forEachChild(node, addPassed);
}

function visit(node, file) {
  const isClass = ts.isJsxAttribute(node) || ts.isPropertyAssignment(node);
  if (isClass && node.name.getText() === "class" && node.initializer) {
    addWords(node.initializer, file);
    if (!isWritten(node.initializer)) addPassed(node.getSourceFile());
  }
  ts.forEachChild(node, (child) => visit(child, file));
}

for (const file of files("src", /\.tsx?$/))
  visit(
    ts.createSourceFile(file, read(file), ts.ScriptTarget.Latest, true, ts.ScriptKind.TSX),
    file,
  );
const patterns = [...set.keys()]
  .filter((name) => name.includes("*"))
  .map((name) => new RegExp(`^${name.replaceAll("*", ".+")}$`));
const isSet = (name) =>
  set.has(name) || elsewhere.has(name) || patterns.some((one) => one.test(name));
const imports = read("src/app.css");
const problems = [
  ...[...styled]
    .filter((name) => !isSet(name))
    .map((name) => `.${name} has a rule, and no component sets it`),
  ...[...set]
    .filter(
      ([name]) =>
        !name.includes("*") && !styled.has(name) && !new RegExp(`\\.${name}\\b`).test(tested),
    )
    .map(([name, file]) => `${file}: the class ${name} has no rule, and no test looks for it`),
  ...sheets
    .filter(
      (name) => name !== "src/app.css" && !imports.includes(`"./${name.slice("src/".length)}"`),
    )
    .map((name) => `${name} is not imported by src/app.css`),
];
for (const problem of problems) console.error(problem);
process.exitCode = problems.length > 0 ? 1 : 0;
