import { useMemo, useState } from "preact/hooks";
import type { EntityLink, ReasoningPath, RelationPath, Run } from "../api/messages";
import { score } from "../format/quantity";
import { count } from "../format/text";
import { GraphAndList } from "../graph/GraphAndList";
import { mostPaths, pathGraph } from "../graph/paths";
import { EntityName } from "../ui/EntityName";
import { Neighbourhood, type Place } from "./Neighbourhood";
import { RelationPathView } from "./RelationPathView";
import "./paths.css";

/** The ways from topic entities to answers, as a layered graph, and the plans they follow. */
export function PathsView({
  run,
  topics = [],
  paths = [],
  plans = [],
  proposed = [],
  candidates = [],
}: {
  run: Run;
  topics?: EntityLink[] | undefined;
  paths?: ReasoningPath[] | undefined;
  /** The relation paths that were followed. */
  plans?: RelationPath[] | undefined;
  /** The relation paths as the model put them. */
  proposed?: RelationPath[] | undefined;
  candidates?: string[];
}) {
  const [open, setOpen] = useState<Place>();
  const graph = useMemo(
    () =>
      pathGraph(paths, {
        topics: topics.map((link) => link.entity ?? ""),
        candidates,
        answers: (run.answers ?? []).map((answer) => answer.answer ?? ""),
      }),
    [paths, topics, candidates, run],
  );
  return (
    <section class="card" aria-label="Reasoning paths">
      <header class="section-head">
        <h2>From topic entities to answers</h2>
        <ul class="path-legend" aria-label="Legend">
          <li class="legend-topic">topic entity</li>
          <li class="legend-answer">answer</li>
          {candidates.length ? <li class="legend-dropped">candidate, not given</li> : null}
        </ul>
      </header>
      {topics.length ? (
        <p class="topics">
          {"Begins at "}
          {likely(topics).map((link) => (
            <span
              class="topic"
              key={`${link.kgName} ${link.entity}`}
              title={link.mention ? `“${link.mention}” in the question` : undefined}
            >
              <EntityName name={link.entity} id={link.entityId} most={40} />{" "}
              <span class="figures muted">{score(link.score)}</span>
            </span>
          ))}
        </p>
      ) : null}
      {graph.edges.length ? (
        <>
          <GraphAndList
            graph={graph}
            label="Triples on the reasoning paths"
            onChoose={(edge) => setOpen({ edge })}
            onNode={(entity) => setOpen({ entity })}
          />
          {paths.length > mostPaths ? (
            <p class="hint">{`${mostPaths} of ${count(paths.length, "path")} are drawn, those to answers first.`}</p>
          ) : null}
        </>
      ) : null}
      {plans.length || proposed.length ? (
        <details class="fold">
          <summary>{`Relation paths: ${plans.length} followed${proposed.length ? `, ${proposed.length} proposed by the model` : ""}`}</summary>
          {proposed.length ? <Plans title="Proposed by the model" plans={proposed} /> : null}
          {plans.length ? <Plans title="Followed in the graph" plans={plans} /> : null}
        </details>
      ) : null}
      {open ? <Neighbourhood run={run} place={open} onClose={() => setOpen(undefined)} /> : null}
    </section>
  );
}

// Links that hardly anybody means would only crowd the line.
const likely = (topics: EntityLink[]): EntityLink[] =>
  topics.filter((link, i) => i === 0 || Number(link.score ?? 0) >= 0.05).slice(0, 6);

function Plans({ title, plans }: { title: string; plans: RelationPath[] }) {
  return (
    <div>
      <h3>{title}</h3>
      <ol class="plans">
        {plans.map((plan) => (
          <li key={JSON.stringify(plan)}>
            <RelationPathView path={plan} />
            <span class="figures muted">
              {plan.score ? ` ${score(plan.score)}` : ""}
              {plan.ends ? ` · ${count(plan.ends, "end")}` : ""}
            </span>
          </li>
        ))}
      </ol>
    </div>
  );
}
