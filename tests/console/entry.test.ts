import { describe, expect, test } from 'bun:test'
import { formBody } from '../support/form.ts'
import { newHttpBrowser } from '../support/http-browser.ts'
import { newOperator } from '../support/operator.ts'
import { ACCOUNT, audited, type ServedApp, servedApp } from './console-fixture.ts'
import { listen, streamIn } from './live-listener.ts'

const MINUTE = 60_000

/** Somebody who has set the installation up, and is on the page for a first key. */
async function setUp(app: ServedApp) {
  const operator = newHttpBrowser()
  const form = await operator.visit(await app.setUpUrl())
  const page = await operator.press(form, 'Create account and tenant', {
    ...ACCOUNT,
    tenant: 'Acme',
  })
  return { operator, page }
}

/** What a command in a page sends, as a shell would read it. */
function requestIn(text: string) {
  const [, url = ''] = /curl '([^']+)'/.exec(text) ?? []
  const headers = [...text.matchAll(/-H '([^:]+): ([^']+)'/g)].map(([, name, value]) => [
    name,
    value,
  ])
  const [, body] = /-d '([^']+)'/.exec(text) ?? []
  return { url, method: 'POST', headers: Object.fromEntries(headers), body }
}

describe('set-up', () => {
  test('makes the first operator, who owns a tenant without limits and runs the installation', async () => {
    await using app = await servedApp()
    const { page } = await setUp(app)

    expect([page.status, new URL(page.url).pathname]).toEqual([200, '/console/first-key'])
    const [tenant, ...others] = app.platform.tenants.list()
    expect([tenant, others]).toMatchObject([{ name: 'Acme', plan: 'unlimited' }, []])
    const members = app.operators.memberships.list(tenant?.id ?? '')
    expect(members).toMatchObject([{ email: ACCOUNT.email, role: 'owner' }])
    expect(audited(app, 'tenant.created')).toMatchObject([
      { actor_kind: 'operator', actor_id: members[0]?.id },
    ])
  })

  test('ends in a key that works', async () => {
    await using app = await servedApp()
    const { operator, page } = await setUp(app)

    const issued = await operator.press(page, 'Create API key')
    const [key = ''] = /svc_clockwork_\w{43}/.exec(issued.html) ?? []
    expect((await app.client(key).get('/v1/clockwork/jobs')).status).toBe(200)
    const list = await operator.visit(`${app.url}/console/keys`)
    expect(list.html).not.toContain(key)
    expect(list.text).toContain('1 active')
  })

  test('ends on a page whose command makes a job that arrives there', async () => {
    await using app = await servedApp()
    const { operator, page } = await setUp(app)
    const issued = await operator.press(page, 'Create API key')
    expect(issued.text).toContain('Waiting for the job')
    const command = requestIn(issued.text)
    const made = await fetch(command.url, command)
    expect(made.status).toBe(201)
    const { id, url } = await made.json()
    // On loopback jobs may call here, so that nothing else has to be there.
    expect(url).toBe(`${app.url}/healthz`)

    const again = `${app.url}/console/first-job`
    expect(issued.html).toContain('href="/console/first-job"')
    expect((await operator.visit(again)).text).toMatch(/Job Hello created *Next run in/)
    await app.clock.advance(61_000)
    const ran = await operator.visit(again)
    expect(ran.text).toContain('Run succeeded: 200 in')
    expect(ran.html).toContain(`href="/console/jobs/${id}"`)
    expect(ran.html).not.toMatch(/svc_clockwork_\w{43}/)
    expect(ran.text).toContain('$CLOCKWORK_KEY')
  })

  test('shows the job as it arrives, and as it runs', async () => {
    await using app = await servedApp()
    const { operator, page } = await setUp(app)
    const issued = await operator.press(page, 'Create API key')
    const cookie = `identity_session=${operator.cookie('identity_session')}`
    const listener = await listen(app.url + streamIn(issued.html), { cookie })
    const command = requestIn(issued.text)
    await fetch(command.url, command)
    await app.clock.advance(1000)
    await listener.until(() => listener.text().includes(' created'))
    await app.clock.advance(61_000)
    await listener.until(() => listener.text().includes('Run succeeded'))
    listener.leave()
  })

  test('calls somewhere else where jobs may not call this installation, and says why one failed', async () => {
    await using app = await servedApp({ allow: [] })
    const { operator, page } = await setUp(app)
    const issued = await operator.press(page, 'Create API key')
    expect(requestIn(issued.text).body).toContain('"url":"https://example.com"')
    const [tenant] = app.platform.tenants.list()
    app.db.client
      .query(
        `insert into cron_jobs (id, tenant_id, name, schedule, url, method, headers, is_active,
         next_run_at, created_at, updated_at) values ('job', ?, ?, '* * * * *', 'http://10.0.0.1/', 'GET', '{}', 1, ?, 0, 0)`,
      )
      .run(tenant?.id ?? '', '<script>alert(1)</script>', app.clock.now())
    await app.clock.advance(61_000)
    const seen = await operator.visit(`${app.url}/console/first-job`)
    expect(seen.text).toMatch(/Run failed: .*private/)
    expect(seen.html).not.toContain('<script>alert')
  })

  test('lets nobody but owners take a key, and everybody of the tenant look', async () => {
    await using app = await servedApp()
    const acme = await app.tenant()
    const statuses = async (path: string, method: string) => {
      const found: number[] = []
      for (const role of ['owner', 'member', 'viewer'] as const) {
        const session = await (await newOperator(app, { roles: { [acme.id]: role } })).signIn()
        const { headers } = session
        const body = method === 'POST' ? formBody(app, headers) : undefined
        found.push((await app.raw(path, { method, headers, body })).status)
      }
      return found
    }
    expect(await statuses('/console/first-key', 'GET')).toEqual([200, 403, 403])
    expect(await statuses('/console/first-key', 'POST')).toEqual([200, 403, 403])
    expect(await statuses('/console/first-job', 'GET')).toEqual([200, 200, 200])
    expect(app.platform.keys.list(acme.id)).toHaveLength(2)
  })

  test('is by a link that is good once, for half an hour, and only while nobody has done it', async () => {
    await using app = await servedApp()
    const [late, first, second] = [await app.setUpUrl(), await app.setUpUrl(), await app.setUpUrl()]
    const stranger = newHttpBrowser()
    expect((await stranger.visit(`${app.url}/setup/unknown`)).status).toBe(404)
    const open = await stranger.visit(second)
    const form = await newHttpBrowser().visit(first)
    await newHttpBrowser().press(form, 'Create account and tenant', { ...ACCOUNT, tenant: 'Acme' })

    for (const url of [late, first, second]) expect((await stranger.visit(url)).status).toBe(404)
    const again = { ...ACCOUNT, email: 'eve@example.com', tenant: 'Evil' }
    expect((await stranger.press(open, 'Create account and tenant', again)).status).toBe(404)
    expect(app.platform.tenants.list()).toHaveLength(1)
    expect(app.setUpUrl()).rejects.toThrow('already set up')
  })

  test('is over after half an hour', async () => {
    await using app = await servedApp()
    const url = await app.setUpUrl()
    app.clock.jump(30 * MINUTE - 1)
    expect((await newHttpBrowser().visit(url)).status).toBe(200)
    app.clock.jump(1)
    expect((await newHttpBrowser().visit(url)).text).toContain('has expired')
  })

  test.each([
    ['email', { email: 'no address' }],
    ['password', { password: 'short' }],
    ['password', { password: 'password1' }],
    ['tenant', { tenant: ' ' }],
    ['name', { name: 'x'.repeat(10_000) }],
  ])('says beside %s what is wrong, keeps what was typed, and the link', async (name, wrong) => {
    await using app = await servedApp()
    const operator = newHttpBrowser()
    const form = await operator.visit(await app.setUpUrl())

    const typed = { ...ACCOUNT, tenant: 'Acme <script>', ...wrong }
    const again = await operator.press(form, 'Create account and tenant', typed)
    expect(again.status).toBe(422)
    expect(again.html).toContain(`id="field-${name}-error"`)
    expect(again.forms[0]?.values).toMatchObject({ email: typed.email, password: '' })
    expect(again.html).not.toContain('<script>')
    expect(app.platform.tenants.list()).toEqual([])

    const right = { ...ACCOUNT, tenant: 'Acme' }
    expect((await operator.press(again, 'Create account and tenant', right)).status).toBe(200)
  })
})

