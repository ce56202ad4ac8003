import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { SCOPE_FIELD, SCOPE_HEADER } from '../../views/console/scope.tsx'
import { newHttpBrowser } from '../support/http-browser.ts'
import { newOperator } from '../support/operator.ts'
import { servedApp } from './console-fixture.ts'
import { type PlansFixture, plansFixture } from './plans-fixture.ts'

const UNKNOWN = '01890000-0000-7000-8000-000000000000'

/** Routes that act on no tenant and not for the installation, as the pages of an account do. Every other one is scoped. */
const UNSCOPED = [
  /^\/setup\/:token$/,
  /^\/console\/(login|enter|link\/:token|invitation\/:token)$/,
  /^\/console\/(sign-out|switch|theme|environment|resubmit)$/,
  /^\/console\/account(\/|$)/,
]
const isScoped = (path: string) => !UNSCOPED.some((pattern) => pattern.test(path))

let fixture: PlansFixture
beforeAll(async () => {
  fixture = await plansFixture()
}, 60_000)
afterAll(() => fixture[Symbol.asyncDispose]())

/** As the app itself lists them, so that a new one is checked without being named here. */
const routesOf = (method: string) =>
  fixture.app.app.routes
    .filter((route) => route.method === method && /^\/(console|setup)(\/|$)/.test(route.path))
    .map(({ path }) => path)

type Opened = `${'acme' | 'other'}.${'live' | 'test'}` | 'installation'

/** What makes a page outdated: where it was opened, and where the session acts after the switch. */
const SWITCHES: [string, Opened, Opened][] = [
  ['another tenant', 'acme.live', 'other.live'],
  ['the other data of the tenant', 'acme.live', 'acme.test'],
  ['the installation', 'acme.live', 'installation'],
  ['a tenant from the installation', 'installation', 'acme.live'],
]

/** A tab of an admin who owns two tenants, opened before they switched in another tab. */
async function outdatedTab(from: Opened, to: Opened) {
  const { app } = fixture
  const tenants = { acme: await app.tenant('Acme'), other: await app.tenant('Other') }
  const roles = { [tenants.acme.id]: 'owner', [tenants.other.id]: 'owner' } as const
  const operator = await newOperator(app, { roles, isAdmin: true })
  const idOf = (opened: Opened) =>
    opened === 'installation' ? null : tenants[opened.startsWith('acme') ? 'acme' : 'other'].id
  const environmentOf = (opened: Opened) => (opened.endsWith('test') ? 'test' : 'live')
  const pageScopeOf = (opened: Opened) => {
    const id = idOf(opened)
    return id === null ? opened : `${id}.${environmentOf(opened)}`
  }

  /** What the answer is, and how many rows were written for it. Each time by a session of its own. */
  async function send(
    path: string,
    method: string,
    by: { header?: string; field?: string; htmx?: boolean },
  ) {
    const session = await operator.signIn()
    await session.actIn(idOf(to))
    const before = written()
    const { status, body, headers } = await app.raw(path.replaceAll(/:\w+/g, UNKNOWN), {
      method,
      headers: {
        accept: 'text/html',
        cookie: `${session.cookie}; gatehouse_environment=${environmentOf(to)}`,
        ...(by.header && { [SCOPE_HEADER]: by.header }),
        ...(by.htmx && { 'hx-request': 'true' }),
      },
      ...(method === 'POST' && {
        body: new URLSearchParams(by.field ? { [SCOPE_FIELD]: by.field } : {}),
      }),
    })
    return { status, body: `${body}`, headers, wrote: written() - before }
  }

  return { send, scope: pageScopeOf(from), now: pageScopeOf(to) }
}

const written = () =>
  fixture.client.query<{ n: number }, []>('SELECT total_changes() AS n').get()?.n ?? 0

/** The routes of which something else than this is true. */
async function routesUnlike(
  method: string,
  isRight: (path: string) => Promise<boolean>,
): Promise<string[]> {
  const wrong: string[] = []
  for (const path of routesOf(method)) if (!(await isRight(path))) wrong.push(path)
  return wrong
}

