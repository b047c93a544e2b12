// Long names of functions, shortened for a row; the full name is shown on hover.

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

// A name of at most `max` letters, cut in the middle: the end tells functions apart.
export function shorten(name: string, max: number): string {
  if (name.length <= max) return name;
  const folded = foldTemplates(name);
  if (folded.length <= max) return folded;
  const head = Math.ceil((max - 1) * 0.4);
  return `${folded.slice(0, head)}…${folded.slice(folded.length - (max - 1 - head))}`;
}
