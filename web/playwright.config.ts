import { defineConfig } from '@playwright/test'

export default defineConfig({
  testDir: 'browser',
  testMatch: '*.spec.ts',
  outputDir: 'test-results',
  reporter: 'line',
  // Whole games share few cores with the server that they play on.
  workers: 2,
  fullyParallel: true,
  forbidOnly: true,
  // Reached only by a fault: browsers share the machine with whatever else it does.
  timeout: 120_000,
  expect: { timeout: 30_000 },
  use: {
    browserName: 'chromium',
    actionTimeout: 30_000,
    viewport: { width: 1440, height: 900 },
    launchOptions: {
      // The system's browser; Playwright must not fetch one of its own.
      executablePath: process.env['CHROMIUM'] ?? '/usr/bin/chromium',
      args: [
        '--no-sandbox',
        '--disable-gpu',
        '--disable-quic',
        '--no-first-run',
        '--disable-background-networking',
        '--disable-component-update',
        '--disable-sync',
      ],
    },
    trace: 'retain-on-failure',
  },
})
