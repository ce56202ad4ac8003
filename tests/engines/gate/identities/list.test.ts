import { describe, expect, test } from 'bun:test'
import {
  bootGate,
  count,
  type Fixture,
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

async function read({ api }: Reader, query = ''): Promise<Json> {
  const answer = await api.get(`${IDENTITIES}?${query}`)
  expect(answer).toMatchObject({ status: 200 })
  return answer.body
}

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

describe('The list of identities', () => {
  test('has the newest first, 20 on a page, and can be empty', async () => {
    const next_cursor = expect.any(String)
    expect(await read(acme)).toEqual({ data: people.slice(0, 20), has_more: true, next_cursor })
    const empty = { data: [], has_more: false, next_cursor: null }
    expect(await read(await gate.newTenant())).toEqual(empty)
  })

  test.each([
    ['limit=1', Array(45).fill(1)],
    ['limit=9', [9, 9, 9, 9, 9]],
    ['limit=44', [44, 1]],
    ['limit=45', [45]],
    ['limit=1000', [45]],
    ['search=p&limit=10', [10, 10, 10, 10, 5]],
    ['state=active&limit=4', [4, 4, 4, 4, 4, 4, 4, 2]],
    ['state=inactive&search=p&limit=5', [5, 5, 5]],
  ])('has each identity once when read with %s', async (query, sizes) => {
    const state = /state=(\w+)/.exec(query)?.[1]
    const wanted = people.filter((person) => !state || person.state === state)
    const walked = await walk(query)
    expect(walked.sizes).toEqual(sizes)
    expect(walked.seen).toEqual(query.includes('search') ? wanted.toSorted(byAddress) : wanted)
  })

  test('has at most 100 on a page', async () => {
    await using own = await bootGate()
    copyIdentity(own, await own.createIdentity(), 150)
    expect((await walk('limit=1000', own)).sizes).toEqual([100, 51])
  })
})

/** Adds rows like that of one identity. */
function copyIdentity({ app: { db } }: Fixture, { id }: Json, copies: number) {
  const columns =
    'tenant_id, schema_id, state, state_changed_at, traits, metadata_public, ' +
    'session_generation, token_generation, created_at, updated_at'
  db.client.run(
    `with recursive n(i) as (select 1 union all select i + 1 from n where i < ?)
     insert into gate_identities (id, email, ${columns})
     select id || '-' || i, printf('%06d', i) || email, ${columns} from gate_identities, n
     where id = ?`,
    [copies, id],
  )
}

test.each([
  ['email=p07@example.com', 1],
  ['email=%20P07@EXAMPLE.com', 1],
  ['email=p07@example.co', 0],
  ['email=q@example.com', 0],
  ['email=p00@example.com', 0],
  ['email=p07@example.com&state=active', 1],
  ['email=p07@example.com&state=inactive', 0],
  ['email=p07@example.com&search=p0', 1],
  ['email=p07@example.com&search=p1', 0],
])('%s finds %d by the whole address', async (query, matches) => {
  const page = await read(acme, query)
  const wanted = people.filter(({ traits }) => traits.email === 'p07@example.com')
  expect(page).toEqual({ data: wanted.slice(0, matches), has_more: false, next_cursor: null })
})

describe('A search', () => {
  test.each([
    ['P', PEOPLE],
    ['%20p0', 9],
    ['p1', 10],
    ['p45@example.com', 1],
    ['p45@example.com.au', 0],
    ['0', 0],
    ['example', 0],
    ['p%25', 0],
    ['p_', 0],
    ['p*', 0],
    ['p4%00', 0],
    ['%F4%8F%BF%BF', 0],
    ["p'--", 0],
  ])('for %s finds %d by the beginning of the address', async (text, matches) => {
    const { data } = await read(acme, `search=${text}&limit=100`)
    const start = decodeURIComponent(text).trim().toLowerCase()
    const wanted = people.filter(({ traits }) => traits.email.startsWith(start))
    expect(wanted).toHaveLength(matches)
    expect(data).toEqual(wanted.toSorted(byAddress))
  })

  test('finds decomposed letters and other scripts', async () => {
    const tenant = await gate.newTenant()
    const jose = await tenant.createIdentity({ traits: { email: 'jos\u00e9@example.com' } })
    const chinese = await tenant.createIdentity({ traits: { email: '用户@例子.广告' } })
    const find = async (text: string) =>
      idsOf((await read(tenant, `search=${encodeURIComponent(text)}`)).data)
    expect(await find('JOSE\u0301')).toEqual([jose.id])
    expect(await find('用户@例')).toEqual([chinese.id])
  })

  test('for a state that few of many have finds them on the first page', async () => {
    await using own = await bootGate()
    const rare = await own.createIdentity({ traits: { email: 'xz@example.com' } })
    copyIdentity(own, await own.createIdentity({ state: 'inactive' }), 1999)
    const { client } = own.app.db
    client.run("update gate_identities set email = 'x' || email where id <> ?", [rare.id])
    expect(count(own.app, "gate_identities where email like 'x%'")).toBe(2001)
    expect(await walk('search=x&state=active', own)).toEqual({ sizes: [1], seen: [rare] })
  })
})

describe('Between two pages', () => {
  test('deleted identities disappear, and only they', async () => {
    const tenant = await gate.newTenant()
    const all = await populate(tenant)
    const ahead: string[] = []
    const { seen } = await walk('limit=11', tenant, async (seen) => {
      const last = all.findIndex(({ id }) => id === seen.at(-1).id)
      await tenant.api.delete(personPath(all[last]))
      await tenant.api.delete(personPath(all[last + 3]))
      ahead.push(all[last + 3].id)
    })
    expect(ahead).toHaveLength(3)
    expect(idsOf(seen)).toEqual(idsOf(all).filter((id) => !ahead.includes(id)))
  })

  test('new identities and changed states neither shift nor repeat the others', async () => {
    const tenant = await gate.newTenant()
    const all = await populate(tenant)
    const oldest = all.at(-2)
    const { seen } = await walk('state=active&limit=10', tenant, async () => {
      await tenant.createIdentity()
      await tenant.setState(all.find(isActive), 'inactive')
      await tenant.setState(oldest, 'inactive')
    })
    const wanted = all.filter((person) => isActive(person) && person.id !== oldest.id)
    expect(idsOf(seen)).toEqual(idsOf(wanted))
  })
})

test.each([
  ['state', 'ACTIVE'],
  ['state', 'deleted'],
  ['state', 'active,inactive'],
  ['email', 'x'],
  ['email', ''],
  ['search', ''],
  ['search', '%20%0a'],
  ['email=p01@example.com&limit', '0'],
  ['email=p01@example.com&cursor', 'x'],
  ['search=p&cursor', 'MTIz'],
])('The query %s=%s is refused', async (name, value) => {
  const answer = await acme.api.get(`${IDENTITIES}?${name}=${value}`)
  expect(answer).toMatchObject(plain(400, `${name.split('&').at(-1)}: `))
})

test('A cursor fits only its own kind of list, of its own tenant', async () => {
  const cursorOf = async (from: Reader, query: string) =>
    (await read(from, `limit=1&${query}`)).next_cursor as string
  const statusOf = async (query: string, cursor: string) =>
    (await acme.api.get(`${IDENTITIES}?${query}&cursor=${cursor}`)).status
  const newest = await cursorOf(acme, '')
  const search = await cursorOf(acme, 'search=p')

  expect(await statusOf('', newest)).toBe(200)
  expect(await statusOf('search=p', search)).toBe(200)
  expect(await statusOf('', search)).toBe(400)
  expect(await statusOf('search=p', newest)).toBe(400)
  expect(await statusOf('email=p01@example.com', newest)).toBe(400)
  for (const query of ['', 'search=p'])
    expect(await statusOf(query, await cursorOf(other, query))).toBe(400)
})
