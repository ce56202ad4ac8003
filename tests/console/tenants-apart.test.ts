import { expect, test } from 'bun:test'
import { pagesOf, useConsole } from './fixture.ts'
import { addOneOfEach, environmentOf, type Parameters, pathOf } from './one-of-each.ts'

const SCRIPT = '<script>alert(1)</script>"><img src=x onerror=alert(1)>'
const TURNED = 'invoice\u202egpj.exe'
const HOSTILE = SCRIPT + TURNED

const app = await useConsole()

/** Routes of the console with parameters that mean something of a tenant. */
const routesOf = (method: string) =>
  app.app.routes
    .filter((route) => route.method === method && /^\/console\/.*\/:/.test(route.path))
    .filter(({ path }) => !/^\/console\/(admin|account|link|invitation|live)\//.test(path))
    .map(({ path }) => path)

const written = () => app.db.client.query<{ n: number }, []>('SELECT total_changes() AS n').get()?.n

test('Everything of another tenant is unknown to every page, and changed by none', async () => {
  const acme = await app.newTenant()
  const { owner: stranger } = await app.newTenant('Other')
  // Names that every tenant can have.
  const shared = ['/console/sign-in/providers/', '/console/bots/']
  const all: Parameters = await addOneOfEach(app, acme)
  const wrong: string[] = []
  for (const method of ['GET', 'POST'] as const)
    for (const route of routesOf(method)) {
      if (shared.some((start) => route.startsWith(start))) continue
      const path = pathOf(route, all)
      const { open, send } = stranger.in(environmentOf(route))
      await open('/console/account')
      const before = written()
      const fields = { grace: 'day', held: 'drain', role: 'viewer', metadata: '{}' }
      const { status } = await (method === 'GET' ? open(path) : send(path, fields))
      if (![404, 422].includes(status) || written() !== before)
        wrong.push(`${method} ${route}: ${status}`)
      const own = acme.owner.in(environmentOf(route))
      if (method === 'GET' && (await own.open(path)).status !== 200) wrong.push(`own ${route}`)
    }
  expect(wrong).toEqual([])
})

test('Hostile text of tenants and users is text on every page', async () => {
  const texts = { name: `${HOSTILE}${'x'.repeat(150)}`, type: 'order.paid', note: HOSTILE }
  const acme = await app.newTenant(HOSTILE)
  acme.target.answers(
    () => new Response(HOSTILE.repeat(50), { status: 500, headers: { 'x-evil': SCRIPT } }),
  )
  const parameters = await addOneOfEach(app, acme, texts)
  await acme.message({ payload: { [HOSTILE]: 1 } })
  const identity = parameters['/console/identities/'][0] as string
  const traits = JSON.stringify({ email: acme.owner.email, display_name: HOSTILE })
  const { client } = app.db
  client.run('UPDATE gate_identities SET traits = ? WHERE id = ?', [traits, acme.owner.id])
  client.run(`UPDATE passepartout_people SET first_name = ?1, last_name = ?1, username = ?1`, [
    HOSTILE,
  ])
  client.run('UPDATE passepartout_attempts SET client_label = ?1, client_ip = ?1', [HOSTILE])
  client.run('INSERT INTO gate_social_links VALUES (?, ?, ?, ?, NULL, 1, 1)', [
    acme.id,
    'google',
    HOSTILE,
    identity,
  ])
  // A session shows the device only by known names.
  client.run('UPDATE gate_sessions SET user_agent = ?', [HOSTILE])
  const admin = await app.newAdmin()
  const pages = app.app.routes
    .filter(({ method, path }) => method === 'GET' && /^\/console(?!\/live\/)(\/|$)/.test(path))
    .map(({ path }) => path)
  const wrong: string[] = []
  let hostile = 0
  for (const route of [...pages, ...SEARCHES]) {
    const by = route.startsWith('/console/admin') ? admin : acme.owner.in(environmentOf(route))
    const { html } = await by.open(pathOf(route, parameters))
    const shown = html
      .replaceAll(/<(title|pre|code|textarea)\b[\s\S]*?<\/\1>/g, '')
      .replaceAll(/="[^"]*"/g, '')
    if (/<script>alert|<img src=x/.test(html) || /\u202e/.test(shown)) wrong.push(route)
    if (html.includes('&lt;script>alert(1)')) hostile++
  }
  expect(wrong).toEqual([])
  expect(hostile).toBeGreaterThan(40)
})

const SEARCHES = [
  'jobs?q=',
  'delayed?q=',
  'identities?q=',
  'endpoints?q=',
  'endpoints?type=',
  'messages?event_type=',
  'deliveries?endpoint=',
  'event-types?q=',
  'logins/users?q=',
  'team?role=',
  'policies?subject=',
  'policies/decisions?subject=',
  'audit?action=',
  'audit?since=',
  'find?q=',
  'usage?month=',
  'admin/tenants?q=',
  'admin/operators?q=',
  'admin/mail?q=',
  'admin/configuration?q=',
].map((path) => `/console/${path}${encodeURIComponent(HOSTILE)}`)

test('Hostile text in a form is text when the form comes back', async () => {
  const acme = await app.newTenant()
  const parameters = await addOneOfEach(app, acme)
  const admin = await app.newAdmin()
  const names = `name url schedule run_at method headers body email password metadata policies urls
    description event_types channels format secret event_type payload own_scopes token match transport
    spend_cap plan reason grace held since until which per_second role tenant`
  const fields = Object.fromEntries(names.split(/\s+/).map((name) => [name, HOSTILE]))
  const forms = app.app.routes
    .filter(({ method, path }) => method === 'POST' && /^\/(console|setup)\//.test(path))
    .map(({ path }) => path)
    .filter(
      (path) => !/\/(delete|remove|leave|sign-out|end-others|end|revoke|deactivate)$/.test(path),
    )
  const wrong: string[] = []
  let returned = 0
  for (const route of forms) {
    const by = route.startsWith('/console/admin') ? admin : acme.owner.in(environmentOf(route))
    const { status, html } = await by.send(pathOf(route, parameters), fields)
    if (/<script>alert|<img src=x/.test(html)) wrong.push(route)
    if (status === 422) returned++
  }
  const setUp = pagesOf(app)
  const invited = await acme.owner.send('/console/team/invite', { email: 'a@b.co', role: 'viewer' })
  const [link = ''] = /\/console\/invitation\/[\w-]+/.exec(invited.html) ?? []
  const { status, html } = await setUp.send(link, fields)
  expect([status, html.includes('<script>alert')]).toEqual([422, false])
  expect(wrong).toEqual([])
  expect(returned).toBeGreaterThan(15)
})
