// Sources that this browser showed, the last one first.

import { load, save } from "./saved";
import type { Source } from "../../generated/answers";

export interface RecentSource {
  path: string;
  name: string;
  kind: string;
}

const KEY = "cairn.recent";
const MOST = 20;

export function recentSources(): RecentSource[] {
  const list = load(KEY);
  if (!Array.isArray(list)) return [];
  return list.filter(
    (one: unknown): one is RecentSource =>
      typeof one === "object" &&
      one !== null &&
      ["path", "name", "kind"].every((key) => typeof (one as never)[key] === "string"),
  );
}

export function rememberSource({ path, name, kind }: Source): void {
  const others = recentSources().filter((one) => one.path !== path);
  save(KEY, [{ path, name, kind }, ...others].slice(0, MOST));
}
