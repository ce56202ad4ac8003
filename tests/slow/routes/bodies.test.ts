import { afterAll, expect, test } from 'bun:test'
import type { Answer } from '../../support/app.ts'
import { fitting, hostileBodies, NAMES } from './bodies.ts'
import { bootHostileFixture, type Route } from './fixture.ts'

const fixture = await bootHostileFixture()
afterAll(fixture.end)

const isBroken = ({ status }: Answer): boolean => status >= 500 && status !== 503
const takesBody = ({ method }: Route): boolean => ['POST', 'PUT', 'PATCH'].includes(method)
const isOfConsole = ({ path }: Route): boolean => path.startsWith('/console')

/** What flows and pages take has no schema that names it: fields, and objects by a dotted name. */
const EMAIL = 'ada@example.com'
const FORM = { method: 'password', identifier: EMAIL, traits: { email: EMAIL } }

const FORMS = NAMES.flatMap((name) => [
  `${name}=1&${name}.x=1&method=password&traits.${name}=1`,
  `${name}[]=1&method.${name}=1&identifier.${name}.x=1&name=x&name.${name}=1`,
])

/** The query of a flow that is there, for the routes that go on with one. */
async function queryOf({ path }: Route): Promise<string> {
  const kind = /auth\/(?:self-service\/(:kind)|(recovery|verification)\/submit)/.exec(path)
  if (!kind) return ''
  const start: Route = { method: 'GET', path: `/v1/gate/auth/${kind[2] ?? 'login'}` }
  const { body } = await fixture.app.raw(start.path, { headers: await fixture.credentials(start) })
  return `?flow=${body.id}`
}

/** Some of what may be sent to a route, by its type; of a page one JSON body stands for all of them. */
function bodiesFor(route: Route, n: number): [type: string, body: string][] {
  const schema = fixture.operationOf(route)?.requestBody?.content?.['application/json']?.schema
  const isForm = !schema || /self-service|submit/.test(route.path)
  const isPage = isForm && !route.path.includes('auth')
  const json = [...hostileBodies(isPage ? null : isForm ? FORM : fitting(schema), n)]
  return [
    ...json.map((body): [string, string] => ['application/json', body]),
    ...(isForm ? FORMS : [])
      .filter((_, at) => at % 4 === n % 4)
      .map((body): [string, string] => [URL_ENCODED, body]),
  ]
}

const URL_ENCODED = 'application/x-www-form-urlencoded'

/** Where that which was just sent may be read, should it have been stored. */
const readsOf = ({ path }: Route): string[] =>
  fixture.routes
    .filter((other) => other.method === 'GET' && other.path === path)
    .map((other) => fixture.pathTo(other))

test('No member of a body breaks a route, whatever it is called', async () => {
  const { app, routes, pathTo, credentials } = fixture
  const broken: unknown[] = []
  // The pages last: their forms delete what the routes of the API act on.
  const [pages, api] = [routes.filter(isOfConsole), routes.filter((route) => !isOfConsole(route))]
  for (const [n, route] of [...api, ...pages].filter(takesBody).entries()) {
    const target = pathTo(route) + (await queryOf(route))
    const headers = await credentials(route)
    for (const [type, body] of bodiesFor(route, n)) {
      const init = { method: route.method, body, headers: { ...headers, 'content-type': type } }
      const answer = await app.raw(target, init)
      if (isBroken(answer)) broken.push([route.method, route.path, body])
    }
    if (isOfConsole(route)) continue
    for (const path of readsOf(route)) {
      const answer = await app.raw(path, { headers })
      if (isBroken(answer)) broken.push(['GET', path, `after ${route.method} ${route.path}`])
    }
  }
  expect(broken).toEqual([])
  expect(({} as Record<string, unknown>).x).toBeUndefined()
}, 60_000)

test('In free-form JSON they are data like any other, at any depth', async () => {
  const { app, acme } = fixture
  const data =
    '{"constructor":{"name":"Promise"},"toString":1,"valueOf":[{"toString":{}}],"then":"x","toJSON":{}}'
  const authorization = `Bearer ${(await acme.key('gate')).key}`
  const send = (method: string, path: string, body?: string) =>
    app.raw(path, { method, headers: { authorization, 'content-type': 'application/json' }, body })
  const traits = `{"email":"data@example.com","custom_data":${data}}`
  const identity = `{"schema_id":"user","traits":${traits},"metadata_public":${data}}`
  const created = await send('POST', '/v1/gate/identities', identity)
  expect(created.status).toBe(201)

  const path = `/v1/gate/identities/${created.body.id}`
  expect((await send('GET', path)).body.traits.custom_data).toEqual(JSON.parse(data))
  expect((await send('GET', `${path}/metadata`)).body).toEqual(JSON.parse(data))
  const body = JSON.parse(data)
  expect(await send('PATCH', `${path}/metadata`, data)).toMatchObject({ status: 200, body })
  const error = 'metadata_public.__proto__: is a reserved member name'
  const proto = await send('PATCH', `${path}/metadata`, '{"__proto__":{"role":"admin"}}')
  expect(proto).toMatchObject({ status: 400, body: { error } })
})
