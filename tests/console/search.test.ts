import { expect, test } from 'bun:test'
import { newId } from '../../src/platform/ids.ts'
import { shortened } from '../support/address.ts'
import { pagesOf, type SignedIn, useConsole } from './fixture.ts'
import { addOneOfEach } from './one-of-each.ts'

const app = await useConsole()
const acme = await app.newTenant('Nordlicht')
const name = 'nightly <script>'
const ids = await addOneOfEach(app, acme, { name, type: 'order.paid', note: 'A note' })
const endpoint = await acme.endpoint({ url: `${acme.target.url}/events` })
const [viewer, member] = [await acme.as('viewer'), await acme.as('member')]
const email = `ada-${acme.id}@example.com`
const nothing = (q: string) => [`/jobs?q=${q}`, `/identities?q=${q}`]

type Id = 'jobs' | 'delayed' | 'monitors' | 'endpoints' | 'messages' | 'deliveries' | 'identities'
const BY_ID: Id[] = [
  'jobs',
  'delayed',
  'monitors',
  'endpoints',
  'messages',
  'deliveries',
  'identities',
]
const idOf = (path: Id | 'keys') => ids[`/console/${path}/`][0] as string

async function find(q: string, { open }: Pick<SignedIn, 'open'> = viewer) {
  const { status, html } = await open(`/find?${new URLSearchParams({ q })}`)
  expect([q, status]).toEqual([q, 200])
  const [found = ''] = html.slice(html.indexOf('<div id="found">')).split('<dialog')
  return [...found.matchAll(/<a class="item" href="([^"]*)"/g)].map(([, to = '']) =>
    shortened(to).replace('/console', ''),
  )
}

test('Pages and things are found by any part of their names', async () => {
  expect(await find('LOGIN')).toEqual(['/logins', ...nothing('LOGIN')])
  expect(await find('e')).toContain('/messages')
  expect(await find('health')).not.toContain('/installation/health')
  expect([await find(''), await find('nothing')]).toEqual([[], nothing('nothing')])
  for (const odd of ['@', '\u202eabc', `${'x'.repeat(10_000)}@`]) await find(odd)
  for (const [query, found] of [
    ['NIGHTLY', (['jobs', 'delayed', 'monitors'] as const).map((of) => `/${of}/${idOf(of)}`)],
    ['/events', [`/endpoints/${endpoint}`]],
    [email.toUpperCase(), [`/identities/${idOf('identities')}`]],
    ['order.paid', ['/event-types/order.paid']],
    [member.email, [`/team/${member.id}`]],
  ] as const)
    expect([query, await find(query)]).toEqual([query, [...found]])
  expect(await find(email.slice(0, 12))).toContain(`/identities/${idOf('identities')}`)
})

test('Everything is found by its id, only in its tenant', async () => {
  const key = `/keys/${idOf('keys')}`
  for (const path of BY_ID)
    expect(await find(idOf(path), acme.owner)).toEqual([`/${path}/${idOf(path)}`])
  expect(await find(idOf('keys'), acme.owner)).toEqual([key])
  expect(await find(acme.owner.id)).toEqual([`/team/${acme.owner.id}`])
  const test = acme.owner.in('test')
  const [login = '', user = ''] = [ids['/console/logins/:'][0], ids['/console/logins/users/'][0]]
  expect(await find(login, test)).toEqual([`/logins/${login}`])
  expect(await find(user, test)).toEqual([`/logins/users/${user}`])
  expect(await find(newId())).toEqual([])
  const page = await viewer.sees(`/find?q=${idOf('jobs')}`, 'nightly &lt;script')
  page.omits('<script>')

  const other = await app.tenant('Other')
  const both = await app.signIn({ roles: { [acme.id]: 'owner', [other.id]: 'owner' } })
  const admin = await app.newAdmin()
  await both.actIn(other.id)
  for (const id of [...BY_ID.map(idOf), idOf('keys')])
    expect([await find(id, both), await find(id, admin)]).toEqual([[], []])
  expect(await find(acme.owner.id, both)).toEqual([])
  expect((await find(email, both)).filter((to) => !to.includes('?q='))).toEqual([])

  const { hint = '' } = app.platform.keys.list(acme.id).find(({ id }) => id === idOf('keys')) ?? {}
  expect(await find(hint, acme.owner)).toContain(key)
  for (const query of [hint, idOf('keys')]) expect(await find(query, member)).not.toContain(key)
})

test('Things of both environments are found', async () => {
  const id = await acme.message({}, await acme.clientOf('relay', 'test'))
  const page = await viewer.sees(`/find?q=${id}`, 'Message, test')
  page.says(`href="/console/${acme.id}/test/messages/${id}"`)
})

test('Admins find tenants, operators and pages of the installation; others nothing', async () => {
  const admin = await app.newAdmin()
  const operator = await app.signIn({ email: 'nordwin@example.com' })
  const [tenant, person] = [
    `/installation/tenants/${acme.id}`,
    `/installation/operators/${operator.id}`,
  ]
  expect(await find('nord', admin)).toEqual([tenant, person])
  expect(await find(acme.id, admin)).toEqual([tenant])
  expect(await find(operator.id, admin)).toEqual([person])
  expect(await find('health', admin)).toEqual(['/installation/health'])
  expect(await find('bots', admin)).toEqual([])
  expect((await operator.open('/find?q=bots')).location).toBe('/console/start?q=bots')
  expect((await pagesOf(app).open('/find?q=bots')).status).toBe(303)
})
