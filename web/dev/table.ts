/**
 * The table without a server: `/dev/table.html?show=bid`. Several states of one name follow each other
 * with the key N, or by themselves with `&every=900` (milliseconds). Served by `npm run dev` only.
 */
import { mount } from 'svelte'
import '../src/theme.css'
import { shows } from './table/shows'
import TablePage from './table/TablePage.svelte'

const target = document.getElementById('app')
if (!target) throw new Error('table.html has no #app')

const asked = new URLSearchParams(location.search)
const show = shows[asked.get('show') ?? '']
if (show) mount(TablePage, { target, props: { states: show, everyMs: Number(asked.get('every') ?? 0) } })
else
  target.innerHTML = Object.keys(shows)
    .map((name) => `<p><a href="?show=${name}">${name}</a></p>`)
    .join('')
