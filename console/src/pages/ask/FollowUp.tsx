import { useState } from "preact/hooks";
import { Icon } from "../../ui/Icon";

/** Where a question is asked that follows the answer above it. */
export function FollowUp({ onAsk }: { onAsk: (question: string) => void }) {
  const [question, setQuestion] = useState("");
  return (
    <form
      class="follow-up"
      aria-label="Follow-up"
      onSubmit={(event) => {
        event.preventDefault();
        onAsk(question.trim());
        setQuestion("");
      }}
    >
      <label for="follow-up" class="unseen">
        A question that follows
      </label>
      <input
        id="follow-up"
        type="text"
        dir="auto"
        required
        maxLength={16384}
        placeholder="Ask a follow-up, such as: and when was that?"
        value={question}
        onInput={(event) => setQuestion(event.currentTarget.value)}
      />
      <button type="submit" class="button" disabled={question.trim() === ""}>
        Follow up <Icon name="arrow" />
      </button>
    </form>
  );
}
