import { expect, test } from 'bun:test'
import { addressOf, shortened } from '../support/address.ts'
import { newOperator } from '../support/operator.ts'
import { pagesOf, UNKNOWN_ID, useConsole, written } from './fixture.ts'
import { addOneOfEach, environmentOf, pagesIn, pathOf, routesIn } from './one-of-each.ts'

const TENANT = ['owner', 'member', 'viewer'] as const
const SIGNED_IN = [...TENANT, 'installation', 'nowhere'] as const
const ALL = [...SIGNED_IN, 'stranger'] as const
type Who = (typeof ALL)[number]

/** Who may use a route; the first rule that matches counts. */
const RULES: [RegExp, readonly Who[]][] = [
  // Exceptions to the rules below.
  [/^(GET|POST) \/console\/welcome$/, ['owner']],
  [/^GET \/console\/endpoints\/:id\/replay$/, ['owner', 'member']],
  [/^GET \/console\/jobs\/signing-secret$/, ['owner', 'member']],
  [/^POST \/console\/identities\/:id\/(credentials|accounts)\/:part\/remove$/, ['owner', 'member']],
  // Before sign-in, or with a secret address.
  [/^(GET|POST) \/setup\//, ALL],
  [/^(GET|POST) \/console\/(login|enter|link|invitation)\b/, ALL],
  // Signed in, whatever the tenant.
  [/^(GET|POST) \/console\/account\b|^POST \/console\/(theme|sign-out)$/, SIGNED_IN],
  [/^GET \/console\/start$/, SIGNED_IN],
  [/ \/console\/installation(\/|$)/, ['installation']],
  [/ \/console\/keys\b|^POST \/console\/get-started\/[^/]+\/key$/, ['owner']],
  [/^POST \/console\/team\/leave$/, TENANT],
  [/^POST \/console\/team\b|^GET \/console\/team\/invite$/, ['owner']],
  [/^POST \/console\/(usage\/cap|settings)\b/, ['owner']],
  [/^GET \/console\/settings\/(data|manifest(\/download)?|notifications\/.+)$/, ['owner']],
  [/^POST .*\/(delete|remove)$/, ['owner']],
  [/^POST \/console\/delayed\/(:id|selected)\/cancel$/, ['owner']],
  [/^GET .*\/(new|edit)$/, ['owner', 'member']],
  [/^POST /, ['owner', 'member']],
  [/^GET \/console(\/|$)/, TENANT],
]

const app = await useConsole()
const acme = await app.newTenant()
const parameters = await addOneOfEach(app, acme)

/** A route that is not there is no refusal. */
const NO_ROUTE = /This (page|form) doesn't exist/

/** Who may switch to a tenant depends on the tenant: sign-up.test.ts. */
const BY_TENANT = /\/console\/switch$/
/** Ways out come last, because nobody is signed in after them. */
const WAYS_OUT = ['/account/end-others', '/team/leave', '/sign-out']
const exitOf = ({ path }: { path: string }) => WAYS_OUT.indexOf(path.replace('/console', ''))
const METHODS = ['GET', 'POST'] as const
const byMethod = { GET: await routesIn(app, 'GET'), POST: await routesIn(app, 'POST') }
const routes = METHODS.flatMap((method) => byMethod[method].map((path) => ({ method, path })))
  .filter(({ path }) => !BY_TENANT.test(path))
  .toSorted((one, other) => exitOf(one) - exitOf(other))
const names = routes.map(({ method, path }) => `${method} ${path}`)
const PATTERNS = names.map(
  (name) => [name, new RegExp(`^${name.replaceAll(/:\w+/g, '[^/]+')}$`)] as const,
)
const allowedOn = (route: string) => RULES.find(([pattern]) => pattern.test(route))?.[1] ?? []

test('Every route has a rule', () => {
  expect(routes.length).toBeGreaterThan(100)
  expect(names.filter((name) => allowedOn(name).length === 0)).toEqual([])
})

async function sessionOf(who: Who) {
  if (who === 'stranger') return undefined
  if (who === 'installation') return (await newOperator(app, { isAdmin: true })).signIn()
  return (await newOperator(app, who === 'nowhere' ? {} : { roles: { [acme.id]: who } })).signIn()
}

test.each(ALL)('A request of %s is accepted exactly where a rule allows it', async (who) => {
  const { open, send } = pagesOf(app, (await sessionOf(who))?.cookie)
  const wrong: string[] = []
  for (const { method, path } of routes) {
    const request = method === 'POST' ? send : open
    const { status, location, text } = await request(
      addressOf(acme.id, path.replaceAll(/:\w+/g, UNKNOWN_ID)),
    )
    const mustSignIn = status === 303 && location?.includes('/console/login?')
    const isMember = !text.includes("you're not a member of it")
    const isAccepted = status !== 401 && status !== 403 && !mustSignIn && isMember
    const isAllowed = allowedOn(`${method} ${path}`).includes(who)
    if (isAccepted !== isAllowed || NO_ROUTE.test(text)) wrong.push(`${method} ${path}: ${status}`)
  }
  expect(wrong).toEqual([])
})

function routesOn(html: string): string[] {
  const links = [...html.matchAll(/<\w+ [^>]*>/g)].flatMap(([tag]) =>
    [...tag.matchAll(/ (action|hx-\w+|href)="(\/console[^"?#]*)/g)].map(([, name, path = '']) => {
      const isPost = name === 'hx-post' || (name === 'action' && tag.includes('method="post"'))
      return `${isPost ? 'POST' : 'GET'} ${shortened(path)}`
    }),
  )
  const routeOf = (link: string) => PATTERNS.find(([, pattern]) => pattern.test(link))?.[0]
  return links.map((link) => (names.includes(link) ? link : (routeOf(link) ?? link)))
}

test.each([
  ['owner', 95],
  ['member', 75],
  ['viewer', 40],
] as const)('Pages show a %s only what the role may do', async (role, atLeast) => {
  const operator = await acme.as(role)
  const shown = new Map<string, string>()
  for (const page of await pagesIn(app)) {
    const { status, html } = await operator.in(environmentOf(page)).open(pathOf(page, parameters))
    if (status === 200) for (const route of routesOn(html)) shown.set(route, page)
  }
  const isWrong = ([route]: [string, string]) =>
    !BY_TENANT.test(route) && !allowedOn(route).includes(role)
  expect([...shown].filter(isWrong)).toEqual([])
  expect(shown.size).toBeGreaterThan(atLeast)
})

test('Everything of another tenant is unknown to every page, and changed by none', async () => {
  const { owner: stranger } = await app.newTenant('Other')
  await app.clock.settled()
  // Names that every tenant can have, what is of no tenant, and streams, which are no pages.
  const others =
    /^\/console\/(sign-in\/providers|settings\/branding|settings\/notifications\/new|installation|account|link|invitation|live)\/|^(?!.*\/:)|^\/setup|\/updates$/
  const wrong: string[] = []
  for (const method of METHODS)
    for (const route of byMethod[method].filter((path) => !others.test(path))) {
      const path = pathOf(route, parameters) + (route.endsWith('/export') ? '?format=csv' : '')
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

test('Rows of another tenant are changed by no action on selected rows', async () => {
  const other = await app.newTenant('Other')
  const { owner: stranger } = other
  const own = await addOneOfEach(app, other)
  await app.clock.settled()
  const ids = Object.entries(parameters).flatMap(([, [id]]) => (id ? [['ids[]', id]] : []))
  const wrong: string[] = []
  const ofTenant = /^\/console\/(?!installation).*\/selected\//
  const selecting = byMethod.POST.filter((path) => ofTenant.test(path))
  expect(selecting.length).toBeGreaterThan(12)
  for (const route of selecting) {
    const { open, send } = stranger.in(environmentOf(route))
    await open('/account')
    const before = written(app)
    const { status, text } = await send(pathOf(route, own), ids)
    if (status !== 200 || !text.includes(' not ') || written(app) !== before) wrong.push(route)
  }
  expect(wrong).toEqual([])
})

test('Everything of one environment is unknown in the other', async () => {
  await app.clock.settled()
  const wrong: string[] = []
  let count = 0
  for (const method of METHODS)
    for (const route of byMethod[method].filter((path) => path.includes('/:'))) {
      const path = pathOf(route, parameters)
      const own = environmentOf(route)
      const other = own === 'live' ? 'test' : 'live'
      const address = addressOf(acme.id, path, other)
      if (address === addressOf(acme.id, path, own)) continue
      count++
      await acme.owner.open('/account')
      const before = written(app)
      const fields = { grace: 'day', held: 'drain' }
      const { open, send } = acme.owner
      const { status, text } = await (method === 'GET' ? open(address) : send(address, fields))
      if (status !== 404 || NO_ROUTE.test(text) || written(app) !== before)
        wrong.push(`${method} ${route}: ${status}`)
    }
  expect(wrong).toEqual([])
  expect(count).toBeGreaterThan(15)
})

const SCRIPT = '<script>alert(1)</script>"><img src=x onerror=alert(1)>'
const HOSTILE = `${SCRIPT}invoice\u202egpj.exe`
const IS_MARKUP = /<script>alert|<img src=x/
const SEARCHES =
  `jobs?q= delayed?q= monitors?q= monitors?tag= identities?q= endpoints?q= endpoints?type= messages?event_type=
  deliveries?endpoint= event-types?q= logins/users?q= team?role= policies?subject=
  policies/decisions?subject= audit?action= audit?since= find?q= usage?month= installation/tenants?q=
  installation/operators?q= installation/mail?q= installation/configuration?q=`
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
  for (const route of [...(await pagesIn(app)), ...SEARCHES]) {
    const by = route.startsWith('/console/installation')
      ? admin
      : acme.owner.in(environmentOf(route))
    const { html, headers } = await by.open(pathOf(route, parameters))
    if (headers.has('content-disposition')) continue
    const shown = html
      .replaceAll(/<(title|pre|code|textarea)\b[\s\S]*?<\/\1>/g, '')
      .replaceAll(/="[^"]*"/g, '')
    if (IS_MARKUP.test(html) || /\u202e/.test(shown)) wrong.push(route)
    if (html.includes('&lt;script>alert(1)')) hostile++
  }
  expect(wrong).toEqual([])
  expect(hostile).toBeGreaterThan(40)
})
