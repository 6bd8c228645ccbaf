/** Asks a question and shows what the answer rests on. */
export default function AskPage() {
  return (
    <section class="page">
      <h1>Ask</h1>
    </section>
  );
}
