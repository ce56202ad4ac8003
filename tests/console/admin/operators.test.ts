import { describe, expect, test } from 'bun:test'
import { SYSTEM_TENANT_ID } from '../../../src/platform/system-tenant.ts'
import {
  audited,
  bootConsole,
  mailTo,
  pagesOf,
  type SignedIn,
  useConsole,
  WITH_MAIL,
} from '../fixture.ts'

const PAGE = '/console/admin/operators'

const app = await useConsole()
const admin = await app.newAdmin({ email: 'admin@example.com' })

const linkIn = (html: string) => /\/console\/link\/[\w-]+/.exec(html)?.[0] ?? ''
const statusOf = async ({ open }: Pick<SignedIn, 'open'>) => {
  const { status, location } = await open('/console/account')
  return location?.includes('/console/login') ? 401 : status
}

describe('The list of operators', () => {
  test('has roles and states, and finds operators by id, start of the address, and kind', async () => {
    const { id: tenantId } = await app.tenant('Run by Ada')
    const ada = await app.signIn({ email: 'ada@list.example', roles: { [tenantId]: 'owner' } })
    const gone = await app.signIn({ email: 'ada-gone@list.example' })
    await gone.deactivate()
    const { text } = await admin.open(`${PAGE}?q=ADA@list`)
    expect(text).toMatch(/ada@list\.example .*Active Access Run by Ada \(owner\)/)
    for (const [query, found] of [
      ['q=ada', [gone.id, ada.id]],
      [`q=${ada.id.toUpperCase()}`, [ada.id]],
      [`q=${ada.id}&show=admins`, []],
      ['q=ada&show=admins', []],
      ['q=ada&show=deactivated', [gone.id]],
      ['q=list.example', []],
      ['q=Admin&show=admins', [admin.id]],
      ['show=deactivated', [gone.id]],
    ] as const)
      expect([query, (await admin.open(`${PAGE}?${query}`)).rows.toSorted()]).toEqual([
        query,
        found.toSorted(),
      ])
    expect((await admin.open(`${PAGE}?q=none`)).text).toContain('No matching operators')
  })

  test('shows each operator once, page by page', async () => {
    for (let n = 0; n < 60; n++) await app.signIn({ email: `many-${n}@example.com` })
    const first = await admin.open(`${PAGE}?q=many-`)
    const second = await admin.open(first.next)
    expect(new Set([...first.rows, ...second.rows]).size).toBe(60)
    expect(first.rows.length + second.rows.length).toBe(60)
  })
})

