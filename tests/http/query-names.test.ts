import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { JsonSchema } from '../../src/http/openapi.ts'
import { bootHostileFixture, type HostileFixture, hasCode, type Route } from './hostile/fixture.ts'

let fixture: HostileFixture
let reads: Route[]
beforeAll(async () => {
  fixture = await bootHostileFixture()
  reads = fixture.routes.filter(
    ({ method, path }) => method === 'GET' && /^\/(v1|dashboard|public)\//.test(path),
  )
})
afterAll(() => fixture.end())

/** The names of the parameters that a route documents, each with a value that fits. */
const parametersOf = (route: Route): [name: string, value: string][] =>
  (fixture.operationOf(route)?.parameters ?? [])
    .filter(({ in: part }) => part === 'query')
    .map(({ name, schema }) => [name, fitting(schema)])

const fitting = ({ type, enum: words, anyOf }: JsonSchema = {}): string =>
  `${words?.[0] ?? anyOf?.[0]?.const ?? (type === 'integer' ? 1 : 'x')}`

async function ask(route: Route, query: string, headers?: Record<string, string>) {
  const sent = headers ?? (await fixture.credentials(route))
  const { status, body } = await fixture.app.raw(`${fixture.pathTo(route)}?${query}`, {
    headers: sent,
  })
  const message: string = hasCode(route.path) ? body.error?.message : body.error
  return { status, message, ...(hasCode(route.path) && { code: body.error?.code }) }
}

test('every list refuses a parameter that it does not take, and names those that it takes', async () => {
  expect(reads.length).toBeGreaterThan(40)
  for (const route of reads) {
    const names = parametersOf(route).map(([name]) => name)
    const required = route.path.endsWith('/login/status') ? 'nonce=x&' : ''
    expect(await ask(route, `${required}limits=1`), route.path).toEqual({
      status: 400,
      message: `limits: is not a known parameter; this route ${names.length > 0 ? `accepts ${names.join(', ')}` : 'has no parameters'}`,
      ...(hasCode(route.path) && { code: 'invalid_request' }),
    })
  }
})

test('a parameter that is given twice is refused, whichever it is', async () => {
  let tried = 0
  for (const route of reads)
    for (const [name, value] of parametersOf(route)) {
      const required = route.path.endsWith('/login/status') && name !== 'nonce' ? 'nonce=x&' : ''
      const answer = await ask(route, `${required}${name}=${value}&${name}=${value}`)
      expect(answer, `${route.path} ${name}`).toMatchObject({
        status: 400,
        message: `${name}: is set twice; send it once`,
      })
      tried++
    }
  expect(tried).toBeGreaterThan(20)
})

test('who may not ask is told that first', async () => {
  for (const route of reads.filter((one) => fixture.operationOf(one)?.security?.length))
    expect((await ask(route, 'limits=1', {})).status, route.path).toBe(401)
})

test('nothing is done on a request with a parameter that means nothing', async () => {
  const { acme, things } = fixture
  const job = `/v1/clockwork/jobs/${things.find(([part]) => part === 'jobs/')?.[1]}`

  expect(await acme.api.delete(`${job}?dry_run=true`)).toMatchObject({
    status: 400,
    body: { error: 'dry_run: is not a known parameter; this route has no parameters' },
  })
  expect((await acme.api.get(job)).status).toBe(200)
})

test('pages take what links gather on their way', async () => {
  const page: Route = { method: 'GET', path: '/console/jobs' }
  const headers = await fixture.credentials(page)
  expect((await fixture.app.raw('/console/jobs?utm_source=mail', { headers })).status).toBe(200)
})
