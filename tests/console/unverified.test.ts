import { describe, expect, test } from 'bun:test'
import { SYSTEM_TENANT_ID } from '../../src/platform/system-tenant.ts'
import { newHttpBrowser } from '../support/http-browser.ts'
import { newOperator } from '../support/operator.ts'
import { audited } from './console-fixture.ts'
import {
  bootUnverified,
  EMAIL,
  mailTo,
  NO_WAYS,
  type UnverifiedFixture,
  WITH_MAIL,
} from './unverified-fixture.ts'

const mailedLink = (fixture: UnverifiedFixture, address: string): string =>
  fixture.app.url + (/\/console\/\w+\/[\w-]+/.exec(mailTo(fixture, address))?.[0] ?? '')

const pathTo = ({ app }: UnverifiedFixture, url: string) => app.url + new URL(url).pathname

describe('a right that is given to an address that is not verified', () => {
  const asOwner = ({ tenantId }: UnverifiedFixture) => ['--tenant', tenantId, '--role', 'owner']
  const isAdmin = ({ app }: UnverifiedFixture) => audited(app, 'admin.added').length === 1

  const GRANTS: [
    string,
    (fixture: UnverifiedFixture) => Promise<unknown>,
    (w: UnverifiedFixture) => unknown,
  ][] = [
    ['operator create --admin', ({ operator }) => operator('create', '--admin'), isAdmin],
    [
      'operator create --tenant',
      (fixture) => fixture.operator('create', ...asOwner(fixture)),
      ({ roleOf }) => roleOf() === 'owner',
    ],
    [
      'the page of an operator',
      ({ send, admin, id }) => send(admin, `/console/admin/operators/${id}/give-admin`),
      isAdmin,
    ],
    [
      'operator reactivate',
      async ({ operator }) => {
        await operator('deactivate')
        await operator('reactivate')
      },
      ({ app, id }) => app.operators.admins.existing(id).state === 'active',
    ],
    [
      'the button that reactivates',
      async ({ send, admin, id }) => {
        await send(admin, `/console/admin/operators/${id}/deactivate`)
        await send(admin, `/console/admin/operators/${id}/reactivate`)
      },
      ({ app, id }) => app.operators.admins.existing(id).state === 'active',
    ],
  ]

  test.each(GRANTS)('by %s is out of reach of who made the account', async (_, grant, isGiven) => {
    await using fixture = await bootUnverified()
    const eve = await fixture.signIn()
    expect(await eve.isIn()).toBe(true)

    await grant(fixture)

    expect(isGiven(fixture)).toBe(true)
    expect([await eve.isIn(), fixture.waysIn()]).toEqual([false, NO_WAYS])
    expect(await (await fixture.signIn()).isIn()).toBe(false)
    expect([
      fixture.isVerified(),
      audited(fixture.app, 'identity.credentials_wiped'),
    ]).toMatchObject([false, [{ object: `identity:${fixture.id}` }]])
  })

  test('ends login links, and invitations that were sent from the account', async () => {
    await using fixture = await bootUnverified()
    const { app, id, operator } = fixture
    const { id: own } = await app.tenant('Eve’s team')
    await operator('create', '--tenant', own, '--role', 'owner')
    const eve = { actor: { kind: 'operator', id }, id, name: 'Eve' } as const
    await app.operators.invitations.invite(eve, own, { email: 'e2@example.com', role: 'owner' })
    const link = await app.operators.links.issueSignIn({ kind: 'cli' }, id)

    await operator('create', '--admin')

    expect(app.operators.links.peek(link)).toBeUndefined()
    expect(app.operators.invitations.list(own)).toEqual([])
  })

  test('leaves a verified account as it is', async () => {
    await using fixture = await bootUnverified()
    await fixture.app.db.commit(() => fixture.app.gate.gateOperators.verify(fixture.id))
    const eve = await fixture.signIn()
    await fixture.operator('create', '--admin')
    expect([await eve.isIn(), fixture.waysIn().password]).toEqual([true, true])
  })

  test('is not given by a page that still shows the address', async () => {
    await using fixture = await bootUnverified()
    const { send, admin, owner, id, app, tenantId, operator } = fixture
    await operator('create', '--tenant', tenantId, '--role', 'viewer')
    const page = await fixture.see(admin, `/console/admin/operators/${id}`)
    expect(page).toContain(`name="email" value="${EMAIL}"`)
    await app.db.commit(() => {
      const eve = app.gate.people.existing(SYSTEM_TENANT_ID, id)
      app.gate.people.change(eve, { kind: 'system' }, { traits: { email: 'eve@example.com' } })
      app.gate.gateOperators.verify(id)
    })
    const shown = { email: EMAIL, role: 'owner' }
    const path = `/console/admin/operators/${id}/give-admin`
    expect((await send(admin, path, shown)).status).toBe(409)
    expect((await send(owner, `/console/team/${id}`, shown)).status).toBe(422)
    expect([audited(app, 'admin.added'), fixture.roleOf()]).toEqual([[], 'viewer'])
  })
})

