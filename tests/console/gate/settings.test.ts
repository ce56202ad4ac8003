import { expect, test } from 'bun:test'
import { PROVIDERS } from '../../../src/config/index.ts'
import { requiredSettings } from '../../../src/console/pages/users/provider.tsx'
import { testConfig, withClients } from '../../support/config.ts'
import { useConsole } from '../fixture.ts'

const PAGE = '/sign-in'
const POLICIES = '/policies'
const POLICY = '@id("all")\npermit (principal, action, resource);\n'
const CRLF = POLICY.replaceAll('\n', '\r\n')
const OFFICE = `@id("office-only")\nforbid (principal, action, resource)
unless { context.ip == "203.0.113.7" };\n`

const app = await useConsole()

test('Providers are listed with missing settings, and enabled with a warning about them', async () => {
  const { as, gate } = await app.newTenant()
  const [member, viewer] = [await as('member'), await as('viewer')]
  const { html } = (await viewer.open(PAGE)).omits('github-tenant', 'Enable ', 'Try sign-in')
  expect(html.match(/Missing client_id, client_secret</g)).toHaveLength(10)
  expect(html.match(/Missing client_id, team_id, key_id, private_key</g)).toHaveLength(1)
  const enabled = async () => {
    const { body } = await gate.get('/v1/gate/settings/oidc-providers')
    return body.providers.filter((one: { enabled: boolean }) => one.enabled)
  }
  const on = await member.send(`${PAGE}/providers/github/on`, { back: 'list' })
  ;(await member.follow(on)).says('Enabled, but not configured: GitHub.')
  expect(await enabled()).toEqual([{ provider: 'github', enabled: true }])
  const off = await member.send(`${PAGE}/providers/github/off`)
  expect(off.location).toEndWith('?done=sign-in-providers-off')
  expect([await enabled(), member.audited('providers.changed').length]).toEqual([[], 2])
  for (const unknown of ['providers/github-tenant', 'methods/toString'])
    expect((await member.send(`${PAGE}/${unknown}/on`)).status).toBe(404)
})

test('The page of a provider says what is missing, and where an admin configures it', async () => {
  const { as, id } = await app.newTenant()
  const viewer = await as('viewer')
  for (const id of PROVIDERS) {
    const page = await viewer.sees(
      `${PAGE}/providers/${id}`,
      'Missing',
      'Installation → Social login',
    )
    expect(page.omits('Enable<', '/installation/').status).toBe(200)
  }
  const admin = await app.signIn({ isAdmin: true, roles: { [id]: 'viewer' } })
  const links = (await admin.open(`${PAGE}/providers/google`)).links
  expect(links).toContain('/installation/providers/google')
  for (const id of ['github-tenant', 'toString', '%3Cscript%3E'])
    expect((await viewer.open(`${PAGE}/providers/${id}`)).status).toBe(404)
  const { flags, env } = withClients('github')
  expect(requiredSettings(testConfig(flags, env), 'github')).toEqual([
    { name: 'client_id', isSet: true, value: 'x' },
    { name: 'client_secret', isSet: true },
  ])
})

test('Email codes and two-factor authentication are enabled and disabled, and "Try it" leads to the sign-in page', async () => {
  const { owner, gate } = await app.newTenant()
  const security = async () => (await gate.get('/v1/gate/settings/security')).body
  for (const method of ['code', 'second-factor']) await owner.send(`${PAGE}/methods/${method}/on`)
  expect(await security()).toEqual({ passwordless_enabled: true, mfa_enabled: true })
  await owner.sees(PAGE, 'Enabled, but not configured: Email code.')
  await owner.send(`${PAGE}/methods/second-factor/off`)
  expect(await security()).toEqual({ passwordless_enabled: true, mfa_enabled: false })
  expect(owner.audited('security.changed')).toHaveLength(3)
  const { pathname, search } = new URL((await owner.send(`${PAGE}/try`)).location ?? '')
  expect(pathname).toBe('/auth/self-service/login')
  expect((await owner.open(pathname + search)).status).toBe(200)
})

