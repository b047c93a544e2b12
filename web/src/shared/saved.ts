// What the browser keeps for its next visit. Without local storage nothing is saved.

export function load(key: string): unknown {
  try {
    return JSON.parse(localStorage.getItem(key) ?? "null");
  } catch {
    return null;
  }
}

export function loadList(key: string): string[] {
  const list = load(key);
  return Array.isArray(list) ? list.filter((item): item is string => typeof item === "string") : [];
}

export function save(key: string, value: unknown): boolean {
  try {
    localStorage.setItem(key, JSON.stringify(value));
    return true;
  } catch {
    return false;
  }
}
