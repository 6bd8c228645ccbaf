import { useState } from "preact/hooks";
import { EntityName } from "../ui/EntityName";
import { ErrorBox } from "../ui/ErrorBox";
import { Icon } from "../ui/Icon";
import { missingAnswers } from "./feedback";
import { useRunFeedback } from "./useFeedback";
import "./feedback.css";

/** The answers that a run lacks, by the reader's word. */
export function Correction() {
  const feedback = useRunFeedback();
  const [answer, setAnswer] = useState("");
  if (!feedback) {
    return null;
  }
  const missing = missingAnswers(feedback.all);
  const name = answer.trim();
  return (
    <section class="correction" aria-label="Feedback">
      <p class="unseen" role="status">
        {feedback.said}
      </p>
      {missing.length ? (
        <ul class="correction-list" aria-label="Answers marked missing">
          {missing.map((mark) => (
            <li key={mark.id}>
              <span>
                Missing: <EntityName name={mark.mark?.answer?.answer} id={mark.mark?.answer?.id} />
              </span>
              <button
                type="button"
                class="thumb"
                title="Remove"
                aria-label={`Remove: ${mark.mark?.answer?.answer}`}
                onClick={() => feedback.remove(mark)}
              >
                <Icon name="close" size={16} />
              </button>
            </li>
          ))}
        </ul>
      ) : null}
      <form
        onSubmit={async (event) => {
          event.preventDefault();
          if (name && (await feedback.toggle({ answer: { answer: name } }, "JUDGEMENT_MISSING"))) {
            setAnswer("");
          }
        }}
      >
        <label class="field">
          Missing answer
          <input
            type="text"
            value={answer}
            dir="auto"
            autoComplete="off"
            maxLength={1000}
            placeholder="Its name or id in the knowledge graph"
            onInput={(event) => setAnswer(event.currentTarget.value)}
          />
        </label>
        <button type="submit" class="button" disabled={!name}>
          Add
        </button>
      </form>
      {feedback.error !== undefined ? (
        <ErrorBox error={feedback.error} doing="Storing feedback" />
      ) : null}
    </section>
  );
}
