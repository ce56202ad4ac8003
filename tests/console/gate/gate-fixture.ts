import type { Role } from '../../../src/console/operators/rights.ts'
import { bootTestApp, type TestAppOptions } from '../../support/app.ts'
import { formBody } from '../../support/form.ts'
import { newOperator } from '../../support/operator.ts'

/** What is hostile in a text that somebody else has given. */
export const HOSTILE = `<script>alert(1)</script>"'\u202Egnp.exe${'x'.repeat(10_000)}`

/** An installation with two tenants, and somebody at its pages who acts in the first one. */
export async function gateFixture(options: TestAppOptions = {}) {
  const app = await bootTestApp(options)
  const acme = await app.tenant('Acme')
  const other = await app.tenant('Other')
  const api = async ({ key }: Pick<typeof acme, 'key'>) => app.client((await key('gate')).key)

  /** Whoever has this role in the first tenant, with a browser. */
  async function operator(role: Role) {
    const operator = await newOperator(app, { roles: { [acme.id]: role } })
    const { cookie } = await operator.signIn()
    return { id: operator.id, cookie, ...browser(cookie) }
  }

  async function admin() {
    const session = await (await newOperator(app, { isAdmin: true })).signIn()
    await session.actIn(null)
    return browser(session.cookie)
  }

  function browser(cookie: string | undefined) {
    const headers = { accept: 'text/html', ...(cookie !== undefined && { cookie }) }
    return {
      open: (path: string) => app.raw(path, { headers }),
      /** Pairs where a name comes more than once. */
      send: (path: string, fields: Record<string, string> | string[][] = {}) =>
        app.raw(path, { method: 'POST', headers, body: formBody(app, headers, fields) }),
    }
  }

  /** What everybody who may come by gets of a page. */
  async function statuses(path: string) {
    const all = {
      owner: await operator('owner'),
      member: await operator('member'),
      viewer: await operator('viewer'),
      instance: await admin(),
      stranger: browser(undefined),
    }
    const seen = Object.entries(all).map(async ([name, { open }]) => [
      name,
      (await open(path)).status,
    ])
    return Object.fromEntries(await Promise.all(seen))
  }

  return {
    ...app,
    acme,
    other,
    apiOfAcme: await api(acme),
    apiOfOther: await api(other),
    operator,
    statuses,
  }
}

export type GateFixture = Awaited<ReturnType<typeof gateFixture>>

/** Where somebody is sent after a form. */
export const wayOn = ({ status, headers }: { status: number; headers: Headers }) => [
  status,
  headers.get('location'),
]

export const READERS = { owner: 200, member: 200, viewer: 200, instance: 403, stranger: 303 }
export const CHANGERS = { ...READERS, viewer: 403 }
