/** Puts the parts together: the page, its session, and the link to the server that this page came from. */
import { mount } from 'svelte'
import App from './App.svelte'
import { socketUrl } from './net/address'
import { Link } from './net/socket'
import { Session } from './store/session.svelte'
import './theme.css'

const target = document.getElementById('app')
if (!target) throw new Error('index.html has no #app')

const session = new Session()
session.begin(new Link(socketUrl(document.baseURI), session))
mount(App, { target, props: { session } })
