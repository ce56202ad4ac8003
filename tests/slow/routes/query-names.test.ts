import { afterAll, expect, test } from 'bun:test'
import type { JsonSchema } from '../../../src/http/api-document.ts'
import { bootHostileFixture, hasCode, type Route } from './fixture.ts'

const fixture = await bootHostileFixture()
afterAll(fixture.end)
const reads = fixture.routes.filter(
  ({ method, path }) => method === 'GET' && /^\/(v1|dashboard|public)\//.test(path),
)

/** The names of the parameters that a route documents, each with a value that fits. */
const parametersOf = (route: Route): [name: string, value: string][] =>
  (fixture.operationOf(route)?.parameters ?? [])
    .filter(({ in: part }) => part === 'query')
    .map(({ name, schema }) => [name, fitting(schema)])

const fitting = ({ type, enum: words, anyOf, examples }: JsonSchema = {}): string =>
  `${words?.[0] ?? examples?.[0] ?? anyOf?.[0]?.const ?? (type === 'integer' ? 1 : 'x')}`

/** What a route has to be asked with, besides a parameter. */
const required = ({ path }: Route, name = '') =>
  path.endsWith('/login/status') && name !== 'nonce' ? 'nonce=x&' : ''

async function ask(route: Route, query: string, given?: Record<string, string>) {
  const headers = given ?? (await fixture.credentials(route))
  const { status, body } = await fixture.app.raw(`${fixture.pathTo(route)}?${query}`, { headers })
  const message: string = hasCode(route.path) ? body.error?.message : body.error
  return { status, message, ...(hasCode(route.path) && { code: body.error?.code }) }
}

test('Every list refuses a parameter that it does not take, and names those that it takes', async () => {
  expect(reads.length).toBeGreaterThan(40)
  for (const route of reads) {
    const names = parametersOf(route).map(([name]) => name)
    const known = names.length > 0 ? `accepts ${names.join(', ')}` : 'has no parameters'
    expect(await ask(route, `${required(route)}limits=1`), route.path).toEqual({
      status: 400,
      message: `limits: is not a known parameter; this route ${known}`,
      ...(hasCode(route.path) && { code: 'invalid_request' }),
    })
    if (fixture.operationOf(route)?.security?.length)
      expect((await ask(route, 'limits=1', {})).status, route.path).toBe(401)
  }
})

test('A parameter that is given twice is refused', async () => {
  const given = reads.flatMap((route) =>
    parametersOf(route).map((pair) => [route, ...pair] as const),
  )
  expect(given.length).toBeGreaterThan(20)
  for (const [route, name, value] of given) {
    const query = `${required(route, name)}${name}=${value}&${name}=${value}`
    const refused = { status: 400, message: `${name}: is set twice; send it once` }
    expect(await ask(route, query), `${route.path} ${name}`).toMatchObject(refused)
  }
})

test('A request with an unknown parameter changes nothing, but pages accept what links gather', async () => {
  const { acme, app, things } = fixture
  const job = `/v1/clockwork/jobs/${things.find(([part]) => part === 'jobs/')?.[1]}`
  const error = 'dry_run: is not a known parameter; this route has no parameters'
  const answer = await acme.api.delete(`${job}?dry_run=true`)
  expect(answer).toMatchObject({ status: 400, body: { error } })
  expect((await acme.api.get(job)).status).toBe(200)
  const headers = await fixture.credentials({ method: 'GET', path: '/console/jobs' })
  expect((await app.raw(`/console/${acme.id}/jobs?utm_source=mail`, { headers })).status).toBe(200)
})
