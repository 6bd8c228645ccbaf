// Compiled by make clients-test, to check the types that callers see.
import { type AskEvent, Client, MeshError, type Run } from "../src/index.js";

export async function use(): Promise<string | undefined> {
  const mesh = new Client({ kg: "wikidata" });
  const run: Run = await mesh.ask("?", { method: "ger", options: { abstainBelow: 0.5 } });
  // @ts-expect-error: there is no such option
  await mesh.ask("?", { options: { abstainBelo: 0.5 } });
  // @ts-expect-error: a direction is one of the contract's
  await mesh.neighbours("?", { direction: "up" });
  try {
    for await (const event of mesh.askStream("?")) {
      const next: AskEvent = event;
      if (next.run) {
        return next.run.answers?.[0]?.evidence?.[0]?.object;
      }
    }
  } catch (error) {
    return error instanceof MeshError ? error.advice : undefined;
  }
  return run.grounding;
}
