import { useState } from "preact/hooks";
import type { KnowledgeGraphRef, Run } from "../api/messages";
import { href } from "../app/router";
import { score } from "../format/quantity";
import { type Edge, hasLiteral } from "../graph/graph";
import { EdgeLine } from "../graph/TripleList";
import { Dialog } from "../ui/Dialog";
import { Name } from "../ui/Name";
import { TripleView } from "../ui/TripleView";
import { Neighbours } from "./Neighbours";
import "./neighbourhood.css";

/** What a reader chose in a picture: a triple, or an entity. */
export type Place = { edge: Edge; entity?: undefined } | { entity: string; edge?: undefined };

/**
 * Where a triple stands: which knowledge graph and snapshot hold it, what it
 * rests on, and what lies around its ends. The reader can walk on from there.
 */
export function Neighbourhood({
  run,
  place,
  onClose,
}: {
  run: Run;
  place: Place;
  onClose: () => void;
}) {
  const { edge } = place;
  const kgs = [run.kg, ...(run.otherKgs ?? [])].filter(
    (kg): kg is KnowledgeGraphRef => kg?.name !== undefined,
  );
  const [kg, setKg] = useState(kgs.find(({ name }) => name === edge?.triple.kgName) ?? kgs[0]);
  const [trail, setTrail] = useState([edge ? (edge.triple.subject ?? "") : (place.entity ?? "")]);
  const entity = trail.at(-1) ?? "";
  return (
    <Dialog
      title={edge ? "A triple and what lies around it" : <Name>{entity}</Name>}
      onClose={onClose}
    >
      {edge ? <About edge={edge} kg={kg} /> : null}
      {edge ? (
        <fieldset class="ends">
          <legend class="unseen">Around which end</legend>
          <EndButton
            name={edge.triple.subject ?? ""}
            at={entity}
            onChoose={(name) => setTrail([name])}
          />
          {hasLiteral(edge.triple) ? null : (
            <EndButton
              name={edge.triple.object ?? ""}
              at={entity}
              onChoose={(name) => setTrail([name])}
            />
          )}
        </fieldset>
      ) : null}
      {kgs.length > 1 ? (
        <label class="ends">
          Knowledge graph
          <select
            value={kg?.name}
            onChange={(event) => setKg(kgs.find(({ name }) => name === event.currentTarget.value))}
          >
            {kgs.map(({ name }) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        </label>
      ) : null}
      {trail.length > 1 ? (
        <Trail trail={trail} onBack={(at) => setTrail(trail.slice(0, at + 1))} />
      ) : null}
      {kg ? (
        <>
          <Neighbours kg={kg} entity={entity} onWalk={(name) => setTrail([...trail, name])} />
          <p>
            <a href={href(["kgs", kg.name ?? ""], { entity })}>Browse {kg.name} from here</a>
          </p>
        </>
      ) : (
        <p class="muted">This run read no knowledge graph.</p>
      )}
    </Dialog>
  );
}

function About({ edge, kg }: { edge: Edge; kg: KnowledgeGraphRef | undefined }) {
  const fromGraph = edge.mark !== "draft" && edge.mark !== "replaced" && edge.mark !== "delete";
  return (
    <div class={`about mark-${edge.mark}`}>
      <p class="about-triple">
        <EdgeLine edge={edge} links />
      </p>
      <p class="hint">
        {fromGraph && kg ? (
          <>
            {"From "}
            <b>{edge.triple.kgName || kg.name}</b>
            {`, snapshot ${kg.snapshot ?? "?"}.`}
          </>
        ) : (
          "The model wrote it; no knowledge graph holds it."
        )}
      </p>
      {edge.evidence.length ? (
        <>
          <h3>It rests on</h3>
          <ul class="about-evidence">
            {edge.evidence.map((item) => (
              <li key={JSON.stringify(item.triple)}>
                {item.triple ? <TripleView triple={item.triple} /> : null}{" "}
                <span class="figures muted">{score(item.score)}</span>
              </li>
            ))}
          </ul>
        </>
      ) : null}
    </div>
  );
}

function EndButton({
  name,
  at,
  onChoose,
}: {
  name: string;
  at: string;
  onChoose: (name: string) => void;
}) {
  return (
    <button
      type="button"
      class="button small"
      aria-pressed={name === at}
      onClick={() => onChoose(name)}
    >
      <Name most={40}>{name}</Name>
    </button>
  );
}

function Trail({ trail, onBack }: { trail: string[]; onBack: (at: number) => void }) {
  return (
    <nav aria-label="Way walked" class="trail">
      <ol>
        {trail.map((name, at) => (
          <li key={at}>
            {at === trail.length - 1 ? (
              <b aria-current="true">
                <Name most={40}>{name}</Name>
              </b>
            ) : (
              <button type="button" class="link-button" onClick={() => onBack(at)}>
                <Name most={40}>{name}</Name>
              </button>
            )}
          </li>
        ))}
      </ol>
    </nav>
  );
}
