import { readFile } from "node:fs/promises";
import { ask, employer, universities } from "./asking";
import { expect, expectAccessible, expectNoSidewaysScroll, type Page, test } from "./test";

test("runs are searched, filtered, opened by their address, exported and asked again", async ({
  page,
}) => {
  await ask(page, employer);
  await ask(page, universities, "ger");
  await page.goto("#/runs");
  const rows = page.locator(".runs-list > li");

  await test.step("by words", async () => {
    await page.getByLabel("Words in the question").fill("robert employed");
    await expect(page).toHaveURL(/query=robert\+employed/);
    await expect(rows.first()).toContainText(employer);
    await expect(rows.filter({ hasText: universities })).toHaveCount(0);
    await page.getByLabel("Words in the question").fill("no run has these words");
    await expect(page.getByText("No run has all of that.")).toBeVisible();
    await page.getByLabel("Words in the question").fill("");
  });
  await test.step("by method and knowledge graph", async () => {
    await page.getByRole("combobox", { name: "Method" }).selectOption("ger");
    await expect(rows.filter({ hasText: "pg-akv" })).toHaveCount(0);
    await expect(rows.first()).toContainText("University Yale");
    await page.getByRole("combobox", { name: "Knowledge graph" }).selectOption("wikidata");
    await expect(page).toHaveURL(/method=ger&kg=wikidata/);
    await page.getByRole("combobox", { name: "Method" }).selectOption("pg-akv");
  });

  await rows.filter({ hasText: employer }).first().getByRole("link").first().click();
  await expect(page).toHaveURL(/#\/runs\/[0-9A-Z]{26}$/);
  await test.step("a run is the same by its address", async () => {
    await page.reload();
    await expect(page.getByRole("heading", { name: employer, level: 1 })).toBeVisible();
    await expect(page.getByRole("region", { name: "Answer" })).toContainText("New York University");
    await expect(page.getByRole("region", { name: "The three graphs" })).toBeVisible();
    await expectAccessible(page);
  });
  await test.step("it is exported", async () => {
    const run = JSON.parse(await exported(page, "JSON", /\.json$/));
    expect(run.question).toBe(employer);
    expect(run.pgAkv.edits).toHaveLength(1);
    const text = await exported(page, "Markdown", /\.md$/);
    expect(text).toContain("# What institution employed Robert Stam?");
    expect(text).toContain(
      "replace: Robert Stam — employer — Google → Robert Stam — employer — New York University",
    );
  });
  await test.step("it is asked again", async () => {
    await page.getByRole("link", { name: "Ask again" }).click();
    await expect(page.getByLabel("Your question")).toHaveValue(employer);
    await page.getByRole("button", { name: "Ask", exact: true }).click();
    await expect(page.getByRole("region", { name: "Answer" })).toContainText("New York University");
  });
});

test("runs are listed page by page", async ({ page }) => {
  // More than a page of them, by the door the console itself uses.
  await page.goto("#/mesh");
  for (let n = 0; n < 32; n++) {
    const response = await page.request.post("api/v1/ask", {
      data: { question: `Page ${n}: ${employer}`, method: "io" },
    });
    expect(response.ok()).toBe(true);
  }
  await page.goto("#/runs?method=io&query=Page");
  const rows = page.locator(".runs-list > li");
  await expect(rows).toHaveCount(30);
  await page.getByRole("button", { name: "Show older runs" }).click();
  await expect(rows).toHaveCount(32);
  await expect(page.getByRole("button", { name: "Show older runs" })).toHaveCount(0);
  await expectAccessible(page);
  await page.setViewportSize({ width: 360, height: 740 });
  await expectNoSidewaysScroll(page);
});

test("spans of a run are shown in their time", async ({ page }) => {
  const response = await page.request.post("api/v1/ask", {
    data: { question: employer, kg: { name: "wikidata" }, options: { spans: true } },
  });
  const { run } = await response.json();
  await page.goto(`#/runs/${run.id}`);
  await page.getByText(/^Where the time went/).click();
  const spans = page.getByRole("table", { name: "Spans of the run's trace" });
  await expect(spans).toContainText("GroundGraph");
  await expect(spans).toContainText("retriever");
  await expectAccessible(page);
  await page.setViewportSize({ width: 360, height: 740 });
  await expectNoSidewaysScroll(page);
});

test.describe("a run that is not there", () => {
  test.use({ expectedErrors: [/404/] });
  test("is said not to be", async ({ page }) => {
    await page.goto("#/runs/01ARZ3NDEKTSV4RRFFQ69G5FAV");
    await expect(page.getByRole("alert")).toContainText("NOT_FOUND");
  });
});

async function exported(page: Page, button: string, name: RegExp): Promise<string> {
  const [file] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("button", { name: button }).click(),
  ]);
  expect(file.suggestedFilename()).toMatch(name);
  return readFile(await file.path(), "utf8");
}
