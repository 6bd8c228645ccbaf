import { type Example, examples, examplesKg } from "./examples";

/** Questions to begin with, where the knowledge graph they are about is there. */
export function Examples({ kgs, onAsk }: { kgs: string[]; onAsk: (example: Example) => void }) {
  if (!kgs.includes(examplesKg)) {
    return null;
  }
  return (
    <section class="examples" aria-label="Examples">
      <h2>Try one of these</h2>
      <ul>
        {examples.map((example) => (
          <li key={example.question}>
            <button type="button" class="example" onClick={() => onAsk(example)}>
              <span class="example-question">{example.question}</span>
              <span class="example-shows">
                <code>{example.method}</code> {example.shows}
              </span>
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}
