import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { bodyIn, statusesIn } from '../../support/raw-http.ts'
import { bootHostileFixture, type HostileFixture, hasCode, type Route } from './fixture.ts'

let fixture: HostileFixture
beforeAll(async () => {
  fixture = await bootHostileFixture()
})
afterAll(async () => {
  expect((await fetch(`${fixture.url}/healthz`)).status).toBe(200)
  await fixture.end()
})

/** The routes for which a request made for them, by someone who may, is not answered as expected. */
async function deviating(
  routes: readonly Route[],
  requestsFor: (route: Route, headers: Record<string, string>) => string[],
  isExpected: (received: string, route: Route) => boolean,
) {
  const deviations: unknown[] = []
  for (const route of routes) {
    const requests = requestsFor(route, await fixture.credentials(route))
    const answers = await Promise.all(requests.map(fixture.raw))
    for (const [at, received] of answers.entries())
      if (!isExpected(received, route))
        deviations.push([route.method, requests[at]?.slice(0, 200), received.slice(0, 300)])
  }
  return deviations
}

/** One refusal with this status, in the shape of the engine. */
const refusedWith =
  (status: number) =>
  (received: string, { path }: Route) => {
    const error = statusesIn(received).join() === `${status}` && JSON.parse(bodyIn(received)).error
    return hasCode(path) ? error?.code === 'invalid_request' : typeof error === 'string'
  }

const isServed = (received: string): boolean => {
  const [status = 0, ...more] = statusesIn(received)
  return more.length === 0 && status >= 200 && (status < 500 || status === 503)
}

const HOSTS = [
  ...[
    '',
    ':',
    ':80',
    'a:99999999',
    'a:b',
    'a:1:2',
    'a b',
    'a,b',
    'a@b',
    'u:p@a',
    'a/b',
    'a?b',
    'a#b',
  ],
  ...['a\\b', '[', '[::1', '::1', '[::1]x', '[x]', '[]', '999.999.999.999', 'a%41', '\xe9', '*'],
  ...['a'.repeat(254), 'a\na', 'a\nb'],
]

test('no route is reached by a host name that is none, or by two', async () => {
  const { routes, pathTo, bytesOf } = fixture
  const requestsFor = (route: Route, headers: Record<string, string>) =>
    HOSTS.map((host) => bytesOf(route.method, pathTo(route), headers, host))

  expect(await deviating(routes, requestsFor, refusedWith(400))).toEqual([])
}, 60_000)

test('without a host name there is no answer but 400, whatever the version', async () => {
  const lines = ['GET /healthz HTTP/1.1', 'GET /healthz HTTP/1.0', 'CONNECT a:80 HTTP/1.1']
  for (const line of lines)
    expect(statusesIn(await fixture.raw(`${line}\r\nConnection: close\r\n\r\n`)), line).toEqual([
      400,
    ])
})

const UNDECODABLE = ['%', '%zz', 'x%4', '%ED%A0%BD', '%C0%AF', '%ff', '%F4%90%80%80']

test('what is no UTF-8 names nothing, in the place of each parameter', async () => {
  const { routes, pathTo, bytesOf } = fixture
  const requestsFor = (route: Route, headers: Record<string, string>) =>
    parametersOf(route).flatMap((name) =>
      UNDECODABLE.map((value) => bytesOf(route.method, pathTo(route, { [name]: value }), headers)),
    )

  const asked = routes.filter(({ method }) => method !== 'OPTIONS')
  expect(await deviating(asked, requestsFor, isMissing)).toEqual([])
}, 60_000)

/** By 401 where the parameter says whose secret is asked for. */
const isMissing = (received: string): boolean => {
  const [status = 0, ...more] = statusesIn(received)
  return more.length === 0 && [400, 401, 404].includes(status)
}

const parametersOf = ({ path }: Route): string[] =>
  [...path.matchAll(/:(\w+)/g)].map(([, name = '']) => name)

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

test('whatever else is in the place of a parameter names nothing, and breaks nothing', async () => {
  const { routes, pathTo, bytesOf } = fixture
  const requestsFor = (route: Route, headers: Record<string, string>) =>
    parametersOf(route).flatMap((name) =>
      ODD.map((value) => bytesOf(route.method, pathTo(route, { [name]: value }), headers)),
    )

  expect(await deviating(routes, requestsFor, isServed)).toEqual([])
}, 60_000)

const QUERIES = [
  ...['%', '%zz=1', 'x=%', '=', '&&', 'x=%ED%A0%BD', '%C0%AF=%00', '__proto__=1', 'toString=1'],
  ...['constructor[prototype]=1', 'x[]=1&x[]=2', `x=${'y'.repeat(5000)}`, '#', '?x=?'],
]

test('no query breaks a route, in a parameter that it knows or another', async () => {
  const { routes, pathTo, bytesOf, operationOf } = fixture
  const requestsFor = (route: Route, headers: Record<string, string>) => {
    const known = operationOf(route)?.parameters?.filter((one) => one.in === 'query') ?? []
    const queries = known.flatMap(({ name }) =>
      ['', '%', '%ED%A0%BD', '%00', '{', `1&${name}=2`].map((value) => `${name}=${value}`),
    )
    return [...QUERIES, ...queries].map((query) =>
      bytesOf(route.method, `${pathTo(route)}?${query}`, headers),
    )
  }

  const safe = routes.filter(({ method, path }) => method === 'GET' && !path.includes('/live/'))
  expect(await deviating(safe, requestsFor, isServed)).toEqual([])
}, 60_000)

describe('metrics, which a proxy keeps inside by their path,', () => {
  test.each([
    ...['/./metrics', '/../metrics', '/x/../metrics', '/x/./../metrics', '/x/%2e%2e/metrics'],
    ...['/%2e/metrics', '/x/.%2E/metrics', '/x\\..\\metrics', '/.\\metrics', '/metrics/.'],
    ...[
      '//metrics',
      '///metrics',
      '/x//../metrics',
      '/x//../../metrics',
      '/metrics/',
      '/metrics//',
      '/metrics/x/..',
    ],
    ...['/%6Detrics', '/metrics;x', '/metrics%20', '/metrics%00', '/metrics#x', '/METRICS'],
    ...['/metrics%2f', '/metrics/../metrics', 'http://a/./metrics', 'http://b/x/../metrics'],
    ...[`/${'x/'.repeat(40)}${'../'.repeat(40)}metrics`, 'metrics', '*', '?/metrics'],
  ])('are not at %s', async (target) => {
    const received = await fixture.raw(fixture.bytesOf('GET', target, {}))

    expect([400, 404]).toContain(statusesIn(received)[0] as number)
    expect(received).not.toContain('gatehouse_')
  })

  test('are at theirs, alone or as the address of a request through a proxy', async () => {
    for (const target of ['/metrics', '/metrics?x=1', 'http://a/metrics'])
      expect(await fixture.raw(fixture.bytesOf('GET', target, {})), target).toContain('gatehouse_')
  })
})

test('no route is reached by a path that says it in another way', async () => {
  const { routes, pathTo, bytesOf } = fixture
  const requestsFor = (route: Route, headers: Record<string, string>) => {
    const path = pathTo(route)
    return [`/.${path}`, `/x/..${path}`, `/x\\..${path}`, path.replaceAll('/', '//')].map(
      (target) => bytesOf(route.method, target, headers),
    )
  }
  const isRefused = (received: string) => [400, 404].includes(statusesIn(received)[0] as number)

  expect(
    await deviating(
      routes.filter(({ path }) => path !== '/'),
      requestsFor,
      isRefused,
    ),
  ).toEqual([])
}, 60_000)