describe('signing in', () => {
  test('goes by gate’s own pages, back to where somebody wanted to be', async () => {
    await using app = await servedApp()
    await setUp(app)
    const operator = newHttpBrowser()

    const login = await operator.visit(`${app.url}/console/keys?engine=relay`)
    expect(new URL(login.url).pathname).toBe('/auth/self-service/login')
    const { email, password } = ACCOUNT
    const keys = await operator.press(login, 'method=password', { identifier: email, password })
    expect([keys.status, keys.url]).toEqual([200, `${app.url}/console/keys?engine=relay`])
    expect(operator.cookie('identity_session')).toStartWith('gat_st_')
  })

  test('leads to no address but the console’s own', async () => {
    await using app = await servedApp()
    await setUp(app)
    const outside = ['https://evil.example/', '//evil.example', '/console//evil', '/v1/gate']
    for (const to of [...outside, '/console/../v1/gate', '/console/%2e%2E/v1/gate']) {
      const operator = newHttpBrowser()
      const login = await operator.visit(`${app.url}/console/login?${new URLSearchParams({ to })}`)
      const { email, password } = ACCOUNT
      const page = await operator.press(login, 'method=password', { identifier: email, password })
      expect(new URL(page.url).origin).toBe(app.url)
      expect(new URL(page.url).pathname).toStartWith('/console')
    }
  })

  test('ends in the browser that began it: a link that was passed on signs nobody in', async () => {
    await using app = await servedApp()
    await setUp(app)
    const { email, password } = ACCOUNT
    const eve = newHttpBrowser({ stopsBefore: `${app.url}/console/enter` })
    const login = await eve.visit(`${app.url}/console/login`)
    const left = await eve.press(login, 'method=password', { identifier: email, password })
    const link = left.headers.get('location') ?? ''
    expect(link).toContain('/console/enter?')

    const victim = newHttpBrowser()
    const page = await victim.visit(link)
    expect(new URL(page.url).pathname).toBe('/auth/self-service/login')
    expect(victim.cookie('identity_session')).toBeUndefined()
  })

  test('ends with signing out, also for whoever kept the cookie', async () => {
    await using app = await servedApp()
    const { operator } = await setUp(app)
    const page = await operator.visit(`${app.url}/console/account`)
    const kept = operator.cookie('identity_session')

    const out = await operator.press(page, 'Sign out')
    expect(new URL(out.url).pathname).toBe('/auth/self-service/login')
    const cookie = { cookie: `identity_session=${kept}` }
    expect((await app.raw('/dashboard/clockwork/jobs', { headers: cookie })).status).toBe(401)
  })

  test('by a link of the command line is good once, for ten minutes', async () => {
    await using app = await servedApp()
    await setUp(app)
    const [{ id } = { id: '' }] = app.operators.memberships.list(
      app.platform.tenants.list()[0]?.id ?? '',
    )
    const link = async () =>
      `${app.url}/console/link/${await app.operators.links.issueSignIn({ kind: 'cli' }, id)}`
    const [url, late] = [await link(), await link()]
    const operator = newHttpBrowser()

    // What merely opens links, such as a mail program, uses none up.
    await newHttpBrowser().visit(url)
    const page = await operator.press(await operator.visit(url), 'Sign in')
    expect(new URL(page.url).pathname).toBe('/console/account')
    expect((await newHttpBrowser().visit(url)).status).toBe(404)
    app.clock.jump(10 * MINUTE)
    expect((await newHttpBrowser().visit(late)).status).toBe(404)
  })
})

