import { useEffect, useState } from "preact/hooks";
import type { GroundGraphResponse, PgAkvGraphs, Run } from "../api/messages";
import { useApi } from "../app/services";
import { score } from "../format/quantity";
import { count } from "../format/text";
import { EntityName } from "../ui/EntityName";
import { ErrorBox } from "../ui/ErrorBox";
import { asRequest } from "./pruning";

/** How long the slider must rest before the retriever is asked, in milliseconds. */
const rest = 350;

/** What the retriever itself makes of the run's pseudo-graph at another threshold. */
export function Reground({
  run,
  graphs,
  threshold,
}: {
  run: Run;
  graphs: PgAkvGraphs;
  threshold: number;
}) {
  const api = useApi();
  const [found, setFound] = useState<{ at: number; response: GroundGraphResponse }>();
  const [error, setError] = useState<unknown>();
  useEffect(() => {
    const moving = new AbortController();
    const request = {
      question: run.standaloneQuestion || run.question || "",
      pseudoGraph: asRequest(graphs.pseudoGraph),
      options: { minConfidence: threshold },
    };
    const timer = setTimeout(() => {
      setError(undefined);
      api
        .ground(run.kg?.name ?? "", request, {
          signal: moving.signal,
          snapshot: run.kg?.snapshot ?? "",
        })
        .then((response) => setFound({ at: threshold, response }))
        .catch((reason: unknown) => {
          if (!moving.signal.aborted) {
            setError(reason);
          }
        });
    }, rest);
    return () => {
      clearTimeout(timer);
      moving.abort();
    };
  }, [api, run, graphs, threshold]);

  if (error !== undefined) {
    return <ErrorBox error={error} doing="Grounding again" />;
  }
  if (!found || found.at !== threshold) {
    return <p class="muted">Asking the retriever…</p>;
  }
  const subjects = found.response.groundGraph?.subjects ?? [];
  const triples = subjects.reduce((sum, subject) => sum + (subject.triples?.length ?? 0), 0);
  return (
    <div class="reground" role="status">
      <p>{`By the retriever${run.otherKgs?.length ? `, of ${run.kg?.name}` : ""}: ${count(subjects.length, "subject")}, ${count(triples, "triple")} at ${score(threshold)}.`}</p>
      <ul>
        {subjects.map((subject) => (
          <li key={`${subject.kgName} ${subject.subject}`}>
            <EntityName name={subject.subject} id={subject.subjectId} most={40} />{" "}
            <span class="figures muted">{`${score(subject.confidence)} · ${subject.triples?.length ?? 0}`}</span>
          </li>
        ))}
      </ul>
    </div>
  );
}
