import { useState } from "preact/hooks";
import type { Place } from "../../app/router";
import { useServices } from "../../app/services";
import { LiveView } from "../../run/LiveView";
import { type Asking, useAsking } from "../../run/useAsking";
import { canAsk, type MeshFacts, readKgs, useMesh } from "../../run/useMesh";
import { ErrorBox } from "../../ui/ErrorBox";
import { Icon } from "../../ui/Icon";
import { formOf, queryOf, requestOf } from "../ask/form";
import { KgChoice } from "../ask/KgChoice";
import { MethodChoice } from "../ask/MethodChoice";
import { QuestionBox } from "../ask/QuestionBox";
import { Differences } from "./Differences";
import "../ask/ask.css";
import "./compare.css";

/** Asks one question by two methods at once and shows how they differ. */
export default function ComparePage({ query }: Place) {
  const { router } = useServices();
  const mesh = useMesh();
  const [form, setForm] = useState(() => formOf(query));
  const [other, setOther] = useState(query.get("with") ?? "ger");
  const [left, right] = [useAsking(), useAsking()];
  const ready = canAsk(mesh, form.kgs, [form.method, other]) && form.question.trim() !== "";
  const busy = left.live?.state === "asking" || right.live?.state === "asking";

  const ask = () => {
    const whole = { ...form, kgs: readKgs(mesh, form.kgs) };
    setForm(whole);
    router.replace(["compare"], { ...queryOf(whole), with: other });
    begin(left, whole, mesh, form.method);
    begin(right, whole, mesh, other);
  };
  return (
    <section class="page compare">
      <h1>Two methods, one question</h1>
      {mesh.error !== undefined ? (
        <ErrorBox error={mesh.error} doing="Asking the mesh for its methods" />
      ) : null}
      <form
        class="card composer"
        aria-label="Question"
        onSubmit={(event) => {
          event.preventDefault();
          if (ready) {
            ask();
          }
        }}
      >
        <QuestionBox
          value={form.question}
          placeholder="Ask once, answer twice…"
          onChange={(question) => setForm({ ...form, question })}
        />
        <div class="composer-row">
          <MethodChoice
            label="Left"
            methods={mesh.methods}
            value={form.method}
            onChange={(method) => setForm({ ...form, method })}
          />
          <MethodChoice label="Right" methods={mesh.methods} value={other} onChange={setOther} />
          <KgChoice
            known={mesh.kgs}
            pending={!mesh.kgsKnown}
            chosen={form.kgs}
            onChange={(kgs) => setForm({ ...form, kgs })}
          />
          {busy ? (
            <button
              key="stop"
              type="button"
              class="button danger composer-go"
              onClick={() => {
                left.stop();
                right.stop();
              }}
            >
              <Icon name="stop" /> Stop
            </button>
          ) : (
            <button key="ask" type="submit" class="button primary composer-go" disabled={!ready}>
              Ask both <Icon name="arrow" />
            </button>
          )}
        </div>
      </form>
      {left.live?.state === "answered" && right.live?.state === "answered" ? (
        <Differences left={left.live.run} right={right.live.run} />
      ) : null}
      {left.live && right.live ? (
        <div class="sides">
          <Side asking={left} name="Left" mesh={mesh} />
          <Side asking={right} name="Right" mesh={mesh} />
        </div>
      ) : null}
    </section>
  );
}

function begin(asking: Asking, form: ReturnType<typeof formOf>, mesh: MeshFacts, name: string) {
  const method = mesh.methods.find((known) => known.name === name);
  asking.ask(requestOf({ ...form, method: name }, { method }), method?.stages ?? []);
}

function Side({ asking, name, mesh }: { asking: Asking; name: string; mesh: MeshFacts }) {
  return (
    <section class="side" aria-label={`${name}: ${asking.live?.run.method ?? ""}`}>
      <h2>
        <code>{asking.live?.run.method ?? "…"}</code>
      </h2>
      {asking.live ? <LiveView live={asking.live} traceUrl={mesh.traceUrl} /> : null}
    </section>
  );
}
