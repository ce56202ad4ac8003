import { afterAll, expect, test } from 'bun:test'
import { bodyIn, statusesIn } from '../../support/raw-http.ts'
import { bootHostileFixture, hasCode, type Route } from './fixture.ts'

const fixture = await bootHostileFixture()
const { routes, pathTo, bytesOf, raw } = fixture
afterAll(async () => {
  expect((await fetch(`${fixture.url}/healthz`)).status).toBe(200)
  await fixture.end()
})

type Headers = Record<string, string>

/** The routes for which a request made for them, by someone who may, is not answered as expected. */
async function deviating(
  routes: readonly Route[],
  requestsFor: (route: Route, headers: Headers, n: number) => string[],
  isExpected: (received: string, route: Route) => boolean,
) {
  const deviations: unknown[] = []
  for (const [n, route] of routes.entries()) {
    const requests = requestsFor(route, await fixture.credentials(route), n)
    const answers = await Promise.all(requests.map(raw))
    for (const [at, received] of answers.entries())
      if (!isExpected(received, route))
        deviations.push([route.method, requests[at]?.slice(0, 200), received.slice(0, 300)])
  }
  return deviations
}

/** Two of the values, other ones for each route: all of them meet many routes. */
const some = <T>(values: readonly T[], n: number): T[] =>
  [0, 1].map((at) => values[(2 * n + at) % values.length] as T)

/** One refusal with 400, in the shape of the engine. */
function isRefused(received: string, { path }: Route) {
  const error = statusesIn(received).join() === '400' && JSON.parse(bodyIn(received)).error
  return hasCode(path) ? error?.code === 'invalid_request' : typeof error === 'string'
}

const isServed = (received: string): boolean => {
  const [status = 0, ...more] = statusesIn(received)
  return more.length === 0 && status >= 200 && (status < 500 || status === 503)
}

const HOSTS = [
  ...['', ':', ':80', 'a:99999999', 'a:b', 'a:1:2', 'a b', 'a,b', 'a@b', 'u:p@a', 'a/b', 'a?b'],
  ...['a\\b', '[', '[::1', '::1', '[::1]x', '[x]', '[]', '999.999.999.999', 'a%41', '\xe9', '*'],
  ...['a#b', 'a'.repeat(254), 'a\na', 'a\nb'],
]

test('No route is reached by a host name that is none, or by two', async () => {
  const requestsFor = (route: Route, headers: Headers, n: number) =>
    some(HOSTS, n).map((host) => bytesOf(route.method, pathTo(route), headers, host))
  expect(await deviating(routes, requestsFor, isRefused)).toEqual([])
}, 60_000)

test('Without a host name there is no answer but 400, whatever the version', async () => {
  for (const line of ['GET /healthz HTTP/1.1', 'GET /healthz HTTP/1.0', 'CONNECT a:80 HTTP/1.1'])
    expect(statusesIn(await raw(`${line}\r\nConnection: close\r\n\r\n`)), line).toEqual([400])
})

const UNDECODABLE = ['%', '%zz', 'x%4', '%ED%A0%BD', '%C0%AF', '%ff', '%F4%90%80%80']
const ODD = [
  '%00',
  '%0a',
  '%2F',
  '%252e',
  'x'.repeat(5000),
  '%F0%9F%98%80',
  "'",
  '__proto__',
  'toString',
]

/** Requests with these values in the place of each parameter. */
const inPathOf = (values: string[]) => (route: Route, headers: Headers, n: number) =>
  [...route.path.matchAll(/:(\w+)/g)].flatMap(([, name = '']) =>
    some(values, n).map((value) =>
      bytesOf(route.method, pathTo(route, { [name]: value }), headers),
    ),
  )

test('Text that is not UTF-8 names nothing, in the place of each parameter', async () => {
  // 401 where the parameter says whose secret is asked for; addresses without a tenant redirect.
  const isMissing = (received: string): boolean => {
    const [status = 0, ...more] = statusesIn(received)
    const isShort = received.includes(`Location: /console/${fixture.acme.id}/`)
    return more.length === 0 && ([400, 401, 404].includes(status) || (status === 303 && isShort))
  }
  const asked = routes.filter(({ method }) => method !== 'OPTIONS')
  expect(await deviating(asked, inPathOf(UNDECODABLE), isMissing)).toEqual([])
}, 60_000)

test('Odd text in the place of a parameter breaks nothing', async () => {
  expect(await deviating(routes, inPathOf(ODD), isServed)).toEqual([])
}, 60_000)

const QUERIES = [
  ...['%', '%zz=1', 'x=%', '=', '&&', 'x=%ED%A0%BD', '%C0%AF=%00', '__proto__=1', 'toString=1'],
  ...['constructor[prototype]=1', 'x[]=1&x[]=2', `x=${'y'.repeat(5000)}`, '#', '?x=?'],
]

test('No query breaks a route, in a parameter that it knows or another', async () => {
  const requestsFor = (route: Route, headers: Headers, n: number) => {
    const parameters = fixture.operationOf(route)?.parameters ?? []
    const known = parameters.flatMap(({ name, in: part }, at) => {
      if (part !== 'query') return []
      const values = ['', '%', '%ED%A0%BD', '%00', '{', `1&${name}=2`]
      return some(values, n + at).map((value) => `${name}=${value}`)
    })
    return [...some(QUERIES, n), ...known].map((query) =>
      bytesOf(route.method, `${pathTo(route)}?${query}`, headers),
    )
  }
  const safe = routes.filter(({ method, path }) => method === 'GET' && !path.endsWith('/updates'))
  expect(await deviating(safe, requestsFor, isServed)).toEqual([])
}, 60_000)

test.each([
  ...['/./metrics', '/../metrics', '/x/../metrics', '/x/./../metrics', '/x/%2e%2e/metrics'],
  ...['/%2e/metrics', '/x/.%2E/metrics', '/x\\..\\metrics', '/.\\metrics', '/metrics/.'],
  ...['//metrics', '///metrics', '/x//../metrics', '/x//../../metrics', '/metrics/', '/metrics//'],
  ...['/%6Detrics', '/metrics;x', '/metrics%20', '/metrics%00', '/metrics#x', '/METRICS'],
  ...['/metrics%2f', '/metrics/../metrics', 'http://a/./metrics', 'http://b/x/../metrics'],
  ...[
    `/${'x/'.repeat(40)}${'../'.repeat(40)}metrics`,
    'metrics',
    '*',
    '?/metrics',
    '/metrics/x/..',
  ],
])('Metrics, which a proxy keeps inside by their path, are not at %s', async (target) => {
  const received = await raw(bytesOf('GET', target, {}))
  expect([400, 404]).toContain(statusesIn(received)[0] as number)
  expect(received).not.toContain('gatehouse_')
})

test('Metrics are at their path, alone or as the address of a request through a proxy', async () => {
  for (const target of ['/metrics', '/metrics?x=1', 'http://a/metrics'])
    expect(await raw(bytesOf('GET', target, {})), target).toContain('gatehouse_')
})

test('No route is reached by a path that says it in another way', async () => {
  const requestsFor = (route: Route, headers: Headers, n: number) => {
    const path = pathTo(route)
    const others = [`/.${path}`, `/x/..${path}`, `/x\\..${path}`, path.replaceAll('/', '//')]
    return some(others, n).map((target) => bytesOf(route.method, target, headers))
  }
  const isNoRoute = (received: string) => [400, 404].includes(statusesIn(received)[0] as number)
  const others = routes.filter(({ path }) => path !== '/')
  expect(await deviating(others, requestsFor, isNoRoute)).toEqual([])
}, 60_000)
