import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { count } from '../../relay/support.ts'
import { IDENTITIES, type Json } from '../fixture.ts'
import { bootPeople, type Fixture, personPath } from './people.ts'

const PEOPLE = 45

/** One tenant with 45 people, every third of them inactive, for all that change nobody. */
let fixture: Fixture
/** Newest first. */
let people: Json[]
beforeAll(async () => {
  fixture = await bootPeople()
  people = await populate(fixture)
  await (await fixture.party()).createIdentity({ traits: { email: 'p00@example.com' } })
})
afterAll(() => fixture.end())

const addressOf = (n: number) => `p${`${n}`.padStart(2, '0')}@example.com`

/** Their addresses run against the order in which they came. */
async function populate({ createIdentity }: Fixture): Promise<Json[]> {
  const found: Json[] = []
  for (let n = 0; n < PEOPLE; n++) {
    const state = n % 3 === 0 ? 'inactive' : 'active'
    found.unshift(await createIdentity({ traits: { email: addressOf(PEOPLE - n) }, state }))
  }
  return found
}

const idsOf = (list: Json[]): string[] => list.map(({ id }) => id)
const byAddress = (one: Json, other: Json) => (one.traits.email < other.traits.email ? -1 : 1)
const isActive = ({ state }: Json) => state === 'active'

async function read(from: Pick<Fixture, 'api'>, query = ''): Promise<Json> {
  const answer = await from.api.get(`${IDENTITIES}?${query}`)
  expect(answer).toMatchObject({ status: 200 })
  return answer.body
}

