import type { ScGraphs } from "../api/messages";
import { count } from "../format/text";
import { Name } from "../ui/Name";
import { AnswerText } from "./AnswerText";
import { votesOf } from "./votes";
import "./samples.css";

/** Several answers to the same question, and how they voted (sc). */
export function SamplesView({ graphs }: { graphs: ScGraphs }) {
  const samples = graphs.samples ?? [];
  return (
    <section class="card" aria-label="Samples">
      <header class="section-head">
        <h2>{count(samples.length, "sample")} and their votes</h2>
      </header>
      <ul class="votes" aria-label="Votes">
        {votesOf(graphs).map(({ answer, votes }) => (
          <li key={answer}>
            <Name>{answer}</Name>
            <meter min={0} max={samples.length} value={votes} aria-label={`Votes for ${answer}`} />
            <span class="figures">{`${votes} of ${samples.length}`}</span>
          </li>
        ))}
      </ul>
      <ol class="samples" aria-label="Samples">
        {samples.map((sample, i) => (
          <li key={i}>
            <AnswerText text={sample.text ?? ""} answers={sample.answers ?? []} />
          </li>
        ))}
      </ol>
    </section>
  );
}
