import { expect, test } from 'bun:test'
import { SCOPE_FIELD, SCOPE_HEADER } from '../../views/console/scope.tsx'
import { newHttpBrowser } from '../support/http-browser.ts'
import { inEnvironment, SYSTEM, UNKNOWN_ID, useConsole, written } from './fixture.ts'
import { addOneOfEach, environmentOf, pagesIn, pathOf, routesIn } from './one-of-each.ts'

/** Routes that act neither on a tenant nor for the installation. Every other one is scoped. */
const UNSCOPED = [
  /^\/setup\/:token$/,
  /^\/console\/(login|enter|link\/:token|invitation\/:token)$/,
  /^\/console\/(sign-out|switch|theme|environment|resubmit)$/,
  /^\/console\/account(\/|$)/,
]
const isScoped = (path: string) => !UNSCOPED.some((pattern) => pattern.test(path))

const app = await useConsole()
const acme = await app.newTenant('Acme')
const parameters = await addOneOfEach(app, acme)
const other = await app.tenant('Other')
const roles = { [acme.id]: 'owner', [other.id]: 'owner' } as const
const operator = await app.signIn({ isAdmin: true, roles })

type Scope = `${'acme' | 'other'}.${'live' | 'test'}` | 'installation'

const idOf = (scope: Scope) =>
  scope === 'installation' ? null : scope.startsWith('acme') ? acme.id : other.id
const pageScopeOf = (scope: Scope) => scope.replace('acme', acme.id).replace('other', other.id)

interface Sent {
  header?: string
  field?: string
  htmx?: boolean
}

/** A request of a session, each time a new one, that acts in a scope. */
async function send(scope: Scope, method: string, path: string, { header, field, htmx }: Sent) {
  const session = await operator.signIn()
  await session.actIn(idOf(scope))
  const before = written(app)
  const { status, body, headers } = await app.raw(path.replaceAll(/:\w+/g, UNKNOWN_ID), {
    method,
    headers: {
      accept: 'text/html',
      cookie: inEnvironment(session.cookie, scope.endsWith('test') ? 'test' : 'live'),
      ...(header && { [SCOPE_HEADER]: header }),
      ...(htmx && { 'hx-request': 'true' }),
    },
    ...(method === 'POST' && { body: new URLSearchParams(field ? { [SCOPE_FIELD]: field } : {}) }),
  })
  return { status, headers, body: `${body}`, wrote: written(app) - before }
}

/** The routes that are not as they should be; of all of them or of every so many. */
async function wrongRoutes(method: string, isRight: (path: string) => Promise<boolean>, every = 1) {
  const wrong: string[] = []
  for (const [n, path] of routesIn(app, method).entries())
    if (n % every === 0 && !(await isRight(path))) wrong.push(path)
  return wrong
}