test('where somebody acts is chosen for one session, among what is theirs', async () => {
  await using app = await servedApp()
  const { operator } = await setUp(app)
  const page = await operator.visit(`${app.url}/console/account`)
  const other = await app.tenant('Other')

  const installation = await operator.press(page, 'to=installation')
  expect(installation.text).toContain('Current tenant: Installation')
  const refused = await operator.visit(`${app.url}/console/keys`)
  expect([refused.status, refused.text]).toEqual([
    403,
    expect.stringContaining('Switch to a tenant first'),
  ])
  const body = new URLSearchParams({ to: other.id })
  expect((await operator.visit(`${app.url}/console/switch`, { method: 'POST', body })).status).toBe(
    403,
  )
})

test('a form of another site is refused, whatever it sends', async () => {
  await using app = await servedApp()
  const { operator } = await setUp(app)
  const cookie = `identity_session=${operator.cookie('identity_session')}`
  for (const path of ['/console/keys', '/console/switch', '/console/theme', '/console/sign-out']) {
    const answer = await app.raw(path, {
      method: 'POST',
      headers: { cookie, origin: 'https://evil.example', accept: 'text/html' },
      body: new URLSearchParams({ engine: 'clockwork', theme: 'dark' }),
    })
    expect([path, answer.status]).toEqual([path, 403])
  }
  expect(audited(app, 'key.created')).toEqual([])
})

test('before anybody runs the installation, the console says how to begin', async () => {
  await using app = await servedApp()
  const page = await newHttpBrowser().visit(`${app.url}/`)
  expect([page.status, page.text]).toEqual([503, expect.stringContaining('set-up link')])
})

test('an invitation proves no address, as whoever sent it has seen the link', async () => {
  await using app = await servedApp()
  const { id: tenantId } = await app.tenant('Acme')
  const { url } = await app.operators.invitations.invite(
    { actor: { kind: 'system' }, id: 'inviter', name: 'Eve' },
    tenantId,
    { email: 'victim@example.com', role: 'viewer' },
  )
  const operator = newHttpBrowser()
  const { name, password } = ACCOUNT
  const form = await operator.visit(url)
  expect((await operator.press(form, 'Create account and join', { name, password })).status).toBe(
    200,
  )

  expect(app.operators.memberships.list(tenantId)).toMatchObject([{ email: 'victim@example.com' }])
  const { status } = app.db.client
    .query<{ status: string }, []>('SELECT status FROM gate_addresses')
    .get() ?? { status: '' }
  expect(status).toBe('pending')
})
