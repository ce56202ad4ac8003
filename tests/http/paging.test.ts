import { expect, test } from 'bun:test'
import { Elysia, t } from 'elysia'
import type { Access } from '../../src/http/access.ts'
import { PageOf, pageQuery } from '../../src/http/paging.ts'
import { createCursor, page } from '../../src/platform/cursor.ts'
import { bootRoutes } from './support.ts'

const scope = 'relay:read'
const NUMBERS = Array.from({ length: 7 }, (_, at) => 7 - at)
const cursors = createCursor('numbers')

/** As an engine does it: newest first, from below where the page before ended. */
const listNumbers = ({ limit, cursor }: { limit: number; cursor?: string }) => {
  const below = cursor === undefined ? Infinity : cursors.decode(cursor)
  const rows = NUMBERS.filter((number) => number < below).slice(0, limit + 1)
  return page(rows, limit, cursors.encode)
}

const routes = (access: Access) =>
  new Elysia()
    .use(access)
    .get('/v1/relay/query', ({ query }) => query, {
      scope,
      query: pageQuery({ event_type: t.Optional(t.String()) }),
    })
    .get('/v1/relay/numbers', ({ query }) => listNumbers(query), {
      scope,
      query: pageQuery({}),
      response: { 200: PageOf(t.Number()) },
    })

const bootQuery = async () => {
  const app = await bootRoutes(routes)
  const send = await app.as('relay')
  return { ...app, get: (path: string) => send('GET', `/v1/relay/${path}`) }
}

test('a page has 20 items, as many as asked for, or 100', async () => {
  await using app = await bootQuery()
  const expected = {
    '': 20,
    '?': 20,
    '?limit=1': 1,
    '?limit=007': 7,
    '?limit=100': 100,
    '?limit=101': 100,
    '?limit=99999999999999999999999999': 100,
  }

  for (const [query, limit] of Object.entries(expected)) {
    const { status, body } = await app.get(`query${query}`)
    expect([status, body.limit], query).toEqual([200, limit])
  }
})

test('another limit is refused by name and rule', async () => {
  await using app = await bootQuery()
  const bad =
    '|0|000|-1|1.5|1.0|abc|1e2|%205|5%20|+5|%2B5|0x10|5%0A|NaN|Infinity|null|[1]|1,2|%D9%A5|%'

  for (const limit of [...bad.split('|'), '1&limit=x']) {
    const { status, body } = await app.get(`query?limit=${limit}`)
    expect(status, limit).toBe(400)
    expect(body.error, limit).toEqual({
      code: 'invalid_request',
      message: 'limit: must be a whole number of at least 1',
      request_id: expect.any(String),
    })
  }
  expect((await app.get('query?limit')).status).toBe(400)
})

test('filters and cursor arrive as sent', async () => {
  await using app = await bootQuery()

  expect((await app.get('query?event_type=a.b&cursor=x')).body).toMatchObject({
    event_type: 'a.b',
    cursor: 'x',
    limit: 20,
  })
})

test('pages follow each other to the end, each item once', async () => {
  await using app = await bootQuery()
  for (const limit of [1, 2, 6, 7, 8]) {
    const seen: number[] = []
    let next = `numbers?limit=${limit}`
    let pages = 0
    while (next !== '') {
      const { data, has_more, next_cursor } = (await app.get(next)).body
      seen.push(...data)
      pages++
      expect(has_more).toBe(next_cursor !== null)
      next = has_more ? `numbers?limit=${limit}&cursor=${next_cursor}` : ''
    }

    expect(seen).toEqual(NUMBERS)
    expect(pages).toBe(Math.ceil(NUMBERS.length / limit))
  }
})

test('a cursor that the list did not give out is a bad request', async () => {
  await using app = await bootQuery()

  for (const cursor of ['', 'x', createCursor('others').encode(3)]) {
    const { status, body } = await app.get(`numbers?cursor=${cursor}`)
    expect([status, body.error.code, body.error.message]).toEqual([
      400,
      'invalid_request',
      'cursor: must be a cursor from this list',
    ])
  }
})
