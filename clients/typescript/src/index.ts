/**
 * Client of triplemesh for browsers and Node.
 *
 *     import { Client } from "triplemesh";
 *
 *     const mesh = new Client({ kg: "wikidata" });
 *     const run = await mesh.ask("What institution employed Robert Stam?");
 *     console.log(run.text, run.grounding, run.answers);
 */
export * from "./client.js";
export { MeshError, type Violation } from "./errors.js";
/** All types of the REST API. */
export type { components, operations, paths } from "./schema.js";
