import fc from "fast-check";
import { expect, it } from "vitest";
import { base64 } from "./base64";
import { createKgs } from "./kgs";
import { query } from "./query";

/** The knowledge graphs of a mesh that answers with nothing, and what was sent to it. */
function recording() {
  const sent: { url: string; body: unknown }[] = [];
  const kgs = createKgs({
    fetch: async (url, init = {}) => {
      sent.push({ url, body: init.body });
      return new Response("{}");
    },
    token: () => "",
  });
  return { kgs, sent };
}

it("loads a table by its columns", async () => {
  const { kgs, sent } = recording();
  const events = kgs.load("towns", new File(["a,b\n"], "a b.csv"), {
    format: "FORMAT_CSV",
    columns: {
      subject: "town & country",
      name: "first",
      furtherNames: ["last", "title"],
      separator: ";",
      types: [
        { heading: "a=b", type: "COLUMN_TYPE_DATE" },
        { heading: "c", type: "COLUMN_TYPE_SKIP" },
      ],
    },
  });
  await events.next();
  const [path, fields] = sent[0]?.url.split("?") ?? [];
  expect(path).toBe("api/v1/kgs/towns:load");
  expect([...new URLSearchParams(fields)]).toEqual([
    ["file", "a b.csv"],
    ["format", "FORMAT_CSV"],
    ["columns.subject", "town & country"],
    ["columns.name", "first"],
    ["columns.furtherNames", "last"],
    ["columns.furtherNames", "title"],
    ["columns.separator", ";"],
    ["columns.types", "a=b=COLUMN_TYPE_DATE"],
    ["columns.types", "c=COLUMN_TYPE_SKIP"],
  ]);
});

it("sends the head of a table in base64", async () => {
  const { kgs, sent } = recording();
  await kgs.proposeColumns({ file: "x.csv", head: new Blob(["ü,b\n"]), whole: true });
  expect(sent).toEqual([
    { url: "api/v1/kgs:columns", body: '{"file":"x.csv","whole":true,"head":"w7wsYgo="}' },
  ]);
});

it("writes any bytes in base64", async () => {
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ maxLength: 20_000, size: "max" }), async (bytes) => {
      expect(await base64(new Blob([bytes]))).toBe(Buffer.from(bytes).toString("base64"));
    }),
    { numRuns: 30 },
  );
});

it("leaves out of an address what is empty", () => {
  expect(query({ a: "", b: undefined, c: [] })).toBe("");
  expect(query({ a: 0, b: false, c: ["", "x", "y"] })).toBe("?a=0&b=false&c=x&c=y");
});