test('Every form of every page, and htmx, submits the scope of the page', async () => {
  const patterns = routesIn(app, 'POST').map(
    (path) => [path, new RegExp(`^${path.replaceAll(/:\w+/g, '[^/]+')}$`)] as const,
  )
  const routeOf = (action: string) => patterns.find(([, pattern]) => pattern.test(action))?.[0]
  const wrong: string[] = []
  const seen = new Set<string>()
  for (const route of pagesIn(app)) {
    const isInstallation = route.startsWith('/console/admin/')
    await operator.actIn(isInstallation ? null : acme.id)
    const environment = environmentOf(route)
    const { status, html } = await operator.in(environment).open(pathOf(route, parameters))
    if (status !== 200) continue
    const scope = isInstallation ? 'installation' : `${acme.id}.${environment}`
    const header = `hx-headers:inherited="{&quot;${SCOPE_HEADER}&quot;:&quot;${scope}&quot;}"`
    if (html.includes('htmx.js') && !html.includes(header)) wrong.push(`${route}: htmx`)
    for (const [form] of html.matchAll(/<form [^>]*method="post".*?<\/form>/gs)) {
      const isNamed = form.includes(`name="${SCOPE_FIELD}" value="${scope}"`)
      // Also of buttons that submit it elsewhere.
      for (const [, action = ''] of form.matchAll(/(?:action|hx-post)="([^"?#]*)/g)) {
        const target = routeOf(action)
        if (!target || (isScoped(target) && !isNamed)) wrong.push(`${route}: ${action}`)
        seen.add(target ?? '')
      }
    }
  }
  expect(wrong).toEqual([])
  expect([...seen].filter(isScoped).length).toBeGreaterThan(40)
})

test.each<[Scope, Scope, number]>([
  ['acme.live', 'other.live', 1],
  ['acme.live', 'acme.test', 9],
  ['acme.live', 'installation', 9],
  ['installation', 'acme.live', 9],
])('A page of %s changes nothing after a switch to %s', async (opened, now, every) => {
  const field = pageScopeOf(opened)
  const acting = await wrongRoutes(
    'POST',
    async (path) => {
      const { status, body, wrote } = await send(now, 'POST', path, { field })
      const isRefused = status === 409 && body.includes('Nothing was changed') && wrote === 0
      return isRefused === isScoped(path)
    },
    every,
  )
  const reading = await wrongRoutes(
    'GET',
    async (path) => {
      const { status, body, headers } = await send(now, 'GET', path, { htmx: true, header: field })
      const isTold = body.includes('hx-target="#outdated"') && headers.get('hx-reswap') === 'none'
      return (status === 409 && isTold) === isScoped(path)
    },
    every,
  )
  expect([acting, reading]).toEqual([[], []])
  expect(routesIn(app, 'POST').filter(isScoped).length).toBeGreaterThan(60)
})

test('Every route refuses an htmx request without a scope', async () => {
  for (const method of ['POST', 'GET']) {
    const scopeOf = (path: string) =>
      path.startsWith('/console/admin/') ? 'installation' : 'other.live'
    const isRefused = async (path: string, header?: string) => {
      const request = { htmx: true, ...(header && { header }) }
      const { status, headers, wrote } = await send(scopeOf(path), method, path, request)
      return status === 409 && headers.get('hx-reswap') === 'none' && wrote === 0
    }
    const without = await wrongRoutes(
      method,
      async (path) => (await isRefused(path)) === isScoped(path),
    )
    const withScope = await wrongRoutes(
      method,
      async (path) => !(await isRefused(path, pageScopeOf(scopeOf(path)))),
      9,
    )
    expect([method, without, withScope]).toEqual([method, [], []])
  }
})

test('A form that names two scopes is refused, and so is a download after a switch', async () => {
  const { headers, actIn } = await operator.signIn()
  await actIn(acme.id)
  const [right, wrong] = [`${acme.id}.live`, `${other.id}.live`]
  const statusOf = async (field: string, value: string, query: string, header = '') => {
    const { status } = await app.raw(`/console/settings${query}`, {
      method: 'POST',
      headers: { ...headers, ...(header && { [SCOPE_HEADER]: header }) },
      body: new URLSearchParams({ name: 'Acme', [field]: value }),
    })
    return status
  }
  const query = `?${SCOPE_FIELD}=`
  expect(await statusOf(SCOPE_FIELD, right, query + right, right)).toBe(303)
  for (const [field, value, more, header] of [
    [SCOPE_FIELD, right, '', wrong],
    [SCOPE_FIELD, right, query + wrong, ''],
    [SCOPE_FIELD, right, `${query}${right}&${SCOPE_FIELD}=${wrong}`, ''],
    [`${SCOPE_FIELD}[]`, wrong, '', right],
    [`${SCOPE_FIELD}.x`, wrong, '', right],
  ] as const)
    expect(await statusOf(field, value, more, header)).toBe(409)
  const link = `/audit/export?format=csv&${SCOPE_FIELD}=`
  expect((await acme.owner.open('/audit')).links).toContain(link + right)
  const download = (scope: string) => send('other.live', 'GET', `/console${link}${scope}`, {})
  expect([(await download(right)).status, (await download(wrong)).status]).toEqual([409, 200])
})

const SECRET = 'Bearer  of-acme'
const JOB = {
  name: 'nightly <report>',
  schedule: '0 3 * * *',
  url: 'http://127.0.0.1/',
  method: 'POST',
  headers: `Authorization: ${SECRET}\nX-Team: "orders" & more`,
  body: ' {"a": 1}\r\n',
  is_active: 'true',
}
const BACK = 'Switch back and submit'

async function openForm({ isInBoth = true } = {}) {
  const tenants = { acme: await app.tenant('Acme'), other: await app.tenant('Other') }
  const operator = await app.signIn({ roles: { [tenants.acme.id]: 'owner' } })
  app.clock.jump(1)
  if (isInBoth) await operator.setRole(tenants.other.id, 'owner')
  const tab = newHttpBrowser()
  tab.plant(app.url, `identity_session=${operator.token}; Path=/`)
  const post = (path: string, fields: Record<string, string> | string[][]) =>
    tab.visit(`${app.url}/console${path}`, { method: 'POST', body: new URLSearchParams(fields) })
  const form = await tab.visit(`${app.url}/console/jobs/new`)
  const scope = form.forms.find(({ action }) => action.endsWith('/jobs/new'))?.values[SCOPE_FIELD]
  const submit = () => post('/jobs/new', { ...JOB, [SCOPE_FIELD]: scope ?? '' })
  const jobs = async () => [
    (await tenants.acme.api.get('/v1/clockwork/jobs')).body,
    (await tenants.other.api.get('/v1/clockwork/jobs')).body,
  ]
  return { ...tenants, operator, tab, post, submit, jobs }
}

test('A refused form names both tenants, and can be submitted after switching back', async () => {
  const { other, tab, post, submit, jobs } = await openForm()
  await post('/switch', { to: other.id })
  const refused = await submit()
  expect([refused.status, await jobs()]).toEqual([409, [[], []]])
  expect(refused.text).toMatch(/You opened this page in Acme .live.*You are now in Other .live/)
  const created = await tab.press(refused, BACK)
  expect(created.text).toContain('Current tenant: Acme')
  const headers = { Authorization: SECRET, 'X-Team': '"orders" & more' }
  expect(await jobs()).toMatchObject([[{ name: JOB.name, headers, is_active: true }], []])
})

test('A refused form of the installation can be submitted there', async () => {
  const { token, actIn } = await operator.signIn()
  await actIn(acme.id)
  const tab = newHttpBrowser()
  tab.plant(app.url, `identity_session=${token}; Path=/`)
  const fields = { name: 'Of the installation', plan: 'free', [SCOPE_FIELD]: 'installation' }
  const body = new URLSearchParams(fields)
  const refused = await tab.visit(`${app.url}/console/admin/tenants/new`, { method: 'POST', body })
  expect(refused.text).toMatch(/opened this page in the installation.*now in Acme .live/)
  const created = await tab.press(refused, BACK)
  expect(created.text).toMatch(/Current tenant: Installation.*Of the installation/)
})

test('A refused form is not submitted to a tenant that its sender has left, nor to other pages', async () => {
  const { acme, other, operator, tab, post, submit, jobs } = await openForm()
  for (const to of ['', '//example.com/', 'https://example.com/', '/console/%2e%2e/v1']) {
    const fields = { [SCOPE_FIELD]: `${other.id}.test`, _then: to }
    expect([to, (await post('/resubmit', fields)).status]).toEqual([to, 400])
  }
  expect(tab.cookie('gatehouse_environment')).toBeUndefined()
  await operator.leave(acme.id)
  await post('/switch', { to: other.id })
  const { status, text, forms } = await submit()
  expect([status, forms, await jobs()]).toEqual([409, [], [[], []]])
  expect(text).toContain('You no longer have access to the tenant in which you opened this page')
  expect(text).not.toContain('Acme')
})

test('A refused form keeps lists and names with dots, and switches the environment back', async () => {
  const { acme, tab, post } = await openForm()
  await post('/environment', { environment: 'test', return_to: '/console/keys' })
  const sent = [
    ['engine', 'gate'],
    ['environment', 'live'],
    ['gate_scopes[]', 'identities'],
    ['gate_scopes[]', 'sessions'],
    ['a.b', ' 1 '],
    [SCOPE_FIELD, `${acme.id}.live`],
  ]
  const refused = await post('/keys/new', sent)
  const kept = [...refused.html.matchAll(/type="hidden" name="([^"]*)" value="([^"]*)"/g)]
  expect(kept.map(([, ...pair]) => pair)).toEqual([...sent, ['_then', '/console/keys/new']])
  await tab.press(refused, BACK)
  expect(tab.cookie('gatehouse_environment')).toBe('live')
})

test('A form does not follow an accepted invitation', async () => {
  for (const isAfterSwitch of [false, true]) {
    const form = await openForm({ isInBoth: false })
    const { acme, other, operator, tab, post, submit, jobs } = form
    if (isAfterSwitch) await post('/switch', { to: acme.id })
    const inviter = { actor: SYSTEM, id: 'inviter', name: 'Eve' }
    const wanted = { email: operator.email, role: 'owner' } as const
    const { url } = await app.operators.invitations.invite(inviter, other.id, wanted)
    const link = app.url + new URL(url).pathname
    const joined = await tab.press(await tab.visit(link), 'Accept invitation')
    expect(joined.text).toMatch(/You joined Other.*You're still in Acme/)
    expect((await submit()).status).toBe(200)
    expect(await jobs()).toMatchObject([[{ name: JOB.name }], []])
    const there = await tab.press(joined, 'Switch to Other')
    expect(there.text).toContain('Current tenant: Other')
    expect((await submit()).status).toBe(409)
    expect((await jobs())[1]).toEqual([])
  }
})
