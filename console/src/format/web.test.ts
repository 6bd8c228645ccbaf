import { expect, test } from "vitest";
import { webAddress } from "./web";

test.each([
  ["an https IRI", "https://www.wikidata.org/entity/Q42", "https://www.wikidata.org/entity/Q42"],
  ["an http IRI", "http://kg.example/a b", "http://kg.example/a%20b"],
  ["an IRI with letters of its own", "http://kg.example/Åse", "http://kg.example/%C3%85se"],
  ["a scheme in capitals", "HTTPS://kg.example/a", "https://kg.example/a"],
  ["a key", "Q42", undefined],
  ["nothing", "", undefined],
  ["no id", undefined, undefined],
  ["a script", "javascript:alert(1)", undefined],
  ["a script behind spaces", " javascript:alert(1)//http://a", undefined],
  ["a script with a line break", "java\nscript:alert(1)", undefined],
  ["data", "data:text/html,<script>alert(1)</script>", undefined],
  ["a URN", "urn:neo4j:node/7", undefined],
  ["a file and line", "facts.csv:12", undefined],
  ["a user name that looks like a site", "https://bank.example@evil.example/", undefined],
  ["a password", "https://a:b@evil.example/", undefined],
  ["no host", "http://", undefined],
])("%s", (_, text, want) => {
  expect(webAddress(text)).toBe(want);
});
