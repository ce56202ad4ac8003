import { expect, test } from 'bun:test'
import { copyRows } from '../../relay/fixture.ts'
import {
  bodyOf,
  IDENTITIES,
  type Json,
  personPath,
  plain,
  type Tenant,
  useGate,
} from '../fixture.ts'

const gate = await useGate()
const PEOPLE = 45

/** 45 identities, newest first; every third is inactive, and addresses are in reverse order. */
async function populate({ createIdentity }: Pick<Tenant, 'createIdentity'>): Promise<Json[]> {
  const found: Json[] = []
  for (let n = 0; n < PEOPLE; n++) {
    const email = `p${`${PEOPLE - n}`.padStart(2, '0')}@example.com`
    const state = n % 3 === 0 ? 'inactive' : 'active'
    found.unshift(await createIdentity({ traits: { email }, state }))
  }
  return found
}

/** For tests that change none of them. */
const acme = await gate.newTenant()
const people = await populate(acme)
const other = await gate.newTenant()
for (const email of ['p00@example.com', 'p99@example.com'])
  await other.createIdentity({ traits: { email } })

type Reader = Pick<Tenant, 'api'>

const idsOf = (list: Json[]): string[] => list.map(({ id }) => id)
const byAddress = (one: Json, other: Json) => (one.traits.email < other.traits.email ? -1 : 1)
const isActive = ({ state }: Json) => state === 'active'

const read = ({ api }: Reader, query = ''): Promise<Json> =>
  bodyOf(api.get(`${IDENTITIES}?${query}`))

/** The sizes of all pages and their identities; `between` runs after each page but the last. */
async function walk(
  query: string,
  from: Reader = acme,
  between: (seen: Json[]) => Promise<unknown> = async () => {},
) {
  const sizes: number[] = []
  const seen: Json[] = []
  for (let cursor = ''; ; ) {
    const page = await read(from, `${query}${cursor}`)
    sizes.push(page.data.length)
    seen.push(...page.data)
    expect(page.has_more).toBe(page.next_cursor !== null)
    if (!page.has_more) return { sizes, seen }
    cursor = `&cursor=${encodeURIComponent(page.next_cursor)}`
    await between(seen)
  }
}

test('A list has the newest first, 20 on a page, and can be empty', async () => {
  const next_cursor = expect.any(String)
  expect(await read(acme)).toEqual({ data: people.slice(0, 20), has_more: true, next_cursor })
  const empty = { data: [], has_more: false, next_cursor: null }
  expect(await read(await gate.newTenant())).toEqual(empty)
})

test.each([
  ['limit=9', [9, 9, 9, 9, 9]],
  ['limit=44', [44, 1]],
  ['limit=45', [45]],
  ['search=p&limit=10', [10, 10, 10, 10, 5]],
  ['state=active&limit=8', [8, 8, 8, 6]],
  ['state=inactive&search=p&limit=5', [5, 5, 5]],
])('A list has each identity once when read with %s', async (query, sizes) => {
  const state = /state=(\w+)/.exec(query)?.[1]
  const wanted = people.filter((person) => !state || person.state === state)
  const seen = query.includes('search') ? wanted.toSorted(byAddress) : wanted
  expect(await walk(query)).toEqual({ sizes, seen })
})

test('A page has at most 100, and the few active ones of many others', async () => {
  const tenant = await gate.newTenant()
  const { id } = await tenant.createIdentity({ state: 'inactive' })
  const others = { id: "id || '-' || i", email: "printf('x%06d', i) || email" }
  copyRows(gate.app, 'gate_identities', 1500, others, `id = '${id}'`)
  const rare = await tenant.createIdentity({ traits: { email: 'xz@example.com' } })
  expect(await walk('search=x&state=active', tenant)).toEqual({ sizes: [1], seen: [rare] })
  expect((await read(tenant, 'limit=1000')).data).toHaveLength(100)
})

