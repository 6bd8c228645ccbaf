import { expect, type Page } from "./test";

/** A question that pg-akv corrects its draft for. */
export const employer = "What institution employed Robert Stam?";

/** A question that Ger finds two answers to. */
export const universities = "At which university did the director of the film Alexander study?";

/** Asks a question and waits for its answer. */
export async function ask(page: Page, question: string, method = "pg-akv", kg = "wikidata") {
  const query = new URLSearchParams({ q: question, method, kg });
  await page.goto(`#/ask?${query}`);
  await expect(page.getByLabel("Your question")).toHaveValue(question);
  // What the mesh has is known once its methods are.
  await expect(page.getByLabel("Method", { exact: false }).first()).toHaveValue(method);
  await page.getByRole("button", { name: "Ask", exact: true }).click();
  await expect(page.getByLabel("A question that follows")).toBeVisible();
}
