/** The evaluation whose report is published before the tests. */
export const published = {
  name: "two-questions",
  title: "Two questions <b>&</b> two methods",
  questions: [
    { question: "What institution employed Robert Stam?", answers: ["New York University"] },
    {
      question: "At which university did the director of the film Alexander study?",
      answers: ["University Yale"],
    },
  ],
};
