import { expect, test } from 'bun:test'
import { shortened } from '../support/address.ts'
import { newHttpBrowser } from '../support/http-browser.ts'
import { newOperator } from '../support/operator.ts'
import {
  ACCOUNT,
  audited,
  bootConsole,
  type Console,
  MINUTE,
  pagesOf,
  SYSTEM,
  useConsole,
} from './fixture.ts'

const { name, email, password } = ACCOUNT
const CREATE = 'Create account and tenant'

/** Sets the installation up; ends at the first question. */
async function setUp(app: Console) {
  const operator = newHttpBrowser()
  const form = await operator.visit(await app.setUpUrl())
  const page = await operator.press(form, CREATE, { ...ACCOUNT, tenant: 'Acme' })
  return { operator, page, tenantId: app.platform.tenants.list()[0]?.id ?? '' }
}

const pathOf = ({ url }: { url: string }) => shortened(new URL(url).pathname)
const LOGIN = '/auth/self-service/login'

test('Set-up says beside each field what is wrong, and its link works once, for half an hour', async () => {
  await using app = await bootConsole({ allow: [] })
  const visit = async (url: string) => (await newHttpBrowser().visit(url)).text
  expect(await visit(`${app.url}/`)).toContain('set-up link')
  const expired = await app.setUpUrl()
  app.clock.jump(30 * MINUTE - 1)
  expect((await newHttpBrowser().visit(expired)).status).toBe(200)
  app.clock.jump(1)
  expect(await visit(expired)).toContain('has expired')

  const [unused, opened] = [await app.setUpUrl(), await app.setUpUrl()]
  const stranger = newHttpBrowser()
  const form = await stranger.visit(opened)
  let wrong = form
  for (const [field, value] of [
    ['email', 'no address'],
    ['password', 'short'],
    ['password', 'password1'],
    ['tenant', ' '],
    ['name', 'x'.repeat(10_000)],
  ] as const) {
    const typed = { ...ACCOUNT, tenant: 'Acme <script>', [field]: value }
    wrong = await stranger.press(wrong, CREATE, typed)
    expect([wrong.status, wrong.html.includes('<script>')]).toEqual([422, false])
    expect(wrong.html).toContain(`id="field-${field}-error"`)
    expect(wrong.forms[0]?.values).toMatchObject({ email: typed.email, password: '' })
  }
  expect(app.platform.tenants.list()).toEqual([])
  await setUp(app)
  for (const url of [unused, opened, `${app.url}/setup/unknown`])
    expect((await stranger.visit(url)).status).toBe(404)
  const typed = { ...ACCOUNT, email: 'eve@example.com', tenant: 'Evil' }
  expect((await stranger.press(form, CREATE, typed)).status).toBe(404)
  expect(app.platform.tenants.list()).toHaveLength(1)
  await expect(app.setUpUrl()).rejects.toThrow('already set up')
})

const app = await useConsole()
const { page: first, tenantId } = await setUp(app)

test('Set-up creates an admin who owns a tenant without limits, and asks what to do first', async () => {
  expect([first.status, pathOf(first)]).toEqual([200, '/console/get-started'])
  expect(first.text).toContain('What do you want to do first?')
  expect(app.platform.tenants.list()).toMatchObject([{ name: 'Acme', plan: 'unlimited' }])
  const members = app.operators.memberships.list(tenantId)
  expect(members).toMatchObject([{ email, role: 'owner' }])
  const entry = { actor_kind: 'operator', actor_id: members[0]?.id ?? '' }
  expect(audited(app, 'tenant.created')).toMatchObject([entry])
})

test('The sign-in begins with a redirect to the hosted page', async () => {
  const { status, headers } = await app.raw('/console/login')
  expect([status, headers.get('location')]).toEqual([303, expect.stringContaining('/auth/')])
})

const signIn = async (path: string, options = {}) => {
  const operator = newHttpBrowser(options)
  const login = await operator.visit(`${app.url}/console${path}`)
  const typed = { identifier: email, password }
  return { operator, login, page: await operator.press(login, 'method=password', typed) }
}

test('Signing in happens on the pages of gate, leads back, and ends for copies of the cookie too', async () => {
  const { operator, login, page } = await signIn('/keys?engine=relay')
  expect([pathOf(login), page.status]).toEqual([LOGIN, 200])
  expect(page.url).toBe(`${app.url}/console/${tenantId}/keys?engine=relay`)
  const token = operator.cookie('identity_session')
  expect(token).toStartWith('gat_st_')
  const { open } = pagesOf(app, `identity_session=${token}`)
  const account = await operator.visit(`${app.url}/console/account`)
  expect(pathOf(await operator.press(account, 'Sign out'))).toBe(LOGIN)
  expect((await open('/dashboard/clockwork/jobs')).status).toBe(401)
})

test('Signing in leads to no other site, and to no page outside the console', async () => {
  for (const to of [
    'https://evil.example/',
    '//evil.example',
    '/console//evil',
    '/v1/gate',
    '/console/../v1/gate',
    '/console/%2e%2E/v1/gate',
  ]) {
    const { page } = await signIn(`/login?${new URLSearchParams({ to })}`)
    const { origin, pathname } = new URL(page.url)
    expect([to, origin, pathname.slice(0, 8)]).toEqual([to, app.url, '/console'])
  }
})

test('Signing in ends in the browser that started it: a forwarded link signs nobody in', async () => {
  const { page } = await signIn('/login', { stopsBefore: `${app.url}/console/enter` })
  const link = page.headers.get('location') ?? ''
  expect(link).toContain('/console/enter?')
  const victim = newHttpBrowser()
  expect(pathOf(await victim.visit(link))).toBe(LOGIN)
  expect(victim.cookie('identity_session')).toBeUndefined()
})

test('An invitation is accepted by the account that its page showed, which then acts there', async () => {
  const left = await app.tenant('Left')
  const [ada, bob] = [
    await newOperator(app, { roles: { [left.id]: 'viewer' } }),
    await newOperator(app),
  ]
  const { id: tenantId } = await app.tenant('Joined')
  const inviter = { actor: SYSTEM, id: 'inviter', name: 'Eve' }
  const wanted = { email: ada.email, role: 'owner' } as const
  const invitation = await app.operators.invitations.invite(inviter, tenantId, wanted)
  const url = app.url + new URL(invitation.url).pathname
  const members = () => app.operators.memberships.list(tenantId)
  const tab = newHttpBrowser()
  const signIn = async (operator: typeof ada) =>
    tab.plant(app.url, `identity_session=${(await operator.signIn()).token}; Path=/`)
  const asNewcomer = await tab.visit(url)
  await signIn(ada)
  await ada.leave(left.id)
  const asAda = await tab.visit(url)
  await signIn(bob)
  for (const answer of [
    await tab.press(asNewcomer, 'Create account and join', { name, password }),
    await tab.press(asAda, 'Accept invitation'),
  ])
    expect([answer.status, answer.text.includes(bob.email)]).toEqual([422, true])
  expect(members()).toEqual([])
  await signIn(ada)
  const page = await tab.press(asAda, 'Accept invitation')
  expect(page.text).toContain('Current tenant: Joined')
  expect(members()).toMatchObject([{ id: ada.id }])
})
