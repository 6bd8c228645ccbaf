import { canAsk, type MeshFacts } from "../../run/useMesh";
import { Icon } from "../../ui/Icon";
import type { AskForm } from "./form";
import { KgChoice } from "./KgChoice";
import { MethodChoice } from "./MethodChoice";
import { Options } from "./Options";
import { QuestionBox } from "./QuestionBox";

/** Where a question is written: with its method, its knowledge graphs and its options. */
export function Composer({
  form,
  mesh,
  busy,
  onChange,
  onAsk,
  onStop,
}: {
  form: AskForm;
  mesh: MeshFacts;
  busy: boolean;
  onChange: (form: AskForm) => void;
  onAsk: () => void;
  onStop: () => void;
}) {
  const method = mesh.methods.find(({ name }) => name === form.method);
  const ready = canAsk(mesh, form.kgs, [form.method]) && form.question.trim() !== "";
  const change = (part: Partial<AskForm>) => onChange({ ...form, ...part });
  return (
    <form
      class="card composer"
      aria-label="Question"
      onSubmit={(event) => {
        event.preventDefault();
        if (ready) {
          onAsk();
        }
      }}
    >
      <QuestionBox
        value={form.question}
        placeholder="Ask anything the graph may know…"
        onChange={(question) => change({ question })}
      />
      <div class="composer-row">
        <MethodChoice
          methods={mesh.methods}
          value={form.method}
          onChange={(name) => change({ method: name, until: "" })}
        />
        {method && !method.needsKg ? (
          <p class="hint composer-nokg">This method reads no knowledge graph.</p>
        ) : (
          <KgChoice
            known={mesh.kgs}
            pending={!mesh.kgsKnown}
            chosen={form.kgs}
            onChange={(kgs) => change({ kgs })}
          />
        )}
        {/* Two buttons by their keys: one that became the other under a click would submit. */}
        {busy ? (
          <button key="stop" type="button" class="button danger composer-go" onClick={onStop}>
            <Icon name="stop" /> Stop
          </button>
        ) : (
          <button key="ask" type="submit" class="button primary composer-go" disabled={!ready}>
            Ask <Icon name="arrow" />
          </button>
        )}
      </div>
      {method?.description ? (
        <p class="hint">{`${method.description} Model calls: ${method.calls}.`}</p>
      ) : null}
      <Options form={form} method={method} onChange={change} />
    </form>
  );
}
