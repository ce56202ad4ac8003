import { expect, test } from 'bun:test'
import { newId } from '../../src/platform/ids.ts'
import { pagesOf, type SignedIn, useConsole } from './fixture.ts'
import { addOneOfEach } from './one-of-each.ts'

const app = await useConsole()
const acme = await app.newTenant('Nordlicht')
const name = 'nightly <script>'
const ids = await addOneOfEach(app, acme, { name, type: 'order.paid', note: 'A note' })
const endpoint = await acme.endpoint({ url: `${acme.target.url}/events` })
const [viewer, member] = [await acme.as('viewer'), await acme.as('member')]
const nothing = (q: string) => [`/console/jobs?q=${q}`, `/console/identities?q=${q}`]

/** Where the results of a search lead. */
async function find(q: string, { open }: Pick<SignedIn, 'open'> = viewer) {
  const { status, html } = await open(`/console/find?${new URLSearchParams({ q })}`)
  expect([q, status]).toEqual([q, 200])
  const [found = ''] = html.slice(html.indexOf('<div id="found">')).split('<dialog')
  return [...found.matchAll(/<a class="item" href="([^"]*)"/g)].map(([, to]) => to)
}

test('Pages are found by any part of their name', async () => {
  expect(await find('LOGIN')).toEqual(['/console/logins', ...nothing('LOGIN')])
  expect(await find('e')).toContain('/console/messages')
  expect(await find('health')).not.toContain('/console/admin/health')
  expect(await find('')).toEqual([])
  expect(await find('nothing')).toEqual(nothing('nothing'))
})

const BY_ID = [
  'jobs',
  'delayed',
  'endpoints',
  'messages',
  'deliveries',
  'identities',
  'keys',
  'team',
] as const
const idOf = (path: (typeof BY_ID)[number]) => ids[`/console/${path}/`][0] as string

test('Everything is found by its id, only in its tenant', async () => {
  for (const path of BY_ID)
    expect(await find(idOf(path), acme.owner)).toEqual([`/console/${path}/${idOf(path)}`])
  const test = acme.owner.in('test')
  const [login, user] = [ids['/console/logins/:'][0], ids['/console/logins/users/'][0]]
  expect(await find(login as string, test)).toEqual([`/console/logins/${login}`])
  expect(await find(user as string, test)).toEqual([`/console/logins/users/${user}`])
  expect(await find(newId())).toEqual([])
  const { html } = await viewer.open(`/console/find?q=${idOf('jobs')}`)
  expect([html.includes('nightly &lt;script'), html.includes('<script>')]).toEqual([true, false])

  const other = await app.tenant('Other')
  const both = await app.signIn({ roles: { [acme.id]: 'owner', [other.id]: 'owner' } })
  const admin = await app.newAdmin()
  await both.actIn(other.id)
  for (const path of BY_ID) {
    expect(await find(idOf(path), both)).toEqual([])
    if (path !== 'team') expect(await find(idOf(path), admin)).toEqual([])
  }
  const email = `ada-${acme.id}@example.com`
  expect((await find(email, both)).filter((to) => !to?.includes('?q='))).toEqual([])
})

test('Things are found by their names', async () => {
  const email = `ada-${acme.id}@example.com`
  const identity = `/console/identities/${idOf('identities')}`
  for (const [query, found] of [
    ['NIGHTLY', [`/console/jobs/${idOf('jobs')}`, `/console/delayed/${idOf('delayed')}`]],
    ['/events', [`/console/endpoints/${endpoint}`]],
    [email.toUpperCase(), [identity]],
    ['order.paid', ['/console/event-types/order.paid']],
    [member.email, [`/console/team/${member.id}`]],
  ] as const)
    expect([query, await find(query)]).toEqual([query, [...found]])
  expect(await find(email.slice(0, 12))).toContain(identity)
})

test('Keys are found by their hint, by owners', async () => {
  const { hint = '' } = app.platform.keys.list(acme.id).find(({ id }) => id === idOf('keys')) ?? {}
  const key = `/console/keys/${idOf('keys')}`
  expect(await find(hint, acme.owner)).toContain(key)
  for (const query of [hint, idOf('keys')]) expect(await find(query, member)).not.toContain(key)
})

test('Things of the other environment are found with a switch', async () => {
  const id = await acme.message({}, await acme.clientOf('relay', 'test'))
  const { html, text } = await viewer.open(`/console/find?q=${id}`)
  expect(html).toContain(`name="return_to" value="/console/messages/${id}"`)
  expect(text).toContain('Message, test environment')
})

test('Any text can be searched', async () => {
  for (const query of ['<script>alert(1)</script>', '\u202eabc', '@', `${'x'.repeat(10_000)}@`]) {
    const page = await viewer.open(`/console/find?${new URLSearchParams({ q: query })}`)
    expect([page.status, page.html.includes('<script>alert')]).toEqual([200, false])
    expect(page.html).toContain('name="q"')
  }
})

test('Admins find tenants, operators and pages of the installation', async () => {
  const admin = await app.newAdmin()
  const operator = await app.signIn({ email: 'nordwin@example.com' })
  const tenantPath = `/console/admin/tenants/${acme.id}`
  const operatorPath = `/console/admin/operators/${operator.id}`
  expect(await find('nord', admin)).toEqual([tenantPath, operatorPath])
  expect([await find(acme.id, admin), await find(operator.id, admin)]).toEqual([
    [tenantPath],
    [operatorPath],
  ])
  expect(await find('health', admin)).toEqual(['/console/admin/health'])
  expect(await find('bots', admin)).toEqual([])
})

test('Operators without a tenant find nothing', async () => {
  expect(await find('bots', await app.signIn())).toEqual([])
  expect((await pagesOf(app).open('/console/find?q=bots')).status).toBe(303)
})