describe('An operator', () => {
  test('is deactivated with all sessions, and reactivated', async () => {
    const operator = await app.signIn()
    const path = `${PAGE}/${operator.id}`
    const done = await admin.send(`${path}/deactivate`)
    const page = await admin.follow(done)
    expect(page.text).toContain('Deactivated. This operator')
    expect(page.text).toContain('Reactivate the operator first.')
    expect(page.html).not.toContain('login-link')
    expect(await statusOf(operator)).toBe(401)
    for (const verb of ['login-link', 'give-admin'])
      expect([verb, (await admin.send(`${path}/${verb}`)).status]).toEqual([verb, 409])
    await admin.send(`${path}/reactivate`)
    expect(await statusOf(operator)).toBe(401)
    expect(await statusOf(await app.sessionOf(operator))).toBe(200)
    const entry = { actor_id: admin.id, tenant_id: SYSTEM_TENANT_ID }
    expect(audited(app, 'identity.state_changed').slice(-2)).toMatchObject([entry, entry])
  })

  test('does not come back by their own invitation after deactivation', async () => {
    const { id: tenantId, owner } = await app.newTenant()
    const email = 'back@example.com'
    const { html } = await owner.send('/console/team/invite', { email, role: 'owner' })
    const [link = ''] = /\/console\/invitation\/[\w-]+/.exec(html) ?? []
    const invited = pagesOf(app)
    expect((await invited.open(link)).status).toBe(200)
    await admin.send(`${PAGE}/${owner.id}/deactivate`)
    expect((await invited.open(link)).status).toBe(404)
    expect(audited(app, 'invitation.revoked').at(-1)).toMatchObject({ tenant_id: tenantId })
  })

  test('gets a sign-in link that works once, until they are signed out everywhere', async () => {
    const operator = await app.signIn()
    const path = `${PAGE}/${operator.id}`
    const newLink = async () => linkIn((await admin.send(`${path}/login-link`)).html)
    const link = await newLink()
    expect(admin.audited('login_link.created')).toEqual([`operator:${operator.id}`])
    const { headers } = await app.raw(link, { method: 'POST' })
    const [cookie = ''] = headers.getSetCookie()
    const entered = pagesOf(app, cookie.split(';')[0])
    expect((await entered.open('/console/account')).text).toContain(operator.email)
    expect((await app.raw(link, { method: 'POST' })).status).toBe(404)

    const unused = await newLink()
    expect((await app.raw(unused)).status).toBe(200)
    await admin.send(`${path}/sign-out`)
    expect([await statusOf(entered), await statusOf(operator)]).toEqual([401, 401])
    expect((await app.raw(unused)).status).toBe(404)
    expect(admin.audited('sessions.revoked')).toEqual([`identity:${operator.id}`])
  })

  test('gets the link only by email where email is configured, and not twice at once', async () => {
    await using mailing = await bootConsole({ env: WITH_MAIL })
    const { send, follow, audited } = await mailing.newAdmin()
    const operator = await mailing.signIn()
    const path = `${PAGE}/${operator.id}/login-link`
    const sent = await send(path)
    expect([sent.status, linkIn(sent.html)]).toEqual([303, ''])
    expect((await follow(sent)).text).toContain('Sign-in link sent.')
    expect(linkIn(mailTo(mailing, operator.email))).toStartWith('/console/link/')
    const again = await send(path)
    expect([again.status, again.headers.get('retry-after')]).toEqual([429, '30'])
    expect(audited('login_link.created')).toHaveLength(1)
  })
})

describe('The admin role', () => {
  test('is granted and taken', async () => {
    const operator = await app.signIn()
    const path = `${PAGE}/${operator.id}`
    const mayOpen = async () => (await (await app.sessionOf(operator)).open(PAGE)).status === 200
    expect(await mayOpen()).toBe(false)
    const granted = await admin.send(`${path}/give-admin`)
    expect((await admin.follow(granted)).text).toContain('Admin role granted.')
    expect(await mayOpen()).toBe(true)
    await admin.send(`${path}/take-admin`)
    expect(await mayOpen()).toBe(false)
    for (const action of ['admin.added', 'admin.removed'])
      expect(audited(app, action).at(-1)).toMatchObject({
        actor_id: admin.id,
        tenant_id: SYSTEM_TENANT_ID,
        object: `operator:${operator.id}`,
      })
  })

  test('stays with the last active admin, who can not deactivate themselves either', async () => {
    await using fresh = await bootConsole()
    const last = await fresh.newAdmin()
    await (await fresh.signIn({ isAdmin: true })).deactivate()
    const path = `${PAGE}/${last.id}`
    expect((await last.open(path)).text).toContain('This is the only admin.')
    for (const verb of ['take-admin', 'deactivate'])
      expect([verb, (await last.send(`${path}/${verb}`)).status]).toEqual([verb, 409])

    await fresh.signIn({ isAdmin: true })
    expect((await last.send(`${path}/deactivate`)).status).toBe(409)
    expect((await last.open(path)).html).not.toContain(`${path}/deactivate`)
    expect(last.audited('identity.state_changed')).toEqual([])
    const given = await last.send(`${path}/take-admin`)
    expect([given.status, given.location]).toEqual([303, '/console'])
    expect((await last.open(PAGE)).status).toBe(403)
  })

  test('is for operators, not for users of tenants', async () => {
    const { gate } = await app.newTenant()
    const traits = { email: 'user@example.com' }
    const user = await gate.post('/v1/gate/identities', { schema_id: 'user', traits })
    const path = `${PAGE}/${user.body.id}`
    expect((await admin.open(path)).status).toBe(404)
    expect((await admin.send(`${path}/give-admin`)).status).toBe(404)
  })
})