/** The sizes of all pages, and what was on them. */
async function walk(
  query: string,
  from: Pick<Fixture, 'api'> = fixture,
  between: (seen: Json[]) => Promise<void> = async () => {},
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

describe('the list of identities', () => {
  test('has the newest first, twenty on a page, each as it is read', async () => {
    const page = await read(fixture)

    expect(page).toEqual({
      data: people.slice(0, 20),
      has_more: true,
      next_cursor: expect.any(String),
    })
  })

  test('is empty where there is nobody', async () => {
    expect(await read(await fixture.party())).toEqual({
      data: [],
      has_more: false,
      next_cursor: null,
    })
  })

  test.each([
    [1, Array(45).fill(1)],
    [7, [7, 7, 7, 7, 7, 7, 3]],
    [9, [9, 9, 9, 9, 9]],
    [20, [20, 20, 5]],
    [44, [44, 1]],
    [45, [45]],
    [46, [45]],
    [1000, [45]],
  ])('walked %d at a time has everybody once', async (limit, sizes) => {
    const walked = await walk(`limit=${limit}`)

    expect(walked.sizes).toEqual(sizes)
    expect(walked.seen).toEqual(people)
  })

  test.each(['active', 'inactive'])('of %s people has those alone, newest first', async (state) => {
    const wanted = people.filter((person) => person.state === state)

    const { sizes, seen } = await walk(`state=${state}&limit=4`)

    expect(idsOf(seen)).toEqual(idsOf(wanted))
    expect(sizes).toHaveLength(Math.ceil(wanted.length / 4))
  })

  test('counts at most a hundred on a page', async () => {
    await using own = await bootPeople()
    const person = await own.createIdentity()
    multiply(own, person, 150)

    expect((await walk('limit=1000', own)).sizes).toEqual([100, 51])
  })
})

/** So many more people like one of them, of whom nothing but that is known. */
function multiply({ app: { db } }: Fixture, { id }: Json, copies: number) {
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

describe('a person is found by their whole address', () => {
  test.each(['p07@example.com', 'P07@EXAMPLE.com', ' p07@example.com '])(
    'spelled %j',
    async (email) => {
      const page = await read(fixture, `email=${encodeURIComponent(email)}`)

      expect(idsOf(page.data)).toEqual(
        idsOf(people.filter(({ traits }) => traits.email === 'p07@example.com')),
      )
      expect(page).toMatchObject({ has_more: false, next_cursor: null })
    },
  )

  test.each(['p07@example.co', 'p07@example.com.', 'q@example.com', '%40@example.com'])(
    'and not by %s',
    async (email) => {
      const { status, body } = await fixture.api.get(`${IDENTITIES}?email=${email}`)

      expect(body.data ?? []).toEqual([])
      expect([200, 400]).toContain(status)
    },
  )

  test('in the state that is asked for, and in no other', async () => {
    const [active] = people.filter(isActive)
    const ask = (state: string) => read(fixture, `email=${active.traits.email}&state=${state}`)

    expect((await ask('active')).data).toEqual([active])
    expect((await ask('inactive')).data).toEqual([])
  })

  test('if it begins as is searched for besides', async () => {
    expect((await read(fixture, 'email=p07@example.com&search=p0')).data).toHaveLength(1)
    expect((await read(fixture, 'email=p07@example.com&search=p1')).data).toEqual([])
  })

  test('of this tenant alone', async () => {
    expect((await read(fixture, 'email=p00@example.com')).data).toEqual([])
  })
})

describe('a search', () => {
  test.each([
    ['p', PEOPLE],
    ['P', PEOPLE],
    ['p0', 9],
    ['%20p0', 9],
    ['p1', 10],
    ['p4', 6],
    ['p45', 1],
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
  ])('for %s finds whose address begins so, by address', async (text, matches) => {
    const { data } = await read(fixture, `search=${text}&limit=100`)

    const start = decodeURIComponent(text).trim().toLowerCase()
    const wanted = people.filter(({ traits }) => traits.email.startsWith(start)).toSorted(byAddress)
    expect(wanted).toHaveLength(matches)
    expect(data).toEqual(wanted)
  })

  test('can be walked', async () => {
    const { sizes, seen } = await walk('search=p&limit=10')

    expect(sizes).toEqual([10, 10, 10, 10, 5])
    expect(idsOf(seen)).toEqual(idsOf(people.toSorted(byAddress)))
  })

  test.each(['active', 'inactive'])('finds the %s alone where that is asked', async (state) => {
    const { seen } = await walk(`search=p&state=${state}&limit=4`)

    const wanted = people.filter((person) => person.state === state)
    expect(idsOf(seen)).toEqual(idsOf(wanted.toSorted(byAddress)))
  })

  test('finds letters in whatever pieces they come, and other scripts', async () => {
    const other = await fixture.party()
    const jose = await other.createIdentity({ traits: { email: 'jos\u00e9@example.com' } })
    const chinese = await other.createIdentity({ traits: { email: '用户@例子.广告' } })
    const find = async (text: string) =>
      idsOf((await read(other, `search=${encodeURIComponent(text)}`)).data)

    expect(await find('JOSE\u0301')).toEqual([jose.id])
    expect(await find('jos')).toEqual([jose.id])
    expect(await find('用')).toEqual([chinese.id])
    expect(await find('用户@例')).toEqual([chinese.id])
  })

  test.each(['', '%20', '%09%0a'])('for %j is refused', async (text) => {
    expect(await fixture.api.get(`${IDENTITIES}?search=${text}`)).toMatchObject({
      status: 400,
      body: { error: 'search: must be the beginning of an address' },
    })
  })

  test('for few among many finds them on the first page', async () => {
    await using own = await bootPeople()
    const rare = await own.createIdentity({ traits: { email: 'xz@example.com' } })
    const common = await own.createIdentity({ state: 'inactive' })
    multiply(own, common, 1999)
    own.app.db.client.run("update gate_identities set email = 'x' || email where id <> ?", [
      rare.id,
    ])
    expect(count(own.app, "gate_identities where email like 'x%'")).toBe(2001)

    const { sizes, seen } = await walk('search=x&state=active', own)

    expect(sizes).toEqual([1])
    expect(seen).toEqual([rare])
  })
})

describe('while a list is walked', () => {
  test('those who are deleted are missing, and nobody else', async () => {
    await using own = await bootPeople()
    const all = await populate(own)
    const ahead: string[] = []

    const { seen } = await walk('limit=11', own, async (seen) => {
      const last = all.findIndex(({ id }) => id === seen.at(-1).id)
      await own.api.delete(personPath(all[last]))
      await own.api.delete(personPath(all[last + 3]))
      ahead.push(all[last + 3].id)
    })

    expect(ahead).toHaveLength(3)
    expect(idsOf(seen)).toEqual(idsOf(all).filter((id) => !ahead.includes(id)))
  })

  test('those who come are left out, and nobody is shown twice', async () => {
    await using own = await bootPeople()
    const all = await populate(own)

    const { seen } = await walk('limit=10', own, async () => void (await own.createIdentity()))

    expect(idsOf(seen)).toEqual(idsOf(all))
    expect((await walk('limit=100', own)).seen).toHaveLength(PEOPLE + 4)
  })

  test('those who change their state are in it if it is theirs when their turn comes', async () => {
    await using own = await bootPeople()
    const all = await populate(own)
    const oldest = all.at(-2)
    expect(oldest.state).toBe('active')

    const { seen } = await walk('state=active&limit=10', own, async () => {
      await own.setState(all.find(isActive), 'inactive')
      await own.setState(oldest, 'inactive')
    })

    const wanted = all.filter((person) => isActive(person) && person.id !== oldest.id)
    expect(idsOf(seen)).toEqual(idsOf(wanted))
  })
})

describe('what is asked of a list', () => {
  test.each(['0', '-1', '1.5', 'abc', '1e2', '', '%205', '0x10', '+5', 'NaN', '١'])(
    'can have no limit of %j',
    async (limit) => {
      for (const filter of ['', '&state=active', '&search=p', '&email=p01@example.com'])
        expect(await fixture.api.get(`${IDENTITIES}?limit=${limit}${filter}`)).toMatchObject({
          status: 400,
          body: { error: 'limit: must be a whole number of at least 1' },
        })
    },
  )

  test.each(['', 'x', 'null', '0', '1', 'MTIzNDU2Nzg5', '%00', '../../..', '😀'])(
    'can have no cursor %j that nobody was given',
    async (cursor) => {
      for (const filter of ['', '&state=active', '&search=p', '&email=p01@example.com'])
        expect(
          await fixture.api.get(`${IDENTITIES}?cursor=${encodeURIComponent(cursor)}${filter}`),
        ).toMatchObject({ status: 400, body: { error: 'cursor: must be a cursor from this list' } })
    },
  )

  test.each(['ACTIVE', 'deleted', '', 'active,inactive', '0'])(
    'can have no state %j',
    async (state) => {
      expect(await fixture.api.get(`${IDENTITIES}?state=${state}`)).toMatchObject({
        status: 400,
        body: { error: 'state: must be one of active, inactive' },
      })
    },
  )

  test.each(['', 'x', '@', 'a@', '@b', 'a b@c.d', 'a@b@c', `${'a'.repeat(65)}@b.c`])(
    'can have no address %j',
    async (email) => {
      expect(
        await fixture.api.get(`${IDENTITIES}?email=${encodeURIComponent(email)}`),
      ).toMatchObject({ status: 400, body: { error: 'email: must be an email address' } })
    },
  )
})

describe('a cursor', () => {
  const firstOf = async (from: Fixture | Awaited<ReturnType<Fixture['party']>>, query: string) =>
    (await read(from, `limit=1&${query}`)).next_cursor as string

  test('of one list is refused by the other', async () => {
    const newest = await firstOf(fixture, '')
    const search = await firstOf(fixture, 'search=p')

    for (const query of [`cursor=${search}`, `search=p&cursor=${newest}`])
      expect(await fixture.api.get(`${IDENTITIES}?${query}`)).toMatchObject({ status: 400 })
    for (const query of [`cursor=${newest}`, `search=p&cursor=${search}`])
      expect(await fixture.api.get(`${IDENTITIES}?${query}`)).toMatchObject({ status: 200 })
  })

  test.each(['', 'search=p'])('of another tenant is refused, with %j', async (query) => {
    const other = await fixture.party()
    for (const email of ['p1@example.com', 'p2@example.com'])
      await other.createIdentity({ traits: { email } })
    const cursor = await firstOf(other, query)

    expect(await fixture.api.get(`${IDENTITIES}?${query}&cursor=${cursor}`)).toMatchObject({
      status: 400,
    })
    expect(await other.api.get(`${IDENTITIES}?${query}&cursor=${cursor}`)).toMatchObject({
      status: 200,
    })
  })

  test.each(['', 'search=p'])(
    'is refused when a letter of it is changed, with %j',
    async (query) => {
      const cursor = await firstOf(fixture, query)
      const changed = `${cursor[0] === 'A' ? 'B' : 'A'}${cursor.slice(1)}`

      for (const bad of [changed, cursor.slice(1), cursor.slice(0, -1), `${cursor}A`])
        expect(await fixture.api.get(`${IDENTITIES}?${query}&cursor=${bad}`)).toMatchObject({
          status: 400,
        })
    },
  )
})
