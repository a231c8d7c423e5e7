/** The operators' page: a build of its own, because only the operations port may serve it. */
import { svelte } from '@sveltejs/vite-plugin-svelte'
import { defineConfig } from 'vite'

/** Where `npm run dev:operations` finds an operations port. */
const operations = process.env['OPERATIONS_URL'] ?? 'http://127.0.0.1:9090'

export default defineConfig({
  plugins: [svelte()],
  base: './',
  build: {
    outDir: 'dist-operations',
    target: 'es2022',
    // The server sends `script-src 'self'` and no `data:` images: nothing may be inlined.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    rollupOptions: { input: 'operations.html' },
  },
  server: {
    open: '/operations.html',
    proxy: { '/nodes': operations, '/lobbies': operations },
  },
})
