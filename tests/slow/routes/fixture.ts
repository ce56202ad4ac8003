import type { ApiDocument, ApiOperation } from '../../../src/http/api-document.ts'
import { serve } from '../../../src/http/serve.ts'
import { KEY_ENGINES, type KeyEngine } from '../../../src/platform/engines.ts'
import { bootTestApp } from '../../support/app.ts'
import { newOperator } from '../../support/operator.ts'
import { sendRaw } from '../../support/raw-http.ts'
import { makeThings } from './things.ts'

/** A route as the application lists it: `GET`, `/v1/relay/messages/:message_id`. */
export interface Route {
  method: string
  path: string
}

export type HostileFixture = Awaited<ReturnType<typeof bootHostileFixture>>

const MANY = '10000000'

/** Every route of the application over a socket, what opens it, and what its parameters can name. */
export async function bootHostileFixture() {
  const app = await bootTestApp({
    flags: { 'limits-requests-per-minute': MANY },
    // Nobody listens there: what is sent out at once fails at once.
    resolve: async () => [{ address: '127.0.0.1', family: 4 }],
  })
  const listener = serve(app.app, { host: '127.0.0.1', port: 0 }, app.platform.log)
  const document: ApiDocument = (await app.raw('/openapi.json')).body
  const acme = await app.tenant()
  const keys = new Map<string, string>(
    await Promise.all(KEY_ENGINES.map(async (engine) => [engine, await keyOf(engine)] as const)),
  )
  const operator = await newOperator(app, { isAdmin: true, roles: { [acme.id]: 'owner' } })
  const things = await makeThings(app, acme)
  const all = await app.app.routes()
  const routes: Route[] = all.map(({ method, path }) => ({ method, path }))

  async function keyOf(engine: KeyEngine): Promise<string> {
    if (engine !== 'installation') return (await acme.key(engine)).key
    return (await app.platform.keys.issueForInstallation({ kind: 'system' }, {})).key
  }

  const PLACE: Record<string, string> = { tenant: acme.id, environment: 'live' }

  /** What a route asks for; a session of its own, as some routes end the one that they are sent. */
  async function credentials({ path }: Route): Promise<Record<string, string>> {
    const [, area = '', engine = ''] = path.split('/')
    if (area === 'v1' || area === 'access')
      return { authorization: `Bearer ${keys.get(engine) ?? keys.get('gate')}` }
    if (area !== 'console' && area !== 'dashboard') return {}
    const session = await operator.signIn()
    await session.actIn(path.startsWith('/console/installation') ? null : acme.id)
    return session.headers
  }

  /** The path with something that is there in the place of each parameter, `of` aside. */
  const pathTo = ({ path }: Route, of: Record<string, string> = {}): string =>
    path.replaceAll(
      /:(\w+)/g,
      (_, name: string, at: number) => of[name] ?? PLACE[name] ?? idAt(path.slice(0, at)),
    )

  const idAt = (before: string): string =>
    things.find(([part]) => before.endsWith(part))?.[1] ?? 'password'

  const operationOf = ({ method, path }: Route): ApiOperation | undefined =>
    document.paths[path.replaceAll(/:(\w+)/g, '{$1}')]?.[method.toLowerCase()]

  /** The bytes of a request, with one `Host` header unless `host` has others, each on its line. */
  function bytesOf(method: string, target: string, headers: Record<string, string>, host = 'a') {
    const lines = Object.entries({ connection: 'close', ...headers }).map(
      ([name, value]) => `${name}: ${value}`,
    )
    const hosts = host.split('\n').map((line) => `Host: ${line}`)
    const isChange = !['GET', 'DELETE', 'OPTIONS'].includes(method)
    const body = isChange
      ? ['content-type: application/json', 'content-length: 2', '', '{}']
      : ['', '']
    return [`${method} ${target} HTTP/1.1`, ...hosts, ...lines, ...body].join('\r\n')
  }

  async function end() {
    app.live.stop()
    await listener.stop()
    await app.stop()
  }

  return {
    app,
    acme,
    routes,
    things,
    credentials,
    pathTo,
    operationOf,
    bytesOf,
    url: listener.url,
    raw: (bytes: string) => sendRaw(listener.port, bytes),
    end,
  }
}

/** Of which engine's shape an error is, by where the contract has a code in it. */
export const hasCode = (path: string): boolean =>
  /^\/(v1\/(relay|passepartout|notifications|installation|manifest|gate\/(tokens|authorize))|access\/v1)(\/|$)/.test(
    path,
  )