test.each([
  ['email=%20P07@EXAMPLE.com', 1],
  ['email=p07@example.co', 0],
  ['email=p00@example.com', 0],
  ['email=p07@example.com&state=active', 1],
  ['email=p07@example.com&state=inactive', 0],
  ['email=p07@example.com&search=p0', 1],
  ['email=p07@example.com&search=p1', 0],
])('%s finds %d by the whole address', async (query, matches) => {
  const wanted = people.filter(({ traits }) => traits.email === 'p07@example.com')
  const page = { data: wanted.slice(0, matches), has_more: false, next_cursor: null }
  expect(await read(acme, query)).toEqual(page)
})

test('A search finds addresses by their beginning', async () => {
  for (const [text, matches] of [
    ['P', PEOPLE],
    ['%20p0', 9],
    ['p45@example.com', 1],
    ...['p45@example.com.au', '0', 'example', 'p%25', 'p_', 'p*'].map((text) => [text, 0] as const),
    ...['p4%00', '%F4%8F%BF%BF', "p'--"].map((text) => [text, 0] as const),
  ] as const) {
    const { data } = await read(acme, `search=${text}&limit=100`)
    const start = decodeURIComponent(text).trim().toLowerCase()
    const wanted = people.filter(({ traits }) => traits.email.startsWith(start))
    expect([text, wanted.length]).toEqual([text, matches])
    expect(data).toEqual(wanted.toSorted(byAddress))
  }
  const tenant = await gate.newTenant()
  for (const [email, text] of [
    ['jos\u00e9@example.com', 'JOSE\u0301'],
    ['用户@例子.广告', '用户@例'],
  ] as const) {
    const { id } = await tenant.createIdentity({ traits: { email } })
    expect(idsOf((await read(tenant, `search=${encodeURIComponent(text)}`)).data)).toEqual([id])
  }
})

test('Changes between two pages neither shift nor repeat others', async () => {
  const tenant = await gate.newTenant()
  const all = await populate(tenant)
  const oldest = all.at(-2)
  const ahead: string[] = [oldest.id]
  const { seen } = await walk('state=active&limit=10', tenant, async (seen) => {
    const last = all.findIndex(({ id }) => id === seen.at(-1).id)
    const removed = all.slice(last + 2).find(isActive)
    await tenant.api.delete(personPath(all[last]))
    await tenant.api.delete(personPath(removed))
    ahead.push(removed.id)
    await tenant.createIdentity()
    await tenant.setState(all.find(isActive), 'inactive')
    await tenant.setState(oldest, 'inactive')
  })
  const wanted = all.filter((person) => isActive(person) && !ahead.includes(person.id))
  expect(ahead).toHaveLength(3)
  expect(idsOf(seen)).toEqual(idsOf(wanted))
})

test('A query is refused with the name of what is wrong', async () => {
  for (const query of ['state=ACTIVE', 'state=active,inactive', 'email=x', 'search=%20%0a']) {
    const refused = plain(400, `${query.split('=')[0]}: `)
    expect(await acme.api.get(`${IDENTITIES}?${query}`)).toMatchObject(refused)
  }
})

test('A cursor fits only its own kind of list, of its own tenant', async () => {
  const cursorOf = async (from: Reader, query: string) =>
    (await read(from, `limit=1&${query}`)).next_cursor as string
  const [newest, search] = [await cursorOf(acme, ''), await cursorOf(acme, 'search=p')]
  for (const [query, cursor, expected] of [
    ['', newest, 200],
    ['search=p', search, 200],
    ['', search, 400],
    ['search=p', newest, 400],
    ['email=p01@example.com', newest, 400],
    ['', await cursorOf(other, ''), 400],
    ['search=p', await cursorOf(other, 'search=p'), 400],
  ] as const) {
    const { status } = await acme.api.get(`${IDENTITIES}?${query}&cursor=${cursor}`)
    expect([query, cursor, status]).toEqual([query, cursor, expected])
  }
})
