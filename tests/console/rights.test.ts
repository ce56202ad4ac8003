import { expect, test } from 'bun:test'
import { newOperator } from '../support/operator.ts'
import { pagesOf, UNKNOWN_ID, useConsole } from './fixture.ts'
import { routesIn } from './one-of-each.ts'

const TENANT = ['owner', 'member', 'viewer'] as const
const SIGNED_IN = [...TENANT, 'installation', 'nowhere'] as const
const ALL = [...SIGNED_IN, 'stranger'] as const
type Who = (typeof ALL)[number]

/** Who may use a route; the first rule that matches counts. */
const RULES: [RegExp, readonly Who[]][] = [
  // Exceptions to the rules below.
  [/^(GET|POST) \/console\/welcome$/, ['owner']],
  [/^GET \/console\/endpoints\/:id\/replay$/, ['owner', 'member']],
  [/^POST \/console\/identities\/:id\/(credentials|accounts)\/:part\/remove$/, ['owner', 'member']],
  // Before sign-in, or with a secret address.
  [/^(GET|POST) \/setup\//, ALL],
  [/^(GET|POST) \/console\/(login|enter|link|invitation)\b/, ALL],
  // Signed in, whatever the tenant.
  [/^GET \/console(\/(find|joined))?$/, SIGNED_IN],
  [/^(GET|POST) \/console\/account\b|^POST \/console\/(theme|environment|sign-out)$/, SIGNED_IN],
  [/ \/console\/admin\//, ['installation']],
  [/ \/console\/(keys\b|first-key$)|^POST \/console\/first-job$/, ['owner']],
  [/^POST \/console\/team\/leave$/, TENANT],
  [/^POST \/console\/team\b|^GET \/console\/team\/invite$/, ['owner']],
  [/^POST \/console\/(usage\/cap|settings)\b/, ['owner']],
  [/^POST .*\/(delete|remove)$/, ['owner']],
  [/^POST \/console\/delayed\/:id\/cancel$/, ['owner']],
  [/^GET .*\/(new|edit)$/, ['owner', 'member']],
  [/^POST /, ['owner', 'member']],
  [/^GET \/console\//, TENANT],
]

const app = await useConsole()
const { id: tenantId } = await app.tenant()

/** Ways out come last, because nobody is signed in after them. */
const WAYS_OUT = ['/account/end-others', '/team/leave', '/sign-out']
const exitOf = ({ path }: { path: string }) => WAYS_OUT.indexOf(path.replace('/console', ''))
const routes = ['GET', 'POST']
  .flatMap((method) => routesIn(app, method).map((path) => ({ method, path })))
  // Who may switch to a tenant depends on the tenant: entry.test.ts.
  .filter(({ path }) => !['/console/switch', '/console/resubmit'].includes(path))
  .toSorted((one, other) => exitOf(one) - exitOf(other))
const allowedOn = (route: string) => RULES.find(([pattern]) => pattern.test(route))?.[1] ?? []

test('Every route has a rule', () => {
  expect(routes.length).toBeGreaterThan(100)
  const names = routes.map(({ method, path }) => `${method} ${path}`)
  expect(names.filter((name) => allowedOn(name).length === 0)).toEqual([])
})

async function sessionOf(who: Who) {
  if (who === 'stranger') return undefined
  if (who === 'installation') return (await newOperator(app, { isAdmin: true })).signIn()
  return (await newOperator(app, who === 'nowhere' ? {} : { roles: { [tenantId]: who } })).signIn()
}

test.each(ALL)('A request of %s is accepted exactly where a rule allows it', async (who) => {
  const { open, send } = pagesOf(app, (await sessionOf(who))?.cookie)
  const wrong: string[] = []
  for (const { method, path } of routes) {
    const request = method === 'POST' ? send : open
    const { status, location } = await request(path.replaceAll(/:\w+/g, UNKNOWN_ID))
    const mustSignIn = status === 303 && location?.includes('/console/login?')
    const isAccepted = status !== 401 && status !== 403 && !mustSignIn
    const isAllowed = allowedOn(`${method} ${path}`).includes(who)
    if (isAccepted !== isAllowed) wrong.push(`${method} ${path}: ${status}`)
  }
  expect(wrong).toEqual([])
})

test('Admins open pages of the installation only after switching to it', async () => {
  const { open, actIn } = await app.signIn({ isAdmin: true, roles: { [tenantId]: 'owner' } })
  await actIn(tenantId)
  for (const path of routesIn(app, 'GET').filter((path) => path.startsWith('/console/admin/'))) {
    const { status, text } = await open(path.replaceAll(/:\w+/g, UNKNOWN_ID))
    const words = 'switch to the installation to open its pages'
    expect([path, status, text.toLowerCase().includes(words)]).toEqual([path, 403, true])
  }
})
