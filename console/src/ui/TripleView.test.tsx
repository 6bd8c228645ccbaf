// @vitest-environment happy-dom
import { type ComponentChild, render } from "preact";
import { expect, test } from "vitest";
import { RelationPathView } from "../run/RelationPathView";
import { EntityId } from "./EntityId";
import { TripleView } from "./TripleView";

const triple = {
  subject: "Velmora",
  subjectId: "http://kg.example/velmora",
  relation: "river",
  object: "Tessen",
  objectId: "Q7",
  provenance: "https://kg.example/statements/1",
};

function shown(view: ComponentChild): HTMLElement {
  const root = document.createElement("div");
  render(view, root);
  return root;
}

const linksIn = (root: HTMLElement) =>
  [...root.querySelectorAll("a")].map((link) => [link.textContent, link.getAttribute("href")]);

test("an entity is a link where its id is a web address, else its id is shown on hover", () => {
  const root = shown(<TripleView triple={triple} />);
  expect(linksIn(root)).toEqual([
    ["Velmora", "http://kg.example/velmora"],
    ["https://kg.example/statements/1", "https://kg.example/statements/1"],
  ]);
  for (const link of root.querySelectorAll("a")) {
    expect(link.getAttribute("target")).toBe("_blank");
    expect(link.getAttribute("rel")).toBe("noopener noreferrer");
  }
  expect(root.querySelector("[title='Q7']")?.textContent).toBe("Tessen");
});

test("a triple within a button has no links", () => {
  const root = shown(<TripleView triple={triple} links={false} />);
  expect(linksIn(root)).toEqual([]);
  expect(root.textContent).toContain("from https://kg.example/statements/1");
  expect(root.querySelector("[title='http://kg.example/velmora']")?.textContent).toBe("Velmora");
});

test("an id that is the name, and no provenance, add nothing", () => {
  const root = shown(
    <TripleView triple={{ subject: "a", subjectId: "a", relation: "r", object: "b" }} />,
  );
  expect(root.textContent).toBe("a r b");
  expect(root.querySelector("[title]")).toBeNull();
});

test("ids of other schemes are no links", () => {
  const script = "javascript:alert(1)";
  const root = shown(<TripleView triple={{ ...triple, subjectId: script, provenance: script }} />);
  expect(linksIn(root)).toEqual([]);
});

test("an entity's id is told where it is not its name", () => {
  expect(shown(<EntityId entity={{ id: "Q7", name: "Tessen" }} />).textContent).toBe("Id: Q7");
  expect(shown(<EntityId entity={{ id: "Tessen", name: "Tessen" }} />).textContent).toBe("");
  expect(shown(<EntityId entity={undefined} />).textContent).toBe("");
});

test("an inverse step reads as inverse", () => {
  const steps = [{ relation: "author", inverse: true }, { relation: "genre" }];
  expect(shown(<RelationPathView path={{ steps }} />).textContent).toBe(
    "inverse of author → genre",
  );
});
