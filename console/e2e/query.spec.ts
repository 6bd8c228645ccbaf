import { readFile } from "node:fs/promises";
import { employer } from "./asking";
import { expect, expectAccessible, expectNoSidewaysScroll, test } from "./test";

test("a plan of the reader's is computed, its table sorted, saved and changed", async ({
  page,
}) => {
  const plan = 'Thing("Robert Stam").get("employer")';
  await page.goto(
    `#/ask?${new URLSearchParams({ q: employer, method: "query", kg: "wikidata", plan })}`,
  );
  await page.getByRole("button", { name: "Ask", exact: true }).click();
  const answer = page.getByRole("region", { name: "Answer" });
  await expect(answer).toContainText("New York University");

  await test.step("the plan says what was aligned", async () => {
    const card = page.getByRole("region", { name: "Plan" });
    await expect(card.getByRole("textbox")).toHaveValue(plan);
    await expect(card).toContainText("employer");
    await card.getByText("The aligned plan as Cypher").click();
    await expect(card).toContainText("MATCH");
  });
  await test.step("the table has its evidence, an order and a file", async () => {
    const result = page.getByRole("region", { name: "Result" });
    await result.getByText("1 triple", { exact: true }).first().click();
    await expect(result).toContainText("Robert Stam");
    await result.getByRole("button", { name: /employer/ }).click();
    await expect(result.getByRole("columnheader").first()).toHaveAttribute(
      "aria-sort",
      "ascending",
    );
    const saving = page.waitForEvent("download");
    await result.getByRole("button", { name: "Save as CSV" }).click();
    const file = await (await saving).path();
    expect(await readFile(file, "utf8")).toContain("New York University");
  });
  await expectAccessible(page);
  await expectNoSidewaysScroll(page);
  await test.step("Cypher in its place computes the same", async () => {
    const card = page.getByRole("region", { name: "Plan" });
    await card
      .getByRole("textbox")
      .fill('MATCH ({name: "Robert Stam"})-[:EMPLOYER]->(u) RETURN count(u)');
    await card.getByRole("link", { name: "Ask with this plan" }).click();
    await page.getByRole("button", { name: "Ask", exact: true }).click();
    await expect(answer).toContainText("1");
    await expect(page.getByRole("region", { name: "Plan" }).getByRole("textbox")).toHaveValue(
      /count\(u\)/,
    );
  });
});
