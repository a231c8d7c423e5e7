/** Puts the operators' page together: the nodes as the gateway behind this page sees them. */
import { mount } from 'svelte'
import '../theme.css'
import { Feed } from './feed'
import { Fleet } from './fleet.svelte'
import Operations from './Operations.svelte'

const target = document.getElementById('app')
if (!target) throw new Error('operations.html has no #app')

const fleet = new Fleet(Date.now())
new Feed('nodes/events', fleet).start()
mount(Operations, { target, props: { fleet } })
