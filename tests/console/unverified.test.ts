import { expect, test } from 'bun:test'
import { dirname } from 'node:path'
import { newcomer } from '../../src/console/operators/grantee.ts'
import type { Role } from '../../src/console/operators/rights.ts'
import { createOperatorStore } from '../../src/console/operators/store/index.ts'
import { createStore } from '../../src/engines/gate/store.ts'
import { SYSTEM_TENANT_ID } from '../../src/platform/system-tenant.ts'
import { cli } from '../support/cli.ts'
import { type HttpBrowser, newHttpBrowser } from '../support/http-browser.ts'
import {
  ACCOUNT,
  audited,
  type Console,
  MINUTE,
  mailTo,
  SYSTEM,
  useConsole,
  WITH_MAIL,
} from './fixture.ts'

const { password } = ACCOUNT
/** Of an account that can be signed in to only by the right that was just granted. */
const WIPED = { password: false, codes: false, accounts: 0, sessions: 0 }

// Commands run in the present.
const start = new Date().toISOString()
const app = await useConsole({ start })
const mailing = await useConsole({ start, env: WITH_MAIL })

type Fixture = Awaited<ReturnType<typeof bootVictim>>
let victims = 0

/** An unverified account with the address of somebody else, and every sign-in method a stranger could add. */
async function bootVictim(at: Console = app) {
  const email = `victim-${++victims}@example.com`
  const { gateOperators, people } = at.gate
  const { id: tenantId, owner } = await at.newTenant()
  const admin = await at.newAdmin()
  const account = { email, displayName: 'Eve', password, isVerified: false }
  const { id } = await gateOperators.create(SYSTEM, account)
  const now = at.clock.now()
  const of = { tenantId: SYSTEM_TENANT_ID, identityId: id, createdAt: now, updatedAt: now }
  await at.db.commit(() => {
    const { credentials, socialLinks } = createStore(at.db)
    credentials.put({ ...of, type: 'lookup_secret', config: '{"codes":[]}', version: 0 })
    socialLinks.insert({ ...of, provider: 'github-tenant', subject: id, tokens: null })
  })
  const isIn = async (browser: HttpBrowser) =>
    new URL((await browser.visit(`${at.url}/console/account`)).url).pathname === '/console/account'

  /** Somebody who knows the password signs in. */
  async function signIn() {
    const browser = newHttpBrowser()
    const login = await browser.visit(`${at.url}/console/account`)
    const page = await browser.press(login, 'method=password', { identifier: email, password })
    return { ...browser, page, isIn: () => isIn(browser) }
  }

  const folder = dirname(at.db.file)
  const gatehouse = cli(folder, { env: { GATEHOUSE_DATA_DIR: folder } })
  const operator = (verb: string, ...options: string[]) =>
    gatehouse('operator', verb, '--email', email, ...options)
  const page = `/admin/operators/${id}`
  const join = (role: Role) =>
    at.db.commit(() => createOperatorStore(at.db).put(tenantId, newcomer({ id }), role, now))

  return {
    email,
    id,
    tenantId,
    owner,
    admin,
    page,
    signIn,
    isIn,
    operator,
    join,
    act: (verb: string, fields = {}) => admin.send(`${page}/${verb}`, fields),
    verify: () => at.db.commit(() => gateOperators.verify(id)),
    rename: (email: string) =>
      at.db.commit(() => {
        people.change(people.existing(SYSTEM_TENANT_ID, id), SYSTEM, { traits: { email } })
      }),
    invite: async (email: string, role: 'owner' | 'viewer' = 'viewer') => {
      const inviter = { actor: SYSTEM, id: owner.id, name: 'Ada' }
      const { url } = await at.operators.invitations.invite(inviter, tenantId, { email, role })
      return at.url + new URL(url).pathname
    },
    inviteByMail: async (email: string) => {
      await owner.send('/team/invite', { email, role: 'viewer' })
      return linkTo(at, email)
    },
    roleOf: (operatorId = id) =>
      at.operators.memberships.of(operatorId).find((one) => one.tenantId === tenantId)?.role,
    isVerified: (operatorId = id) => gateOperators.operatorList.isVerified(operatorId),
    isAdmin: () => audited(at, 'admin.added').some(({ object }) => object === `operator:${id}`),
    isActive: () => at.operators.admins.existing(id).state === 'active',
    methods: () => {
      const { password, recoveryCodes, accounts } = gateOperators.signInMethodsOf(id)
      const sessions = gateOperators.sessions.list(id).length
      return { password: !!password, codes: !!recoveryCodes, accounts: accounts.length, sessions }
    },
  }
}

const linkTo = (at: Console, recipient: string) =>
  at.url + (/\/console\/\w+\/[\w-]+/.exec(mailTo(at, recipient))?.[0] ?? '')

