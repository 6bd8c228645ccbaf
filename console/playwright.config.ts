import { defineConfig } from "@playwright/test";
import { chromium } from "./e2e/chromium";

export default defineConfig({
  testDir: "e2e",
  outputDir: "test-results",
  globalSetup: "./e2e/setup.ts",
  // One mesh serves all tests, and two cores run both.
  workers: 2,
  fullyParallel: true,
  // Long, for machines that are busy: nothing is measured by it.
  timeout: 180_000,
  expect: { timeout: 30_000 },
  forbidOnly: Boolean(process.env.CI),
  reporter: [["list"]],
  use: {
    // The setup runs the mesh; tests are read after it.
    baseURL: process.env.MESH_HTTP,
    // Below the time of a test, so that a failure names the action or navigation that hung.
    actionTimeout: 60_000,
    navigationTimeout: 60_000,
    locale: "en-GB",
    timezoneId: "UTC",
    colorScheme: "light",
    viewport: { width: 1280, height: 900 },
    screenshot: "only-on-failure",
    // A trace of each step takes longer than the step.
    trace: process.env.TRACE ? "retain-on-failure" : "off",
    launchOptions: chromium,
  },
});
