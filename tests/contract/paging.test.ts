import { describe, expect, test } from 'bun:test'
import { expectRefused, populate, useContract } from './fixture.ts'
import type { Json, Operation } from './operations.ts'

const contract = await useContract()
const acme = await contract.tenant('Acme')
const ids = await populate(contract, acme)
const other = await contract.tenant('Other')
const idsOfOther = await populate(contract, other)
const lists = contract.operations.filter(({ query }) => query.includes('cursor'))
const names = lists.map(({ name }) => name)

const keyOf = async (tenant: typeof acme, { engine }: Operation) =>
  `Bearer ${await tenant.keyOf(engine)}`

async function read(list: Operation, query: string): Promise<Json> {
  const { status, body } = await contract.send(list, await keyOf(acme, list), { ids, query })
  expect({ list: list.name, query, status }).toEqual({ list: list.name, query, status: 200 })
  return body
}

async function expectRefusedQuery(list: Operation, query: string, tenant = acme, own = ids) {
  const answer = await contract.send(list, await keyOf(tenant, list), { ids: own, query })
  expectRefused(`${list.name}${query}`, answer, 400, query.slice(1).split('=')[0])
}

test('Every list of an engine has pages, except those of clockwork', () => {
  expect(names).not.toBeEmpty()
  const others = contract.operations.filter(
    ({ method, path, query, statuses, schema }) =>
      method === 'GET' &&
      /s$/.test(path) &&
      !query.includes('cursor') &&
      statuses.includes(200) &&
      !schema,
  )
  const isShort = /clockwork|settings|metadata|sessions$|members$|stats$|status$/
  expect(others.filter(({ path }) => !isShort.test(path)).map(({ name }) => name)).toEqual([])
})

describe.each(lists.map((list) => [list.name, list] as const))('%s', (_, list) => {
  test('has every object once, page by page', async () => {
    const all = (await read(list, '')).data
    expect(all.length).toBeGreaterThan(0)
    for (const limit of [1, 2, all.length, all.length + 1]) {
      const walked: Json[] = []
      let more = `?limit=${limit}`
      while (more !== '') {
        const page = await read(list, more)
        walked.push(...page.data)
        expect(page.data.length).toBeLessThanOrEqual(limit)
        expect(page.has_more).toBe(walked.length < all.length)
        expect(page.next_cursor === null).toBe(!page.has_more)
        more = page.has_more ? `?limit=${limit}&cursor=${page.next_cursor}` : ''
      }
      expect(walked).toEqual(all)
    }
  })

  test('takes a limit from 1, and 100 for more', async () => {
    for (const limit of ['1', '007', '100', '101', '99999999999999999999999'])
      expect((await read(list, `?limit=${limit}`)).data.length).toBeGreaterThan(0)
    for (const limit of '|0|000|-1|1.5|1.0|abc|1e2|%205|5%20|+5|0x10|5%0A|NaN|null|[1]|%D9%A5'.split(
      '|',
    ))
      await expectRefusedQuery(list, `?limit=${limit}`)
  })

  test('refuses what is no cursor, and cursors of lists of other objects', async () => {
    for (const cursor of ['', 'x', '0', '%00', 'x'.repeat(5000)])
      await expectRefusedQuery(list, `?cursor=${cursor}`)
    const objects = ({ path }: Operation) => path.split('/').at(-1)
    for (const stranger of lists.filter((each) => objects(each) !== objects(list))) {
      const { next_cursor: cursor } = await read(stranger, '?limit=1')
      expect(cursor, stranger.name).toBeString()
      await expectRefusedQuery(list, `?cursor=${cursor}`)
    }
  })

  // The installation has one list of tenants, and one of operators.
  if (list.engine === 'installation' && !list.path.includes('{')) return
  test('refuses the cursors of another tenant', async () => {
    const { next_cursor: cursor } = await read(list, '?limit=1')
    expect(cursor).toBeString()
    await expectRefusedQuery(list, `?cursor=${cursor}`, other, idsOfOther)
  })
})
