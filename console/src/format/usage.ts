import type { Usage } from "../api/messages";
import { dollars, elapsed, milliseconds, toNumber } from "./quantity";
import { count } from "./text";

/** What something took, in the order of interest: ["5.2 s", "3 calls", "1,234 tokens", "$0.01"]. */
export function spent(usage: Usage | undefined, duration: string | undefined): string[] {
  const parts = duration ? [elapsed(milliseconds(duration))] : [];
  if (!usage) {
    return parts;
  }
  const cached = usage.cachedCalls ? `, ${usage.cachedCalls} from the cache` : "";
  parts.push(count(usage.calls ?? 0, "model call") + cached);
  parts.push(count(toNumber(usage.promptTokens) + toNumber(usage.completionTokens), "token"));
  if (toNumber(usage.costUsd) > 0) {
    parts.push(dollars(usage.costUsd));
  }
  return parts;
}