test('Return URLs are saved, one on a line; wrong ones come back with the line of the error', async () => {
  const { owner, as, gate } = await app.newTenant()
  const save = (urls: string) => owner.send(`${PAGE}/return-urls`, { urls })
  await save('https://a.example/in\r\n\r\n  https://b.example \r\n')
  expect((await gate.get('/v1/gate/settings/return-urls')).body).toEqual({
    return_urls: ['https://a.example/in', 'https://b.example'],
  })
  expect(owner.audited('return_urls.changed')).toHaveLength(1)
  await (await as('viewer')).sees(PAGE, 'https://b.example')
  for (const [urls, message] of [
    ['https://a.example\r\n\r\njavascript:alert(1)', 'Line 3 must be an http or https URL.'],
    [`https://a.example\n${'x'.repeat(501)}`, 'Line 2 must have at most 500 characters.'],
    [Array(101).fill('https://a.example').join('\n'), 'Must have at most 100 URLs.'],
  ] as const) {
    const { status, wrong } = (await save(urls)).says(message, urls.slice(-17))
    expect([status, wrong]).toEqual([422, ['urls']])
  }
})

test('Policies are saved and reset by members', async () => {
  const { as, gate } = await app.newTenant()
  const [member, viewer] = [await as('member'), await as('viewer')]
  const read = async () => (await gate.get('/v1/gate/settings/policies')).body
  const seen = await viewer.sees(POLICIES, 'The starter set is active', 'own-tenant-reads')
  seen.omits('name="policies"')
  const saved = await member.press(POLICIES, 'Save policies', { policies: CRLF })
  saved.says('Version 1 is active', `Saved by ${member.email}`, 'View the policies of a new tenant')
  expect(await read()).toMatchObject({ policies: POLICY, version: 1 })
  expect((await member.send(`${POLICIES}/starter`)).location).toEndWith('?done=policies-starter')
  expect(await read()).toMatchObject({ is_starter_set: true, version: 2 })
  expect(member.audited('policies.changed')).toHaveLength(2)
})

test('Wrong or late policies are kept in the form and refused, each error with its line', async () => {
  const { owner, gate } = await app.newTenant()
  const save = (policies: string, version = '0') => owner.send(POLICIES, { policies, version })
  const page = await save(`${POLICY}\npermit (principal, action, resourc);\n// <b>`)
  expect([page.status, page.wrong]).toEqual([422, ['policies']])
  page.says('Line 4, column ', '+ permit (principal, action, resourc);', '// &lt;b>')
  expect(page.html).toMatch(
    /<ol id="field-policies-lines"[^>]*>(<li><\/li>){3}<li class="wrongline">/,
  )
  expect((await save('x'.repeat(40_000))).status).toBe(422)
  expect((await gate.get('/v1/gate/settings/policies')).body.is_starter_set).toBe(true)
  await gate.put('/v1/gate/settings/policies', { policies: POLICY })
  expect((await save('')).says('Someone else changed the policies').status).toBe(422)
  expect((await save('', '1')).status).toBe(303)
})

test('Changes of policies are reviewed before they are saved', async () => {
  const { owner, gate } = await app.newTenant()
  await gate.put('/v1/gate/settings/policies', { policies: POLICY })
  const review = (policies: string) =>
    owner.send(POLICIES, { policies, version: '1', intent: 'review' })
  const { html } = (await review(CRLF + OFFICE)).says('Unsaved changes')
  const lines = (tag: string) =>
    [...html.matchAll(new RegExp(`<${tag}>. (.*?)\n</${tag}>`, 'g'))].map(([, line]) => line)
  expect([lines('ins').length, lines('ins')[0], lines('del')]).toEqual([
    3,
    '@id(&quot;office-only&quot;)',
    [],
  ])
  ;(await review(CRLF)).says('No changes')
  expect((await review('permit (')).status).toBe(422)
  expect((await gate.get('/v1/gate/settings/policies')).body).toMatchObject({
    policies: POLICY,
    version: 1,
  })
})

