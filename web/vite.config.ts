import { svelte } from '@sveltejs/vite-plugin-svelte'
import { defineConfig } from 'vitest/config'

/** Where `npm run dev` finds the server: the address that `wizard` prints. */
const server = process.env['WIZARD_URL'] ?? 'http://127.0.0.1:8080'

export default defineConfig({
  plugins: [svelte()],
  // Relative addresses: the page works under any path prefix that a proxy strips.
  base: './',
  build: {
    outDir: 'dist',
    target: 'es2022',
    // The server sends `script-src 'self'` and no `data:` images: nothing may be inlined.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
  server: {
    proxy: { '/ws': { target: server, ws: true } },
  },
  test: {
    include: ['src/**/*.test.ts'],
    environment: 'node',
  },
})