test.each<[string, (victim: Fixture) => Promise<unknown>, (victim: Fixture) => boolean]>([
  ['operator create --admin', (v) => v.operator('create', '--admin'), (v) => v.isAdmin()],
  [
    'operator create --tenant',
    (v) => v.operator('create', '--tenant', v.tenantId, '--role', 'owner'),
    (v) => v.roleOf() === 'owner',
  ],
  ['the page of the operator', (v) => v.act('give-admin'), (v) => v.isAdmin()],
  [
    'operator reactivate',
    async ({ operator }) => {
      await operator('deactivate')
      await operator('reactivate')
    },
    (v) => v.isActive(),
  ],
  [
    'reactivation on the page',
    async ({ act }) => {
      for (const verb of ['deactivate', 'reactivate']) await act(verb)
    },
    (v) => v.isActive(),
  ],
])('A right granted with %s wipes an unverified account', async (_, grant, isGranted) => {
  const victim = await bootVictim()
  const eve = await victim.signIn()
  expect(await eve.isIn()).toBe(true)
  await grant(victim)
  expect([isGranted(victim), await eve.isIn(), victim.methods()]).toEqual([true, false, WIPED])
  expect([await (await victim.signIn()).isIn(), victim.isVerified()]).toEqual([false, false])
  const wiped = audited(app, 'identity.credentials_wiped').map(({ object }) => object)
  expect(wiped).toContain(`identity:${victim.id}`)
})

test('A right ends links and invitations of an unverified account, and nothing of a verified one', async () => {
  const { id, act, join, tenantId } = await bootVictim()
  await join('owner')
  const eve = { actor: { kind: 'operator', id }, id, name: 'Eve' } as const
  const { invitations, links } = app.operators
  await invitations.invite(eve, tenantId, { email: 'e2@example.com', role: 'owner' })
  const link = await links.issueSignIn({ kind: 'cli' }, id)
  await act('give-admin')
  expect([links.peek(link), invitations.list(tenantId)]).toEqual([undefined, []])
  const verified = await bootVictim()
  await verified.verify()
  const session = await verified.signIn()
  await verified.act('give-admin')
  expect([await session.isIn(), verified.methods().password]).toEqual([true, true])
})

test('A right is not granted by a page that shows an old address', async () => {
  const { email, admin, page, act, owner, id, join, rename, verify, ...victim } = await bootVictim()
  await join('viewer')
  await admin.sees(page, `name="email" value="${email}"`)
  await rename(`eve-${id}@example.com`)
  await verify()
  const shown = { email, role: 'owner' }
  expect((await act('give-admin', shown)).status).toBe(409)
  expect((await owner.send(`/team/${id}`, shown)).status).toBe(422)
  expect([victim.isAdmin(), victim.roleOf()]).toEqual([false, 'viewer'])
})

test('Owners of a tenant can only reduce the role of an unverified member', async () => {
  const { owner, id, email, join, methods, roleOf } = await bootVictim()
  await join('member')
  const before = methods()
  const path = `/team/${id}`
  const refused = await owner.send(path, { email, role: 'owner' })
  expect(refused.says('This address is not verified').status).toBe(422)
  expect([roleOf(), methods()]).toEqual(['member', before])
  expect((await owner.send(path, { role: 'viewer' })).status).toBe(303)
  expect(roleOf()).toBe('viewer')
})

const printed = async ({ operator }: Fixture) =>
  app.url + new URL((await operator('login-link', '--json')).json().url).pathname

test('A printed sign-in link removes all other sign-in methods, and verifies nothing', async () => {
  const victim = await bootVictim()
  const eve = await victim.signIn()
  const browser = newHttpBrowser()
  const page = await browser.press(await browser.visit(await printed(victim)), 'Sign in')
  expect(page.text).toContain('Set a new password.')
  expect([await eve.isIn(), victim.isVerified()]).toEqual([false, false])
  expect(victim.methods()).toEqual({ ...WIPED, sessions: 1 })
})

test('An emailed sign-in link also verifies the address', async () => {
  const victim = await bootVictim(mailing)
  const eve = await victim.signIn()
  await victim.act('login-link')
  const browser = newHttpBrowser()
  await browser.press(await browser.visit(linkTo(mailing, victim.email)), 'Sign in')
  expect([await eve.isIn(), await victim.isIn(browser)]).toEqual([false, true])
  expect([victim.methods(), victim.isVerified()]).toEqual([{ ...WIPED, sessions: 1 }, true])
})

test.each(['printed', 'emailed'])('A %s sign-in link ends with a new address', async (how) => {
  const at = how === 'printed' ? app : mailing
  const victim = await bootVictim(at)
  if (how === 'emailed') await victim.act('login-link')
  const link = how === 'printed' ? await printed(victim) : linkTo(mailing, victim.email)
  at.clock.jump(MINUTE)
  await victim.rename(`eve-${victim.id}@example.com`)
  expect((await fetch(link, { method: 'POST', redirect: 'manual' })).status).toBe(409)
  expect([victim.isVerified(), victim.methods().password]).toEqual([false, true])
  at.clock.jump(-MINUTE)
})

