import { visible } from "../format/text";
import { pieces } from "./answer";

/** An answer's text, the answers in it marked; while it is written, a caret at its end. */
export function AnswerText({
  text,
  answers,
  writing = false,
}: {
  text: string;
  answers: string[];
  writing?: boolean;
}) {
  return (
    <p class={`answer-text${writing ? " writing" : ""}`} dir="auto">
      {pieces(visible(text), answers.map(visible)).map((piece, i) =>
        piece.answer ? (
          <mark key={i}>
            <bdi>{piece.text}</bdi>
          </mark>
        ) : (
          piece.text
        ),
      )}
    </p>
  );
}