describe('an owner of a tenant', () => {
  test('gives a member who is not verified no more rights, and is told why', async () => {
    await using fixture = await bootUnverified()
    const { send, owner, id, operator, tenantId } = fixture
    await operator('create', '--tenant', tenantId, '--role', 'member')
    const ways = fixture.waysIn()
    const refused = await send(owner, `/console/team/${id}`, { email: EMAIL, role: 'owner' })
    expect([refused.status, refused.body]).toEqual([
      422,
      expect.stringContaining('This address is not verified'),
    ])
    expect([fixture.roleOf(), fixture.waysIn()]).toEqual(['member', ways])
    expect((await send(owner, `/console/team/${id}`, { role: 'viewer' })).status).toBe(303)
    expect(fixture.roleOf()).toBe('viewer')
  })
})

describe('a login link', () => {
  test('that was printed leaves no other way in, and verifies nothing', async () => {
    await using fixture = await bootUnverified()
    const eve = await fixture.signIn()
    const printed = (await fixture.operator('login-link', '--json')).json().url
    const victim = newHttpBrowser()
    const page = await victim.press(await victim.visit(pathTo(fixture, printed)), 'Sign in')
    expect(page.text).toContain('Set a new password.')
    expect(await eve.isIn()).toBe(false)
    expect(fixture.waysIn()).toEqual({ ...NO_WAYS, sessions: 1 })
    expect(fixture.isVerified()).toBe(false)
  })

  test('that was mailed does the same, and verifies the address', async () => {
    await using fixture = await bootUnverified({ env: WITH_MAIL })
    const { send, admin, id } = fixture
    const eve = await fixture.signIn()
    await send(admin, `/console/admin/operators/${id}/login-link`)
    const victim = newHttpBrowser()
    await victim.press(await victim.visit(mailedLink(fixture, EMAIL)), 'Sign in')
    expect([await eve.isIn(), await fixture.isIn(victim)]).toEqual([false, true])
    expect([fixture.waysIn(), fixture.isVerified()]).toEqual([{ ...NO_WAYS, sessions: 1 }, true])
  })

  test('that was printed is void once the account has another address', async () => {
    await using fixture = await bootUnverified()
    const { app, id, operator } = fixture
    const printed = (await operator('login-link', '--json')).json().url
    app.clock.jump(60_000)
    await app.db.commit(() => {
      const eve = app.gate.people.existing(SYSTEM_TENANT_ID, id)
      app.gate.people.change(eve, { kind: 'system' }, { traits: { email: 'eve@example.com' } })
    })
    const victim = newHttpBrowser()
    const page = await victim.press(await victim.visit(pathTo(fixture, printed)), 'Sign in')
    expect([page.status, await fixture.isIn(victim)]).toEqual([409, false])
  })

  test('that was mailed is void once the account has another address', async () => {
    await using fixture = await bootUnverified({ env: WITH_MAIL })
    const { app, send, admin, id } = fixture
    await send(admin, `/console/admin/operators/${id}/login-link`)
    await app.db.commit(() => {
      const eve = app.gate.people.existing(SYSTEM_TENANT_ID, id)
      app.gate.people.change(eve, { kind: 'system' }, { traits: { email: 'eve@example.com' } })
    })
    const link = mailedLink(fixture, EMAIL)
    expect((await fetch(link, { method: 'POST', redirect: 'manual' })).status).toBe(409)
    expect(fixture.isVerified()).toBe(false)
  })
})

