import { useEffect, useState } from "preact/hooks";
import type { Run } from "../../api/messages";
import type { Place } from "../../app/router";
import { useServices } from "../../app/services";
import { useCall } from "../../app/useCall";
import { LiveView } from "../../run/LiveView";
import { RunView } from "../../run/RunView";
import { useAsking } from "../../run/useAsking";
import { readKgs, useMesh } from "../../run/useMesh";
import { ErrorBox } from "../../ui/ErrorBox";
import { Spinner } from "../../ui/Spinner";
import { Composer } from "./Composer";
import { turnsOf } from "./conversation";
import { Earlier } from "./Earlier";
import { Examples } from "./Examples";
import { examplesKg } from "./examples";
import { FollowUp } from "./FollowUp";
import { type AskForm, formOf, queryOf, requestOf } from "./form";
import "./ask.css";

/** Asks a question, shows what the answer rests on, and takes questions that follow. */
export default function AskPage({ query }: Place) {
  const { api, router } = useServices();
  const mesh = useMesh();
  const { live, ask: begin, stop } = useAsking();
  const [form, setForm] = useState<AskForm>(() => formOf(query));
  const [earlier, setEarlier] = useState<Run[]>([]);
  const kept = query.get("run") ?? "";
  const address = new URLSearchParams(queryOf(formOf(query))).toString();
  useEffect(() => {
    // A link to another question was followed while this page was open.
    setForm(formOf(new URLSearchParams(address)));
  }, [address]);
  const answered = live?.state === "answered" ? live.run : undefined;
  useEffect(() => {
    // What is reloaded, or sent to somebody else, shows the answer and asks nothing again.
    if (answered?.id) {
      const { query: now } = router.place.value;
      router.replace(["ask"], { ...Object.fromEntries(now), run: answered.id });
    }
  }, [answered?.id]);
  const stored = useCall(kept && !live ? (signal) => api.run(kept, { signal }) : undefined, [
    kept,
    live === undefined,
  ]);
  const run = answered ?? (live ? undefined : stored.value?.run);

  const ask = (changed: AskForm, before: Run[] = []) => {
    const whole = { ...changed, kgs: readKgs(mesh, changed.kgs) };
    setForm(whole);
    setEarlier(before);
    router.replace(["ask"], queryOf(whole));
    const method = mesh.methods.find(({ name }) => name === whole.method);
    begin(requestOf(whole, { method, history: turnsOf(before) }), method?.stages ?? []);
  };
  return (
    <section class="page ask">
      <h1>Ask, and see what the answer rests on</h1>
      {mesh.error !== undefined ? (
        <ErrorBox error={mesh.error} doing="Asking the mesh for its methods" />
      ) : null}
      <Composer
        form={form}
        mesh={mesh}
        busy={live?.state === "asking"}
        onChange={setForm}
        onAsk={() => ask(form)}
        onStop={stop}
      />
      <Earlier runs={earlier} />
      {live ? <LiveView live={live} traceUrl={mesh.traceUrl} /> : null}
      {live ? null : stored.error !== undefined ? (
        <ErrorBox error={stored.error} doing="Reading the answer" retry={stored.again} />
      ) : stored.pending ? (
        <Spinner label="Reading the answer" />
      ) : run ? (
        <RunView run={run} traceUrl={mesh.traceUrl} />
      ) : null}
      {run ? (
        <FollowUp onAsk={(question) => ask({ ...form, question }, [...earlier, run])} />
      ) : null}
      {live || kept ? null : (
        <Examples
          kgs={mesh.kgs}
          onAsk={(example) =>
            ask({
              ...form,
              question: example.question,
              method: example.method,
              kgs: [examplesKg],
            })
          }
        />
      )}
    </section>
  );
}
