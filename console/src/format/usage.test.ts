import { expect, test } from "vitest";
import type { Usage } from "../api/messages";
import { spent } from "./usage";

test.each<[string, Usage | undefined, string | undefined, string[]]>([
  ["nothing", undefined, undefined, []],
  ["time alone", undefined, "1.5s", ["1.5 s"]],
  ["no calls", {}, "0.020s", ["20 ms", "0 model calls", "0 tokens"]],
  [
    "everything",
    { calls: 3, cachedCalls: 1, promptTokens: "1200", completionTokens: "34", costUsd: 0.5 },
    "61s",
    ["1 min 1 s", "3 model calls, 1 from the cache", "1,234 tokens", "$0.50"],
  ],
])("%s", (_, usage, duration, want) => {
  expect(spent(usage, duration)).toEqual(want);
});