test('every page that is drawn says with each form, and to htmx, what it was opened for', async () => {
  const patterns = routesOf('POST').map(
    (path) => [path, new RegExp(`^${path.replaceAll(/:\w+/g, '[^/]+')}$`)] as const,
  )
  const routeOf = (action: string) => patterns.find(([, pattern]) => pattern.test(action))?.[0]
  const wrong: string[] = []
  const seen = new Set<string>()
  for (const path of fixture.pages) {
    const { status, html, environment } = await fixture.open(path)
    if (status !== 200) continue
    const isInstallation = path.startsWith('/console/admin/')
    const scope = isInstallation ? 'installation' : `${fixture.tenantId}.${environment}`
    const header = `hx-headers:inherited="{&quot;${SCOPE_HEADER}&quot;:&quot;${scope}&quot;}"`
    if (html.includes('htmx.js') && !html.includes(header)) wrong.push(`${path}: to htmx`)
    for (const [form] of html.matchAll(/<form [^>]*method="post".*?<\/form>/gs)) {
      const isNamed = form.includes(`name="${SCOPE_FIELD}" value="${scope}"`)
      // Of the form, of buttons that send it elsewhere, and of scripts.
      for (const [, action = ''] of form.matchAll(/(?:action|hx-post)="([^"?#]*)/g)) {
        const route = routeOf(action)
        if (!route || (isScoped(route) && !isNamed)) wrong.push(`${path}: ${action}`)
        seen.add(route ?? '')
      }
    }
  }
  expect(wrong).toEqual([])
  expect([...seen].filter(isScoped).length).toBeGreaterThan(40)
}, 60_000)

describe.each(SWITCHES)('after a switch to %s', (_, from, to) => {
  test('every route that writes refuses the form, and stores nothing', async () => {
    const { send, scope } = await outdatedTab(from, to)
    expect(routesOf('POST').filter(isScoped).length).toBeGreaterThan(60)
    const wrong = await routesUnlike('POST', async (path) => {
      const { status, body, wrote } = await send(path, 'POST', { field: scope })
      const isRefused = status === 409 && body.includes('Nothing was changed') && wrote === 0
      return isRefused === isScoped(path)
    })
    expect(wrong).toEqual([])
  }, 60_000)

  test('every page refuses to be put into one that is open, and tells that one', async () => {
    const { send, scope } = await outdatedTab(from, to)
    const wrong = await routesUnlike('GET', async (path) => {
      const { status, body, headers } = await send(path, 'GET', { htmx: true, header: scope })
      const isTold = body.includes('hx-target="#outdated"') && headers.get('hx-reswap') === 'none'
      return (status === 409 && isTold) === isScoped(path)
    })
    expect(wrong).toEqual([])
  }, 60_000)
})

test('a form, and a request of htmx, that does not say what it is for is refused by every route', async () => {
  const tabs = {
    tenant: await outdatedTab('acme.live', 'other.live'),
    installation: await outdatedTab('acme.live', 'installation'),
  }
  for (const method of ['POST', 'GET']) {
    const wrong = await routesUnlike(method, async (path) => {
      const { send, now } = tabs[path.startsWith('/console/admin/') ? 'installation' : 'tenant']
      const isRefused = async (header?: string) => {
        const { status, headers, wrote } = await send(path, method, { htmx: true, header })
        return status === 409 && headers.get('hx-reswap') === 'none' && wrote === 0
      }
      const isTakenNow = !(await isRefused(now))
      return isTakenNow && (await isRefused()) === isScoped(path)
    })
    expect([method, wrong]).toEqual([method, []])
  }
}, 60_000)

test('a form that names another scope beside the one in which the session acts is refused', async () => {
  const { app } = fixture
  const [acme, other] = [await app.tenant('Acme'), await app.tenant('Other')]
  const roles = { [acme.id]: 'owner', [other.id]: 'owner' } as const
  const session = await (await newOperator(app, { roles })).signIn()
  await session.actIn(acme.id)
  const [right, wrong] = [`${acme.id}.live`, `${other.id}.live`]
  const send = async (field: string, scope: string, { query = '', header = '' }) => {
    const { status } = await app.raw(`/console/settings${query}`, {
      method: 'POST',
      headers: { ...session.headers, ...(header && { [SCOPE_HEADER]: header }) },
      body: new URLSearchParams({ name: 'Renamed', [field]: scope }),
    })
    return status
  }
  const query = `?${SCOPE_FIELD}=`

  expect(await send(SCOPE_FIELD, right, { query: query + right, header: right })).toBe(303)
  expect(await send(SCOPE_FIELD, right, { header: wrong })).toBe(409)
  expect(await send(SCOPE_FIELD, right, { query: query + wrong })).toBe(409)
  expect(
    await send(SCOPE_FIELD, right, { query: `${query}${right}&${SCOPE_FIELD}=${wrong}` }),
  ).toBe(409)
  expect(await send(`${SCOPE_FIELD}[]`, wrong, { header: right })).toBe(409)
  expect(await send(`${SCOPE_FIELD}.x`, wrong, { header: right })).toBe(409)
})

describe('a form that was refused', () => {
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

  /** Somebody with two tabs, in the first of which the form for a job of Acme is open. */
  async function withFormOpen({ isInBoth = true } = {}) {
    const app = await servedApp()
    const tenants = { acme: await app.tenant('Acme'), other: await app.tenant('Other') }
    const operator = await newOperator(app, { roles: { [tenants.acme.id]: 'owner' } })
    app.clock.jump(1)
    if (isInBoth) await operator.setRole(tenants.other.id, 'owner')
    const { token } = await operator.signIn()
    const tab = newHttpBrowser()
    tab.plant(app.url, `identity_session=${token}; Path=/`)
    const form = await tab.visit(`${app.url}/console/jobs/new`)
    const scope = form.forms.find(({ action }) => action.endsWith('/jobs'))?.values[SCOPE_FIELD]
    const submit = () =>
      tab.visit(`${app.url}/console/jobs`, {
        method: 'POST',
        body: new URLSearchParams({ ...JOB, [SCOPE_FIELD]: scope ?? '' }),
      })
    const jobsOf = async (name: keyof typeof tenants) =>
      (await tenants[name].api.get('/v1/clockwork/jobs')).body
    const switchTo = (to: string) =>
      tab.visit(`${app.url}/console/switch`, { method: 'POST', body: new URLSearchParams({ to }) })
    return { app, ...tenants, operator, tab, submit, jobsOf, switchTo }
  }

  test('names both tenants, and is sent where it was opened once its sender switches back', async () => {
    const { app, other, tab, submit, jobsOf, switchTo } = await withFormOpen()
    await using _ = app
    await switchTo(other.id)
    const refused = await submit()
    expect([refused.status, refused.text]).toEqual([
      409,
      expect.stringMatching(/You opened this page in Acme .live.*You are now in Other .live/),
    ])
    expect([await jobsOf('acme'), await jobsOf('other')]).toEqual([[], []])

    const made = await tab.press(refused, 'Switch back and submit')
    expect([made.status, made.text]).toEqual([200, expect.stringContaining('Current tenant: Acme')])
    expect(await jobsOf('other')).toEqual([])
    const headers = { Authorization: SECRET, 'X-Team': '"orders" & more' }
    expect(await jobsOf('acme')).toMatchObject([{ name: JOB.name, headers, is_active: true }])
  })

  test('is sent to the installation where it was opened there, once its sender switches back', async () => {
    await using app = await servedApp()
    const acme = await app.tenant('Acme')
    const operator = await newOperator(app, { isAdmin: true, roles: { [acme.id]: 'owner' } })
    const session = await operator.signIn()
    await session.actIn(null)
    const tab = newHttpBrowser()
    tab.plant(app.url, `identity_session=${session.token}; Path=/`)
    const form = await tab.visit(`${app.url}/console/admin/tenants/new`)
    const { values } = form.forms.find(({ action }) => action.endsWith('/admin/tenants')) ?? {}
    await session.actIn(acme.id)
    const body = new URLSearchParams({ ...values, name: 'Of the installation', plan: 'free' })
    const refused = await tab.visit(`${app.url}/console/admin/tenants`, { method: 'POST', body })
    expect([refused.status, refused.text]).toEqual([
      409,
      expect.stringMatching(/You opened this page in the installation.*You are now in Acme .live/),
    ])
    expect(app.platform.tenants.list()).toHaveLength(1)

    const made = await tab.press(refused, 'Switch back and submit')
    expect([made.status, made.text]).toEqual([
      200,
      expect.stringMatching(/Current tenant: Installation.*Of the installation/),
    ])
  })

  test('is not sent to a tenant that its sender has left, of which nothing is told', async () => {
    const { app, acme, other, operator, submit, jobsOf, switchTo } = await withFormOpen()
    await using _ = app
    await operator.leave(acme.id)
    await switchTo(other.id)
    const refused = await submit()
    expect([refused.status, refused.text]).toEqual([
      409,
      expect.stringContaining(
        'You no longer have access to the tenant in which you opened this page',
      ),
    ])
    expect(refused.text).not.toContain('Acme')
    expect(refused.forms).toEqual([])
    expect([await jobsOf('acme'), await jobsOf('other')]).toEqual([[], []])
  })

  test('switches nothing to be sent where the console has no page', async () => {
    const { app, other, tab, submit, jobsOf } = await withFormOpen()
    await using _ = app
    for (const then of ['', '//example.com/', 'https://example.com/', '/console/%2e%2e/v1']) {
      const fields = { [SCOPE_FIELD]: `${other.id}.test`, _then: then }
      const body = new URLSearchParams(fields)
      const refused = await tab.visit(`${app.url}/console/resubmit`, { method: 'POST', body })
      expect([then, refused.status]).toEqual([then, 400])
    }
    expect(tab.cookie('gatehouse_environment')).toBeUndefined()
    expect((await submit()).status).toBe(200)
    expect(await jobsOf('acme')).toMatchObject([{ name: JOB.name }])
  })

  test('keeps lists and names with dots, and switches the data back too', async () => {
    const { app, acme, tab } = await withFormOpen()
    await using _ = app
    const environment = { environment: 'test', return_to: '/console/keys' }
    const switched = { method: 'POST', body: new URLSearchParams(environment) }
    await tab.visit(`${app.url}/console/environment`, switched)
    const sent = [
      ['engine', 'gate'],
      ['environment', 'live'],
      ['gate_scopes[]', 'identities'],
      ['gate_scopes[]', 'sessions'],
      ['a.b', ' 1 '],
      [SCOPE_FIELD, `${acme.id}.live`],
    ]
    const body = new URLSearchParams(sent)
    const refused = await tab.visit(`${app.url}/console/keys`, { method: 'POST', body })
    const kept = [...refused.html.matchAll(/type="hidden" name="([^"]*)" value="([^"]*)"/g)]
    expect(kept.map(([, ...pair]) => pair)).toEqual([...sent, ['_then', '/console/keys']])

    await tab.press(refused, 'Switch back and submit')
    expect(tab.cookie('gatehouse_environment')).toBe('live')
  })

  test.each(['without a switch before', 'after a switch'])(
    'is taken where it was opened after an invitation was accepted elsewhere: %s',
    async (how) => {
      const { app, acme, other, operator, tab, submit, jobsOf, switchTo } = await withFormOpen({
        isInBoth: false,
      })
      await using _ = app
      if (how === 'after a switch') await switchTo(acme.id)
      const { url } = await app.operators.invitations.invite(
        { actor: { kind: 'system' }, id: 'inviter', name: 'Eve' },
        other.id,
        { email: operator.email, role: 'owner' },
      )
      const joined = await tab.press(await tab.visit(url), 'Accept invitation')
      expect(joined.text).toMatch(/You joined Other.*You're still in Acme/)

      expect((await submit()).status).toBe(200)
      expect([await jobsOf('acme'), await jobsOf('other')]).toMatchObject([[{}], []])
      const there = await tab.press(joined, 'Switch to Other')
      expect(there.text).toContain('Current tenant: Other')
      expect((await submit()).status).toBe(409)
      expect(await jobsOf('other')).toEqual([])
    },
  )
})

test('an invitation is accepted by the account that its page showed, and by no other', async () => {
  await using app = await servedApp()
  const { id } = await app.tenant('Acme')
  const [ada, bob] = [await newOperator(app), await newOperator(app)]
  const { url } = await app.operators.invitations.invite(
    { actor: { kind: 'system' }, id: 'inviter', name: 'Eve' },
    id,
    { email: ada.email, role: 'owner' },
  )
  const tab = newHttpBrowser()
  const signIn = async (operator: typeof ada) =>
    tab.plant(app.url, `identity_session=${(await operator.signIn()).token}; Path=/`)
  const asNewcomer = await tab.visit(url)
  await signIn(ada)
  const asAda = await tab.visit(url)
  await signIn(bob)

  const typed = { name: 'Ada', password: 'correct horse battery' }
  for (const again of [
    await tab.press(asNewcomer, 'Create account and join', typed),
    await tab.press(asAda, 'Accept invitation'),
  ])
    expect([again.status, again.text]).toEqual([422, expect.stringContaining(bob.email)])
  expect(app.operators.memberships.list(id)).toEqual([])
  await signIn(ada)
  await tab.press(asAda, 'Accept invitation')
  expect(app.operators.memberships.list(id)).toMatchObject([{ id: ada.id }])
})

test('who acts nowhere is in the tenant whose invitation they accept', async () => {
  await using app = await servedApp()
  const [left, joined] = [await app.tenant('Left'), await app.tenant('Joined')]
  const operator = await newOperator(app, { roles: { [left.id]: 'viewer' } })
  const { token } = await operator.signIn()
  await operator.leave(left.id)
  const { url } = await app.operators.invitations.invite(
    { actor: { kind: 'system' }, id: 'inviter', name: 'Ada' },
    joined.id,
    { email: operator.email, role: 'viewer' },
  )
  const tab = newHttpBrowser()
  tab.plant(app.url, `identity_session=${token}; Path=/`)
  const page = await tab.press(await tab.visit(url), 'Accept invitation')
  expect([page.status, page.text]).toEqual([200, expect.stringContaining('Current tenant: Joined')])
})

test('a download is refused once the session acts in another tenant', async () => {
  const { send, scope, now } = await outdatedTab('acme.live', 'other.live')
  const page = await fixture.open('/console/audit')
  const link = `/console/audit/export?format=csv&${SCOPE_FIELD}=`
  expect(page.html).toContain(`${link.replaceAll('&', '&amp;')}${fixture.tenantId}.live`)
  const answers = [await send(link + scope, 'GET', {}), await send(link + now, 'GET', {})]
  expect(answers.map(({ status }) => status)).toEqual([409, 200])
  expect(answers[0]?.body).toContain('You opened this page in')
})