test('An invitation accepted by an unverified account leaves it to the session that accepts', async () => {
  const { signIn, id, invite, roleOf, methods } = await bootVictim()
  const eve = await signIn()
  const link = await app.operators.links.issueSignIn({ kind: 'cli' }, id)
  const other = await signIn()
  const form = await other.visit(await invite('other@example.com', 'owner'))
  expect(form.text).toContain('email address is not verified. Accepting removes the password')
  const page = await other.press(form, 'Accept invitation')
  expect(page.text).toContain('Current tenant: Acme')
  expect([await other.isIn(), await eve.isIn(), roleOf()]).toEqual([true, false, 'owner'])
  expect(methods()).toEqual({ ...WIPED, sessions: 1 })
  expect(app.operators.links.peek(link)).toBeUndefined()
})

test('An unverified account cannot accept an invitation where email can verify it', async () => {
  const { signIn, id, tenantId, inviteByMail, roleOf, methods } = await bootVictim(mailing)
  const eve = await signIn()
  const before = methods()
  const email = `other-${id}@example.com`
  const link = await inviteByMail(email)
  const page = await eve.visit(link)
  expect(page.text).toContain('Verify it, then open the invitation again.')
  expect(page.text).not.toContain('Accept invitation')
  const sent = await eve.visit(link, { method: 'POST', body: new URLSearchParams({ account: id }) })
  expect([sent.status, roleOf(), methods()]).toEqual([409, undefined, before])
  expect(mailing.operators.invitations.list(tenantId)).toMatchObject([{ email }])
})

test('An invitation by email verifies the address of who accepts it', async () => {
  const victim = await bootVictim(mailing)
  const { email, signIn, inviteByMail, isVerified, methods, roleOf } = victim
  const owned = await signIn()
  const form = await owned.visit(await inviteByMail(email))
  expect(form.text).not.toContain('not verified')
  await owned.press(form, 'Accept invitation')
  expect([isVerified(), methods().password, roleOf()]).toEqual([true, true, 'viewer'])
  const newcomer = `new-${victim.id}@example.com`
  const browser = newHttpBrowser()
  const page = await browser.visit(await inviteByMail(newcomer))
  await browser.press(page, 'Create account and join', { name: 'New', password })
  const { id = '' } = mailing.gate.gateOperators.find(newcomer) ?? {}
  expect([isVerified(id), roleOf(id)]).toEqual([true, 'viewer'])
})

test('An invitation does not reveal before sign-in whether its address has an account', async () => {
  const victim = await bootVictim()
  const { email } = await app.signIn()
  const seenWith = async (email: string) => {
    const link = await victim.invite(email)
    const browser = newHttpBrowser()
    const form = await browser.visit(link)
    const pages = [form]
    const wrong: Record<string, string>[] = [{ password: 'short' }, { name: 'x'.repeat(300) }]
    for (const typed of wrong)
      pages.push(await browser.press(form, 'Create account and join', typed))
    const token = link.split('/').at(-1) ?? ''
    const shown = (html: string) => html.replaceAll(token, 'TOKEN').replaceAll(email, 'EMAIL')
    return pages.map(({ status, html }) => [status, shown(html)])
  }
  expect(await seenWith(email)).toEqual(await seenWith(`x${email.slice(1)}`))

  const browser = newHttpBrowser()
  const form = await browser.visit(await victim.invite(victim.email))
  const typed = { name: 'New', password: 'another horse battery' }
  const login = await browser.press(form, 'Create account and join', typed)
  expect(new URL(login.url).pathname).toBe('/auth/self-service/login')
  expect(login.text).not.toContain(victim.email)
  // The invitation stays valid.
  const pending = app.operators.invitations.list(victim.tenantId)
  expect(pending.map((one) => one.email)).toContain(victim.email)
  expect(victim.roleOf()).toBeUndefined()
})

test('An unverified address is marked on every page that shows it', async () => {
  const { email, id, tenantId, join, verify, page, admin, owner } = await bootVictim()
  await join('viewer')
  const ofAdmin = [page, `/admin/operators?q=${email}`, `/admin/tenants/${tenantId}`]
  const pages = [
    ...ofAdmin.map((path) => [admin, path] as const),
    ...['/team', `/team/${id}`].map((path) => [owner, path] as const),
  ]
  for (const [reader, path] of pages) await reader.sees(path, '(not verified)')
  await verify()
  for (const [reader, path] of pages) (await reader.open(path)).omits('(not verified)')
})

test('An address is verified from the account with a code and a sign-in', async () => {
  const { email, signIn, isVerified } = await bootVictim(mailing)
  const browser = await signIn()
  expect(browser.page.text).toContain('(not verified)')
  const form = await browser.press(browser.page, 'Verify email')
  const sent = await browser.press(form, 'method=code', { email })
  const [, code = ''] = /^ {4}(\d{6})$/m.exec(mailTo(mailing, email)) ?? []
  const typed = await browser.press(sent, 'method=code', { code })
  const login = await browser.press(typed, 'Sign in to verify')
  await browser.press(login, 'method=password', { identifier: email, password })
  const account = await browser.visit(`${mailing.url}/console/account`)
  expect([account.text.includes('not verified'), isVerified()]).toEqual([false, true])
})
