import { expect, test } from 'bun:test'
import { SYSTEM_TENANT_ID } from '../../../src/platform/system-tenant.ts'
import { newOperator } from '../../support/operator.ts'
import {
  audited,
  bootConsole,
  mailTo,
  pagesOf,
  type SignedIn,
  useConsole,
  WITH_MAIL,
} from '../fixture.ts'

const PAGE = '/installation/operators'

const app = await useConsole()
const admin = await app.newAdmin({ email: 'admin@example.com' })

const linkIn = (html: string) => /\/console\/(link|invitation)\/[\w-]+/.exec(html)?.[0] ?? ''
const statusOf = async ({ open }: Pick<SignedIn, 'open'>) => {
  const { status, location } = await open('/account')
  return location?.includes('/login') ? 401 : status
}

test('The list has roles and states, and finds operators by id, address, and kind', async () => {
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
  ] as const) {
    const { rows } = await admin.open(`${PAGE}?${query}`)
    expect([query, rows.toSorted()]).toEqual([query, found.toSorted()])
  }
  for (let n = 0; n < 51; n++) await newOperator(app, { email: `many-${n}@example.com` })
  const first = await admin.open(`${PAGE}?q=many-`)
  const { rows } = await admin.open(first.next)
  expect([first.rows.length, new Set([...first.rows, ...rows]).size]).toEqual([50, 51])
})

test('An operator is deactivated with sessions and invitations, and reactivated', async () => {
  const { id: tenantId, owner } = await app.newTenant()
  const path = `${PAGE}/${owner.id}`
  const link = linkIn(
    (await owner.send('/team/invite', { email: 'back@example.com', role: 'owner' })).html,
  )
  const invited = pagesOf(app)
  expect((await invited.open(link)).status).toBe(200)
  const page = await admin.press(path, 'Deactivate operator')
  page.says('Deactivated. This operator', 'Reactivate the operator first.').omits('login-link')
  expect([await statusOf(owner), (await invited.open(link)).status]).toEqual([401, 404])
  expect(audited(app, 'invitation.revoked').at(-1)).toMatchObject({ tenant_id: tenantId })
  for (const verb of ['login-link', 'give-admin'])
    expect([verb, (await admin.send(`${path}/${verb}`)).status]).toEqual([verb, 409])
  await admin.press(path, 'Reactivate operator')
  expect([await statusOf(owner), await statusOf(await app.sessionOf(owner))]).toEqual([401, 200])
  const entry = { actor_id: admin.id, tenant_id: SYSTEM_TENANT_ID }
  expect(audited(app, 'identity.state_changed').slice(-2)).toMatchObject([entry, entry])
})

test('A sign-in link works once, until its operator is signed out everywhere', async () => {
  const operator = await app.signIn()
  const path = `${PAGE}/${operator.id}`
  const newLink = async () => linkIn((await admin.send(`${path}/login-link`)).html)
  const link = await newLink()
  expect(admin.audited('login_link.created')).toEqual([`operator:${operator.id}`])
  const { headers } = await app.raw(link, { method: 'POST' })
  const entered = pagesOf(app, headers.getSetCookie()[0]?.split(';')[0])
  await entered.sees('/account', operator.email)
  expect((await app.raw(link, { method: 'POST' })).status).toBe(404)
  const unused = await newLink()
  expect((await app.raw(unused)).status).toBe(200)
  const signedOut = await admin.send(`${path}/sign-out`)
  ;(await admin.follow(signedOut)).says('All sessions signed out.')
  expect([await statusOf(entered), await statusOf(operator)]).toEqual([401, 401])
  expect((await app.raw(unused)).status).toBe(404)
  expect(admin.audited('sessions.revoked')).toEqual([`identity:${operator.id}`])
})

test('The link is only emailed where email is configured, and not twice at once', async () => {
  await using mailing = await bootConsole({ env: WITH_MAIL })
  const { send, follow, audited } = await mailing.newAdmin()
  const operator = await mailing.signIn()
  const path = `${PAGE}/${operator.id}/login-link`
  const sent = await send(path)
  expect([sent.status, linkIn(sent.html)]).toEqual([303, ''])
  ;(await follow(sent)).says('Sign-in link sent.')
  expect(linkIn(mailTo(mailing, operator.email))).toStartWith('/console/link/')
  const again = await send(path)
  expect([again.status, again.headers.get('retry-after')]).toEqual([429, '30'])
  expect(audited('login_link.created')).toHaveLength(1)
})

test('The admin role is granted and taken; users of tenants cannot get it', async () => {
  const operator = await app.signIn()
  const path = `${PAGE}/${operator.id}`
  const mayOpen = async () => (await (await app.sessionOf(operator)).open(PAGE)).status === 200
  expect(await mayOpen()).toBe(false)
  ;(await admin.follow(await admin.send(`${path}/give-admin`))).says('Admin role granted.')
  expect(await mayOpen()).toBe(true)
  await admin.send(`${path}/take-admin`)
  expect(await mayOpen()).toBe(false)
  const entry = { actor_id: admin.id, tenant_id: SYSTEM_TENANT_ID }
  for (const action of ['admin.added', 'admin.removed'])
    expect(audited(app, action).at(-1)).toMatchObject({
      ...entry,
      object: `operator:${operator.id}`,
    })
  const { gate } = await app.newTenant()
  const traits = { email: 'user@example.com' }
  const user = (await gate.post('/v1/gate/identities', { schema_id: 'user', traits })).body.id
  expect((await admin.open(`${PAGE}/${user}`)).status).toBe(404)
  expect((await admin.send(`${PAGE}/${user}/give-admin`)).status).toBe(404)
})

test('The admin role stays with the last active admin, who cannot be deactivated', async () => {
  await using fresh = await bootConsole()
  const last = await fresh.newAdmin()
  await (await fresh.signIn({ isAdmin: true })).deactivate()
  const path = `${PAGE}/${last.id}`
  for (const verb of ['take-admin', 'deactivate'])
    expect([verb, (await last.send(`${path}/${verb}`)).status]).toEqual([verb, 409])
  await fresh.signIn({ isAdmin: true })
  expect((await last.send(`${path}/deactivate`)).status).toBe(409)
  expect(last.audited('identity.state_changed')).toEqual([])
  expect((await last.send(`${path}/take-admin`)).location).toStartWith('/console/account?')
  expect((await last.open(PAGE)).status).toBe(403)
})
