import { ask, employer } from "./asking";
import { expect, expectAccessible, expectNoSidewaysScroll, test } from "./test";

test.use({ expectedErrors: [/400/] });

test("answers and triples are marked, corrected, and the marks are there after a reload", async ({
  page,
}) => {
  await ask(page, employer);
  const answer = page.getByRole("region", { name: "Answer" });
  const right = answer.getByRole("button", { name: "Right: New York University", exact: true });
  const wrong = answer.getByRole("button", { name: "Wrong: New York University", exact: true });
  const fact = answer
    .getByRole("button", { name: "Right: Robert Stam employer New York University" })
    .first();

  await test.step("by keyboard", async () => {
    await right.focus();
    await page.keyboard.press("Enter");
    await expect(right).toHaveAttribute("aria-pressed", "true");
    await expect(right).toBeFocused();
    await expect(answer.getByRole("status").filter({ hasText: "Marked right" })).toHaveCount(1);
    await page.keyboard.press("Tab");
    await expect(wrong).toBeFocused();
    await page.keyboard.press("Space");
    await expect(wrong).toHaveAttribute("aria-pressed", "true");
    await expect(right).toHaveAttribute("aria-pressed", "false");
  });
  await test.step("a triple", async () => {
    await fact.click();
    await expect(fact).toHaveAttribute("aria-pressed", "true");
  });
  await test.step("a missing answer", async () => {
    await answer.getByLabel("Missing answer").fill("Tisch School of the Arts");
    await page.keyboard.press("Enter");
    await expect(answer.getByRole("list", { name: "Answers marked missing" })).toContainText(
      "Tisch School of the Arts",
    );
    await expect(answer.getByLabel("Missing answer")).toHaveValue("");
  });
  await test.step("one that is not missing is refused with the reason", async () => {
    await answer.getByLabel("Missing answer").fill("new york university");
    await answer.getByRole("button", { name: "Add" }).click();
    await expect(answer.getByRole("alert")).toContainText("right or wrong, not missing");
    await expect(wrong).toHaveAttribute("aria-pressed", "true");
  });
  await expectAccessible(page);

  // Other tests ask the same at the same time.
  const { feedback } = await (await page.request.get("api/v1/feedback")).json();
  await page.goto(`#/runs/${feedback[0].runId}`);
  await page.reload();
  await expect(wrong).toHaveAttribute("aria-pressed", "true");
  await expect(fact).toHaveAttribute("aria-pressed", "true");
  await test.step("a mark is taken back", async () => {
    await wrong.click();
    await expect(wrong).toHaveAttribute("aria-pressed", "false");
    await answer.getByRole("button", { name: "Remove: Tisch School of the Arts" }).click();
    await expect(answer.getByRole("list", { name: "Answers marked missing" })).toHaveCount(0);
    await page.reload();
    await expect(fact).toHaveAttribute("aria-pressed", "true");
    await expect(wrong).toHaveAttribute("aria-pressed", "false");
    await expect(answer.getByRole("list", { name: "Answers marked missing" })).toHaveCount(0);
  });
  await page.setViewportSize({ width: 360, height: 800 });
  await expectNoSidewaysScroll(page);
});
