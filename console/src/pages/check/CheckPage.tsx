import { useCallback, useRef, useState } from "preact/hooks";
import type { CheckStreamResponse } from "../../api/messages";
import type { Place } from "../../app/router";
import { useServices } from "../../app/services";
import { useStream } from "../../app/useStream";
import { ErrorBox } from "../../ui/ErrorBox";
import { Progress } from "../../ui/Progress";
import { Spinner } from "../../ui/Spinner";
import { KgField } from "../kgs/KgField";
import { CheckedText } from "./CheckedText";
import "./check.css";

/** Checks a text that somebody else wrote: "#/check?kg=wikidata". */
export default function CheckPage({ query }: Place) {
  const { api, router } = useServices();
  const [text, setText] = useState("");
  // The text as it was sent: what stands in the field may be another one since.
  const [sent, setSent] = useState("");
  const { streamed, start, stop } = useStream<CheckStreamResponse>();
  const form = useRef<HTMLFormElement>(null);
  const kg = query.get("kg") ?? "";
  const choose = useCallback((name: string) => router.replace(["check"], { kg: name }), [router]);
  const { running = false, error, seen: { progress, check } = {} } = streamed ?? {};
  return (
    <section class="page">
      <div>
        <h1>Check a text</h1>
        <p class="muted">
          Paste what somebody wrote: an answer of a language model, a paragraph, a claim. Each fact
          in it is held against the knowledge graph.
        </p>
      </div>
      <form
        ref={form}
        class="card check-form"
        onSubmit={(event) => {
          event.preventDefault();
          setSent(text);
          void start((signal) => api.check({ text, kg: { name: kg } }, { signal }));
        }}
      >
        <label class="field">
          Text
          <textarea
            rows={7}
            required
            dir="auto"
            value={text}
            placeholder="Robert Stam was employed by Google."
            onInput={(event) => setText(event.currentTarget.value)}
            onKeyDown={(event) => {
              if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
                form.current?.requestSubmit();
              }
            }}
          />
        </label>
        <div class="check-row">
          <KgField value={kg} onChange={choose} />
          {/* Two buttons by their keys: one that became the other under a click would submit. */}
          {running ? (
            <button key="stop" type="button" class="button" onClick={stop}>
              Stop
            </button>
          ) : (
            <button key="check" type="submit" class="button primary" disabled={!kg || !text.trim()}>
              Check
            </button>
          )}
        </div>
      </form>
      {running ? (
        progress?.total ? (
          <Progress label="Characters read" done={progress.read ?? 0} total={progress.total} />
        ) : (
          <Spinner label="Reading the text" />
        )
      ) : null}
      {error !== undefined ? <ErrorBox error={error} doing="Checking the text" /> : null}
      {check || progress ? (
        <CheckedText text={sent} claims={check?.claims ?? progress?.claims ?? []} check={check} />
      ) : null}
    </section>
  );
}