describe('an invitation', () => {
  test('that an account accepts which is not verified leaves it to who accepts alone', async () => {
    await using fixture = await bootUnverified()
    const eve = await fixture.signIn()
    const link = await fixture.app.operators.links.issueSignIn({ kind: 'cli' }, fixture.id)
    const other = await fixture.signIn()
    const { url } = await fixture.invite('somebody@example.com', 'owner')
    const form = await other.visit(pathTo(fixture, url))
    expect(form.text).toContain(
      'Your email address is not verified. Accepting removes the password',
    )

    const page = await other.press(form, 'Accept invitation')

    expect(page.text).toContain('Current tenant: Acme')
    expect([await other.isIn(), await eve.isIn(), fixture.roleOf()]).toEqual([true, false, 'owner'])
    expect(fixture.waysIn()).toEqual({ ...NO_WAYS, sessions: 1 })
    expect(fixture.app.operators.links.peek(link)).toBeUndefined()
  })

  test('is accepted with no account that is not verified, where mail can verify it', async () => {
    await using fixture = await bootUnverified({ env: WITH_MAIL })
    const eve = await fixture.signIn()
    const ways = fixture.waysIn()
    const email = 'eve@example.com'
    await fixture.send(fixture.owner, '/console/team/invite', { email, role: 'owner' })
    const link = mailedLink(fixture, email)
    const page = await eve.visit(link)
    expect(page.text).toContain('Verify it, then open the invitation again.')
    expect(page.text).not.toContain('Accept invitation')

    const body = new URLSearchParams({ account: fixture.id })
    const sent = await eve.visit(link, { method: 'POST', body })

    expect([sent.status, fixture.roleOf(), fixture.waysIn()]).toEqual([409, undefined, ways])
    expect(fixture.app.operators.invitations.list(fixture.tenantId)).toMatchObject([{ email }])
  })

  test('that was mailed verifies the address of who accepts it', async () => {
    await using fixture = await bootUnverified({ env: WITH_MAIL })
    const owned = await fixture.signIn()
    await fixture.send(fixture.owner, '/console/team/invite', { email: EMAIL, role: 'viewer' })
    const form = await owned.visit(mailedLink(fixture, EMAIL))
    expect(form.text).not.toContain('not verified')
    await owned.press(form, 'Accept invitation')
    expect([fixture.isVerified(), fixture.waysIn().password, fixture.roleOf()]).toEqual([
      true,
      true,
      'viewer',
    ])
  })

  test('that was mailed verifies the address of a newcomer, and is shown to no one else', async () => {
    await using fixture = await bootUnverified({ env: WITH_MAIL })
    const email = 'new@example.com'
    const send = () =>
      fixture.send(fixture.owner, '/console/team/invite', { email, role: 'viewer' })
    const invited = await send()
    expect(invited.body).not.toContain('/console/invitation/')
    // No second mail goes out so soon, and no link is shown in its place.
    const again = await send()
    expect([again.status, again.body]).toEqual([422, expect.not.stringContaining('/invitation/')])
    const operator = newHttpBrowser()
    const form = await operator.visit(mailedLink(fixture, email))
    const typed = { name: 'New', password: 'correct horse battery' }
    await operator.press(form, 'Create account and join', typed)
    const { id = '' } = fixture.app.gate.gateOperators.find(email) ?? {}
    expect([fixture.isVerified(id), fixture.roleOf(id)]).toEqual([true, 'viewer'])
  })

  test('looks the same before sign-in for an operator and a stranger', async () => {
    await using fixture = await bootUnverified()
    const { email: known } = await newOperator(fixture.app, { email: 'known@example.com' })
    const seenBy = async (email: string) => {
      const path = pathTo(fixture, (await fixture.invite(email)).url)
      const operator = newHttpBrowser()
      const form = await operator.visit(path)
      const pages = [form]
      const wrong: Record<string, string>[] = [{ password: 'short' }, { name: 'x'.repeat(300) }]
      for (const typed of wrong)
        pages.push(await operator.press(form, 'Create account and join', typed))
      const token = path.split('/').at(-1) ?? ''
      return pages.map(({ status, html }) => [
        status,
        html.replaceAll(token, 'TOKEN').replaceAll(email, 'EMAIL'),
      ])
    }
    expect(await seenBy(known)).toEqual(await seenBy('strange@example.com'))
  })

  test('leads to the sign-in where its address has an account, and stays good', async () => {
    await using fixture = await bootUnverified()
    const { url } = await fixture.invite(EMAIL)
    const operator = newHttpBrowser()
    const form = await operator.visit(pathTo(fixture, url))
    const typed = { name: 'New', password: 'another horse battery' }
    const login = await operator.press(form, 'Create account and join', typed)
    expect(new URL(login.url).pathname).toBe('/auth/self-service/login')
    expect(login.text).not.toContain(EMAIL)
    expect([
      fixture.roleOf(),
      fixture.app.operators.invitations.list(fixture.tenantId),
    ]).toMatchObject([undefined, [{ email: EMAIL }]])
  })
})

describe('an address that is not verified', () => {
  const PAGES: [string, 'admin' | 'owner', (fixture: UnverifiedFixture) => string][] = [
    ['the list of operators', 'admin', () => '/console/admin/operators'],
    ['an operator', 'admin', ({ id }) => `/console/admin/operators/${id}`],
    ['a tenant', 'admin', ({ tenantId }) => `/console/admin/tenants/${tenantId}`],
    ['the team', 'owner', () => '/console/team'],
    ['a member', 'owner', ({ id }) => `/console/team/${id}`],
  ]

  test.each(PAGES)('is marked on the page of %s, until it is', async (_, by, pathIn) => {
    await using fixture = await bootUnverified()
    await fixture.operator('create', '--tenant', fixture.tenantId, '--role', 'viewer')
    const page = () => fixture.see(fixture[by], pathIn(fixture))
    expect(await page()).toContain('(not verified)')
    await fixture.app.db.commit(() => fixture.app.gate.gateOperators.verify(fixture.id))
    expect(await page()).not.toContain('(not verified)')
  })

  test('is verified from the account, by a code that goes there and a sign-in', async () => {
    await using fixture = await bootUnverified({ env: WITH_MAIL })
    const operator = await fixture.signIn()
    expect(operator.page.text).toContain('(not verified)')
    const form = await operator.press(operator.page, 'Verify email')
    const sent = await operator.press(form, 'method=code', { email: EMAIL })
    const [, code = ''] = /^ {4}(\d{6})$/m.exec(mailTo(fixture, EMAIL)) ?? []
    const login = await operator.press(
      await operator.press(sent, 'method=code', { code }),
      'Sign in to verify',
    )
    await operator.press(login, 'method=password', fixture.typed)
    const account = await operator.visit(`${fixture.app.url}/console/account`)
    expect([account.text.includes('not verified'), fixture.isVerified()]).toEqual([false, true])
  })
})
