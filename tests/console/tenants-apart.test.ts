import { expect, test } from 'bun:test'
import { useConsole, written } from './fixture.ts'
import {
  addOneOfEach,
  environmentOf,
  type Parameters,
  pagesIn,
  pathOf,
  routesIn,
} from './one-of-each.ts'

const SCRIPT = '<script>alert(1)</script>"><img src=x onerror=alert(1)>'
const HOSTILE = `${SCRIPT}invoice\u202egpj.exe`
const IS_MARKUP = /<script>alert|<img src=x/

const app = await useConsole()

test('Everything of another tenant is unknown to every page, and changed by none', async () => {
  const acme = await app.newTenant()
  const { owner: stranger } = await app.newTenant('Other')
  const all: Parameters = await addOneOfEach(app, acme)
  // Names that every tenant can have, and what is of no tenant.
  const others =
    /^\/console\/(sign-in\/providers|bots|admin|account|link|invitation|live)\/|^(?!.*\/:)|^\/setup/
  const wrong: string[] = []
  for (const method of ['GET', 'POST'] as const)
    for (const route of routesIn(app, method).filter((path) => !others.test(path))) {
      const path = pathOf(route, all)
      const { open, send } = stranger.in(environmentOf(route))
      await open('/account')
      const before = written(app)
      const fields = { grace: 'day', held: 'drain', role: 'viewer', metadata: '{}' }
      const { status } = await (method === 'GET' ? open(path) : send(path, fields))
      if (![404, 422].includes(status) || written(app) !== before)
        wrong.push(`${method} ${route}: ${status}`)
      const own = acme.owner.in(environmentOf(route))
      if (method === 'GET' && (await own.open(path)).status !== 200) wrong.push(`own ${route}`)
    }
  expect(wrong).toEqual([])
})

const SEARCHES = `jobs?q= delayed?q= identities?q= endpoints?q= endpoints?type= messages?event_type=
  deliveries?endpoint= event-types?q= logins/users?q= team?role= policies?subject=
  policies/decisions?subject= audit?action= audit?since= find?q= usage?month= admin/tenants?q=
  admin/operators?q= admin/mail?q= admin/configuration?q=`
  .split(/\s+/)
  .map((path) => `/console/${path}${encodeURIComponent(HOSTILE)}`)

test('Hostile text of tenants and users is text on every page', async () => {
  const texts = { name: `${HOSTILE}${'x'.repeat(150)}`, type: 'order.paid', note: HOSTILE }
  const acme = await app.newTenant(HOSTILE)
  const headers = { 'x-evil': SCRIPT }
  acme.target.answers(() => new Response(HOSTILE.repeat(50), { status: 500, headers }))
  const parameters = await addOneOfEach(app, acme, texts)
  await acme.message({ payload: { [HOSTILE]: 1 } })
  const identity = parameters['/console/identities/'][0] as string
  const traits = JSON.stringify({ email: acme.owner.email, display_name: HOSTILE })
  const run = (sql: string, ...values: string[]) => app.db.client.query(sql).run(...values)
  run('UPDATE gate_identities SET traits = ? WHERE id = ?', traits, acme.owner.id)
  run('UPDATE passepartout_people SET first_name = ?1, last_name = ?1, username = ?1', HOSTILE)
  run('UPDATE passepartout_attempts SET client_label = ?1, client_ip = ?1', HOSTILE)
  const link = [acme.id, 'google', HOSTILE, identity]
  run('INSERT INTO gate_social_links VALUES (?, ?, ?, ?, NULL, 1, 1)', ...link)
  // A session shows the device only by known names.
  run('UPDATE gate_sessions SET user_agent = ?', HOSTILE)
  const admin = await app.newAdmin()
  const wrong: string[] = []
  let hostile = 0
  for (const route of [...pagesIn(app), ...SEARCHES]) {
    const by = route.startsWith('/console/admin') ? admin : acme.owner.in(environmentOf(route))
    const { html } = await by.open(pathOf(route, parameters))
    const shown = html
      .replaceAll(/<(title|pre|code|textarea)\b[\s\S]*?<\/\1>/g, '')
      .replaceAll(/="[^"]*"/g, '')
    if (IS_MARKUP.test(html) || /\u202e/.test(shown)) wrong.push(route)
    if (html.includes('&lt;script>alert(1)')) hostile++
  }
  expect(wrong).toEqual([])
  expect(hostile).toBeGreaterThan(40)
})
