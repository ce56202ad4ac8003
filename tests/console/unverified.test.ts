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

type Victim = Awaited<ReturnType<typeof newVictim>>
let victims = 0

const isIn = async (browser: HttpBrowser, at: Console = app) =>
  new URL((await browser.visit(`${at.url}/console/account`)).url).pathname === '/console/account'

/** An unverified account with the address of another person, and every sign-in method a stranger could add. */
async function newVictim(at: Console = app) {
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

  async function signIn() {
    const browser = newHttpBrowser()
    const login = await browser.visit(`${at.url}/console/account`)
    const page = await browser.press(login, 'method=password', { identifier: email, password })
    return { ...browser, page, isIn: () => isIn(browser, at) }
  }

  const folder = dirname(at.db.file)
  const gatehouse = cli(folder, { env: { GATEHOUSE_DATA_DIR: folder } })
  const page = `/installation/operators/${id}`
  return {
    email,
    id,
    tenantId,
    owner,
    admin,
    page,
    signIn,
    operator: (verb: string, ...options: string[]) =>
      gatehouse('operator', verb, '--email', email, ...options),
    join: (role: Role) =>
      at.db.commit(() => createOperatorStore(at.db).put(tenantId, newcomer({ id }), role, now)),
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
      return linkTo(email)
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

const linkTo = (recipient: string) =>
  mailing.url + (/\/console\/\w+\/[\w-]+/.exec(mailTo(mailing, recipient))?.[0] ?? '')

test.each<[string, (victim: Victim) => Promise<unknown>, (victim: Victim) => boolean]>([
  ['operator create --admin', (v) => v.operator('create', '--admin'), (v) => v.isAdmin()],
  [
    'operator create --tenant',
    (v) => v.operator('create', '--tenant', v.tenantId, '--role', 'owner'),
    (v) => v.roleOf() === 'owner',
  ],
  ['the page of the operator', (v) => v.act('give-admin'), (v) => v.isAdmin()],
  [
    'operator reactivate',
    (v) => v.operator('deactivate').then(() => v.operator('reactivate')),
    (v) => v.isActive(),
  ],
  [
    'reactivation on the page',
    (v) => v.act('deactivate').then(() => v.act('reactivate')),
    (v) => v.isActive(),
  ],
])('A right granted with %s wipes an unverified account', async (_, grant, isGranted) => {
  const victim = await newVictim()
  const eve = await victim.signIn()
  expect(await eve.isIn()).toBe(true)
  await grant(victim)
  expect([isGranted(victim), await eve.isIn(), victim.methods()]).toEqual([true, false, WIPED])
  expect([await (await victim.signIn()).isIn(), victim.isVerified()]).toEqual([false, false])
  const wiped = audited(app, 'identity.credentials_wiped').map(({ object }) => object)
  expect(wiped).toContain(`identity:${victim.id}`)
})

test('A right ends links and invitations of an unverified account, and nothing of a verified one', async () => {
  const { id, act, join, tenantId } = await newVictim()
  await join('owner')
  const eve = { actor: { kind: 'operator', id }, id, name: 'Eve' } as const
  const { invitations, links } = app.operators
  await invitations.invite(eve, tenantId, { email: 'e2@example.com', role: 'owner' })
  const link = await links.issueSignIn({ kind: 'cli' }, id)
  await act('give-admin')
  expect([links.peek(link), invitations.list(tenantId)]).toEqual([undefined, []])
  const verified = await newVictim()
  await verified.verify()
  const session = await verified.signIn()
  await verified.act('give-admin')
  expect([await session.isIn(), verified.methods().password]).toEqual([true, true])
})

test('A right is not granted by a page that shows an old address, nor a higher role before verification', async () => {
  const victim = await newVictim()
  const { email, admin, page, act, owner, id, join, rename, verify, methods, roleOf } = victim
  await join('member')
  const before = methods()
  const save = (fields: Record<string, string>) => owner.send(`/team/${id}`, fields)
  const refused = await save({ email, role: 'owner' })
  expect(refused.says('This address is not verified').status).toBe(422)
  expect([roleOf(), methods()]).toEqual(['member', before])
  expect([(await save({ role: 'viewer' })).status, roleOf()]).toEqual([303, 'viewer'])

  await admin.sees(page, `name="email" value="${email}"`)
  await rename(`eve-${id}@example.com`)
  await verify()
  const shown = { email, role: 'owner' }
  expect([(await act('give-admin', shown)).status, (await save(shown)).status]).toEqual([409, 422])
  expect([victim.isAdmin(), roleOf()]).toEqual([false, 'viewer'])
})

const printed = async ({ operator }: Victim) =>
  app.url + new URL((await operator('login-link', '--json')).json().url).pathname

test('A sign-in link removes all other sign-in methods; an emailed one also verifies the address', async () => {
  for (const at of [app, mailing]) {
    const isEmailed = at === mailing
    const victim = await newVictim(at)
    const eve = await victim.signIn()
    if (isEmailed) await victim.act('login-link')
    const browser = newHttpBrowser()
    const link = isEmailed ? linkTo(victim.email) : await printed(victim)
    const page = await browser.press(await browser.visit(link), 'Sign in')
    expect(page.text).toContain('Set a new password.')
    expect([await eve.isIn(), await isIn(browser, at)]).toEqual([false, true])
    expect(victim.methods()).toEqual({ ...WIPED, sessions: 1 })
    expect(victim.isVerified()).toBe(isEmailed)
  }
})

test('A sign-in link ends with a new address', async () => {
  for (const at of [app, mailing]) {
    const victim = await newVictim(at)
    if (at === mailing) await victim.act('login-link')
    const link = at === mailing ? linkTo(victim.email) : await printed(victim)
    at.clock.jump(MINUTE)
    await victim.rename(`eve-${victim.id}@example.com`)
    const headers = { accept: 'text/html' }
    const refused = await fetch(link, { method: 'POST', redirect: 'manual', headers })
    const text = await refused.text()
    expect([refused.status, text.includes('Not possible'), text.includes('address')]).toEqual([
      409,
      true,
      true,
    ])
    expect([victim.isVerified(), victim.methods().password]).toEqual([false, true])
    at.clock.jump(-MINUTE)
  }
})

test('An invitation accepted by an unverified account leaves it to the session that accepts', async () => {
  const { signIn, id, invite, roleOf, methods } = await newVictim()
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
  const { signIn, id, tenantId, inviteByMail, roleOf, methods } = await newVictim(mailing)
  const eve = await signIn()
  const before = methods()
  const email = `other-${id}@example.com`
  const link = await inviteByMail(email)
  const page = await eve.visit(link)
  expect(page.text).toContain('Verify it, then open the invitation again.')
  expect(page.text).not.toContain('Accept invitation')
  const sent = await eve.visit(link, { method: 'POST', body: new URLSearchParams({ account: id }) })
  expect([sent.status, roleOf(), methods()]).toEqual([422, undefined, before])
  expect(mailing.operators.invitations.list(tenantId)).toMatchObject([{ email }])
})

test('An invitation by email verifies the address of who accepts it; a link that its sender saw does not', async () => {
  const victim = await newVictim(mailing)
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

  const unmailed = await newVictim()
  const other = newHttpBrowser()
  const link = await unmailed.invite(newcomer)
  await other.press(await other.visit(link), 'Create account and join', { name: 'New', password })
  const joined = app.gate.gateOperators.find(newcomer)?.id ?? ''
  expect([unmailed.isVerified(joined), unmailed.roleOf(joined)]).toEqual([false, 'viewer'])
})

test('An invitation does not reveal before sign-in whether its address has an account', async () => {
  const victim = await newVictim()
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
  const { email, id, tenantId, join, verify, page, admin, owner } = await newVictim()
  await join('viewer')
  for (const mark of [true, false]) {
    for (const path of [
      page,
      `/installation/operators?q=${email}`,
      `/installation/tenants/${tenantId}`,
    ])
      expect((await admin.open(path)).text.includes('(not verified)')).toBe(mark)
    const member = await owner.open(`/team/${id}`)
    expect(member.text.includes("Verification emails can't be sent yet.")).toBe(mark)
    for (const path of ['/team', `/team/${id}`])
      expect((await owner.open(path)).text.includes('(not verified)')).toBe(mark)
    await verify()
  }
})