test('The subject of a request is chosen among users by a part of their email or name', async () => {
  const { owner, gate } = await app.newTenant()
  const person = async (email: string, name: string) => {
    const traits = { email, custom_data: { name } }
    return (await gate.post('/v1/gate/identities', { schema_id: 'user', traits })).body.id
  }
  const ada = await person('countess@example.com', 'Ada <Lovelace>')
  const ben = await person('ben@example.com', 'Ben Okafor')
  const choice = (id: string) => `name="person" value="${id}"`
  for (const part of ['ada', 'LOVE', 'tess@ex']) {
    const { html } = (await owner.open(`${POLICIES}?subject=${part}`)).omits('<Lovelace>')
    expect([part, html.includes(choice(ada)), html.includes(choice(ben))]).toEqual([
      part,
      true,
      false,
    ])
  }
  const request = { subject: 'ada', person: ada, action: 'a.read', resource: 'document:1' }
  const asked = await owner.open(`${POLICIES}?${new URLSearchParams(request)}`)
  asked.says('Allowed', 'countess@example.com', `value="${ada}"`).omits(choice(ada))
  const chosen = await owner.open(`${POLICIES}?subject=ada&person=${ada}&action=&resource=`)
  expect([chosen.status, chosen.says(`value="${ada}"`).wrong]).toEqual([200, []])
  const other = await app.newTenant()
  ;(await other.owner.open(`${POLICIES}?subject=ada`)).omits(ada)
})

test('A request is evaluated and explained, and not recorded', async () => {
  const { id, as, gate } = await app.newTenant()
  const other = await app.newTenant()
  const viewer = await as('viewer')
  const { body: ada } = await gate.post('/v1/gate/identities', {
    schema_id: 'user',
    traits: { email: 'ada@example.com' },
    metadata_public: { roles: ['admin', '<script>'] },
  })
  const ask = (subject: string, action: string, resource: string, context = '') => {
    const query = new URLSearchParams({ subject, action, resource, ...(context && { context }) })
    return viewer.open(`${POLICIES}?${query}`)
  }
  const tenant = `tenant:${id}`
  ;(await ask('billing', 'tenant.read', tenant)).says('Denied: no policy permits this')
  const explained = await ask(ada.id, 'keys.read', tenant)
  explained.says('Decided by own-tenant-reads', 'Decided by tenant-admins', 'ada@example.com')
  explained.says('admin, <script', '*, keys.*, *.read').omits('Decided by own-identity')

  await gate.put('/v1/gate/settings/policies', { policies: POLICY + OFFICE })
  const away = await ask(ada.id, 'keys.read', tenant, '{"ip": "::1"}')
  away.says('Decided by office-only', 'unless { context.ip')
  const inOffice = '{"ip": "203.0.113.7"}'
  const allowed = await ask(ada.id, 'keys.read', tenant, inOffice)
  allowed.says('Allowed: permitted by', 'Decided by all')
  const foreign = await ask('billing', 'tenant.read', `tenant:${other.id}`, inOffice)
  foreign.says('Denied: the tenant has no such resource')
  const recorded = app.db.client.query('SELECT * FROM gate_decisions WHERE tenant_id = ?')
  expect(recorded.all(id)).toEqual([])

  for (const [resource, context, name] of [
    ['nothing', '', 'resource'],
    ['c:d', '{"a": ', 'context'],
    ['c:d', '[]', 'context'],
    ['c:d', '"x"', 'context'],
  ] as const) {
    const { status, wrong } = await ask('a', 'b', resource, context)
    expect([status, wrong]).toEqual([422, [name]])
  }
})

test('Decisions are found by subject, and link to their request', async () => {
  const { owner, gate } = await app.newTenant()
  for (const subject of ['billing', 'reports']) {
    const context = { note: '<script>alert(1)</script>' }
    const request = { subject, action: 'invoices.read', resource: 'document:42', context }
    await gate.post('/v1/gate/authorize', request)
  }
  const list = await owner.sees(`${POLICIES}/decisions?subject=billing`, '>billing<')
  list.omits('>reports<')
  expect((await owner.open(`${POLICIES}/decisions?cursor=nonsense`)).status).toBe(422)
  const path = list.links.find((link) => /\/decisions\/[\w-]{36}/.test(link)) ?? ''
  const detail = await owner.sees(path, 'No policy permits this', 'Starter set (current)')
  detail.says('subject=billing&amp;action=invoices.read').omits('<script>alert')
})

test('Without a mail server, email codes name who sets one up, and admins get the link', async () => {
  const { id, owner } = await app.newTenant()
  await owner.sees('/sign-in', 'Ask an admin of the installation to set up a mail server')
  const admin = await app.signIn({ isAdmin: true, roles: { [id]: 'owner' } })
  const page = await admin.sees('/sign-in', 'Set up the mail server')
  expect(page.links).toContain('/installation/mail-server')
})
