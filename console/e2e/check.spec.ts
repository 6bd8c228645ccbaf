import { expect, expectAccessible, expectNoSidewaysScroll, test } from "./test";

const text =
  "🦉 Robert Stam was employed by Google. Alexander was directed by Oliver Stone. Oliver Stone likes lasagne.";

test("a text is underlined by verdict, with its evidence and what is right", async ({ page }) => {
  await page.goto("#/check");
  await page.getByLabel("Text", { exact: true }).fill(text);
  await expect(page.getByLabel("Knowledge graph")).toHaveValue("wikidata");
  await page.getByRole("button", { name: "Check", exact: true }).click();

  const claims = page.getByRole("region", { name: "Claims" }).getByRole("listitem");
  await expect(page.getByRole("region", { name: "Put right" })).toBeVisible();
  await expect(page.locator("mark.line-VERDICT_CONTRADICTED")).toHaveText(/Robert Stam.*Google/);
  await expect(page.locator("mark.line-VERDICT_SUPPORTED")).toHaveText(/Alexander.*Oliver Stone/);
  await expect(page.locator("mark.line-VERDICT_NOT_IN_KG")).toHaveText(/Oliver Stone.*lasagne/);
  const legend = page.getByRole("list", { name: "Claims by verdict" });
  await expect(legend).toContainText("Supportedabc1");
  await expect(legend).toContainText("Contradictedabc1");
  await expect(legend).toContainText("Not in the KGabc1");
  // Whatever is cut out and marked, the text is the one that was given.
  expect(await plainText(page.locator(".checked .checked-text"))).toBe(text);

  const contradicted = claims.filter({ hasText: "Contradicted" }).first();
  await contradicted.getByText(/^Evidence/).click();
  await expect(contradicted).toContainText("New York University");

  const corrected = page.getByRole("region", { name: "Put right" });
  await expect(corrected.locator("del")).toHaveText("Google");
  await expect(corrected.locator("ins")).toHaveText("New York University");

  await test.step("a mark leads to its claim", async () => {
    await page.locator(".checked").getByRole("button", { name: "Claim 1" }).click();
    await expect(claims.first()).toBeFocused();
    await expect(page.locator("mark[data-active=true]").first()).toHaveText(/Robert Stam/);
  });
  await test.step("evidence leads to the graph", async () => {
    await contradicted
      .getByRole("link", { name: /Look around Robert Stam/ })
      .first()
      .click();
    await expect(page.getByRole("heading", { name: "Robert Stam" })).toBeVisible();
    await expect(page.getByRole("link", { name: "New York University" }).first()).toBeVisible();
  });
});

test("a check can be read by everyone, on a phone too", async ({ page }) => {
  await page.goto("#/check?kg=wikidata");
  await page.getByLabel("Text", { exact: true }).fill(`${text} ${"longword".repeat(60)}`);
  await page.getByLabel("Text", { exact: true }).press("Control+Enter");
  await expect(page.getByRole("region", { name: "Put right" })).toBeVisible();
  await expectAccessible(page);
  await page.setViewportSize({ width: 360, height: 740 });
  await expectNoSidewaysScroll(page);
});

test("a text without facts is said to have none", async ({ page }) => {
  await page.goto("#/check?kg=wikidata");
  await page.getByLabel("Text", { exact: true }).fill("What a lovely morning it was!");
  await page.getByRole("button", { name: "Check", exact: true }).click();
  await expect(page.getByText("No fact was found in it")).toBeVisible();
});

test.describe("a mesh that refuses", () => {
  test.use({ expectedErrors: [/404/] });
  test("is quoted", async ({ page }) => {
    await page.goto("#/check?kg=nothing");
    await page.getByLabel("Text", { exact: true }).fill("Ada wrote.");
    await page.getByRole("button", { name: "Check", exact: true }).click();
    await expect(page.getByRole("alert")).toContainText("NOT_FOUND");
    await expect(page.getByRole("alert")).toContainText("nothing");
  });
});

// A text without the numbers and words that are set behind claims.
async function plainText(paragraph: import("@playwright/test").Locator): Promise<string> {
  return paragraph.evaluate((element) => {
    const copy = element.cloneNode(true) as HTMLElement;
    for (const button of copy.querySelectorAll("button")) {
      button.remove();
    }
    return copy.textContent ?? "";
  });
}
