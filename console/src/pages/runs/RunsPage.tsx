import type { Place } from "../../app/router";
import { RunList } from "./RunList";
import { RunPage } from "./RunPage";
import "./runs.css";

/** Answered questions: "#/runs?query=Alexander&method=ger&kg=wikidata", or one: "#/runs/ID". */
export default function RunsPage({ path, query }: Place) {
  const id = path[1];
  return id ? <RunPage key={id} id={id} /> : <RunList query={query} />;
}
