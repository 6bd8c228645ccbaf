import { useEffect, useState } from "preact/hooks";
import type { Run } from "../../api/messages";
import type { Place } from "../../app/router";
import { useServices } from "../../app/services";
import { LiveView } from "../../run/LiveView";
import { useAsking } from "../../run/useAsking";
import { useMesh } from "../../run/useMesh";
import { ErrorBox } from "../../ui/ErrorBox";
import { Composer } from "./Composer";
import { turnsOf } from "./conversation";
import { Earlier } from "./Earlier";
import { Examples } from "./Examples";
import { FollowUp } from "./FollowUp";
import { type AskForm, formOf, queryOf, requestOf } from "./form";
import "./ask.css";

/** Asks a question, shows what the answer rests on, and takes questions that follow. */
export default function AskPage({ query }: Place) {
  const { router } = useServices();
  const mesh = useMesh();
  const { live, ask: begin, stop } = useAsking();
  const [form, setForm] = useState<AskForm>(() => formOf(query));
  const [earlier, setEarlier] = useState<Run[]>([]);
  const address = query.toString();
  useEffect(() => {
    // A link to another question was followed while this page was open.
    setForm(formOf(new URLSearchParams(address)));
  }, [address]);

  const ask = (changed: AskForm, before: Run[] = []) => {
    const whole = changed.kgs.length ? changed : { ...changed, kgs: mesh.kgs.slice(0, 1) };
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
      {live?.state === "answered" ? (
        <FollowUp onAsk={(question) => ask({ ...form, question }, [...earlier, live.run])} />
      ) : null}
      {live ? null : (
        <Examples
          kgs={mesh.kgs}
          onAsk={(example) => ask({ ...form, question: example.question, method: example.method })}
        />
      )}
    </section>
  );
}
