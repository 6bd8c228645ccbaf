import { useId } from "preact/hooks";

/** The box that a question is written in. Enter asks it; with Shift it starts a new line. */
export function QuestionBox({
  value,
  placeholder,
  onChange,
}: {
  value: string;
  placeholder: string;
  onChange: (question: string) => void;
}) {
  const id = useId();
  return (
    <>
      <label for={id} class="unseen">
        Your question
      </label>
      <textarea
        id={id}
        class="question"
        rows={2}
        dir="auto"
        required
        maxLength={16384}
        placeholder={placeholder}
        value={value}
        onInput={(event) => onChange(event.currentTarget.value)}
        onKeyDown={(event) => {
          // Shift starts a new line; the keys of an input method choose letters.
          if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
            event.preventDefault();
            event.currentTarget.form?.requestSubmit();
          }
        }}
      />
    </>
  );
}
