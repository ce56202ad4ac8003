import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { formBody } from '../support/form.ts'
import { newOperator } from '../support/operator.ts'
import { type ServedApp, servedApp } from './console-fixture.ts'

type Who = 'owner' | 'member' | 'viewer' | 'installation' | 'nobody' | 'stranger'

/** Who may use a route, by what it is: the first that fits. What fits nothing fails the test. */
const RULES: [RegExp, readonly Who[]][] = [
  // Whoever has no session yet, or knows a secret address.
  [/^(GET|POST) \/setup\//, ['owner', 'member', 'viewer', 'installation', 'nobody', 'stranger']],
  [
    /^(GET|POST) \/console\/(login|enter|link|invitation)\b/,
    ['owner', 'member', 'viewer', 'installation', 'nobody', 'stranger'],
  ],
  // Whoever is signed in, wherever they act.
  [
    /^GET \/console(\/(find|joined))?$|^(GET|POST) \/console\/account\b|^POST \/console\/(theme|environment|sign-out)$/,
    ['owner', 'member', 'viewer', 'installation', 'nobody'],
  ],
  [/ \/console\/admin\//, ['installation']],
  [/ \/console\/(keys\b|first-key$)/, ['owner']],
  [/^POST \/console\/team\/leave$/, ['owner', 'member', 'viewer']],
  [/^POST \/console\/team\b|^GET \/console\/team\/invite$/, ['owner']],
  [/^POST \/console\/(usage\/cap|settings)\b/, ['owner']],
  [/^POST .*\/(delete|remove)$/, ['owner']],
  [/^POST \/console\/delayed\/:id\/cancel$/, ['owner']],
  [/^GET .*\/(new|edit)$/, ['owner', 'member']],
  [/^POST /, ['owner', 'member']],
  [/^GET \/console\//, ['owner', 'member', 'viewer']],
]

/** What the rules above would say otherwise. */
const EXCEPTIONS: Record<string, readonly Who[]> = {
  // Behind a sign-up, for whoever owns the tenant that came with it.
  'GET /console/welcome': ['owner'],
  'POST /console/welcome': ['owner'],
  // The dry run, for whoever may replay.
  'GET /console/endpoints/:id/replay': ['owner', 'member'],
  // A way to sign in is taken away, not a person.
  'POST /console/identities/:id/credentials/:part/remove': ['owner', 'member'],
  'POST /console/identities/:id/accounts/:part/remove': ['owner', 'member'],
}

let app: ServedApp
const cookies = {} as Record<Who, string | undefined>
let routes: string[]

beforeAll(async () => {
  app = await servedApp()
  const acme = await app.tenant('Acme')
  for (const role of ['owner', 'member', 'viewer'] as const)
    cookies[role] = (await (await newOperator(app, { roles: { [acme.id]: role } })).signIn()).cookie
  cookies.installation = (await (await newOperator(app, { isAdmin: true })).signIn()).cookie
  cookies.nobody = (await (await newOperator(app)).signIn()).cookie
  // Where one may act is decided by the place that is asked for: entry.test.ts.
  routes = app.app.routes
    .filter(({ path }) => /^\/(console|setup)(\/|$)/.test(path))
    .map(({ method, path }) => `${method} ${path}`)
    .filter((route) => !['POST /console/switch', 'POST /console/resubmit'].includes(route))
})

afterAll(() => app[Symbol.asyncDispose]())

const allowedOn = (route: string): readonly Who[] =>
  EXCEPTIONS[route] ?? RULES.find(([pattern]) => pattern.test(route))?.[1] ?? []

const UNKNOWN = '01890000-0000-7000-8000-000000000000'

/** Whether a route lets somebody in, whatever comes of it then. */
async function isLetIn(who: Who, route: string): Promise<boolean> {
  const [method = '', path = ''] = route.split(' ')
  const cookie = cookies[who]
  const answer = await app.raw(path.replaceAll(/:\w+/g, UNKNOWN), {
    method,
    headers: { accept: 'text/html', ...(cookie && { cookie }) },
    ...(method === 'POST' && { body: formBody(app, cookie ? { cookie } : {}) }),
  })
  const location = answer.headers.get('location') ?? ''
  const isSentToSignIn = answer.status === 303 && location.includes('/console/login?')
  return answer.status !== 401 && answer.status !== 403 && !isSentToSignIn
}

describe('who may use which route of the console', () => {
  test('is decided for each of them', () => {
    expect(routes.length).toBeGreaterThan(100)
    expect(routes.filter((route) => allowedOn(route).length === 0)).toEqual([])
  })

  test.each(['stranger', 'nobody', 'viewer', 'member', 'owner', 'installation'] as const)(
    'as %s',
    async (who) => {
      // Ways out come last, as nobody is in any more behind them.
      const inOrder = routes.toSorted((one, other) => wayOut(one) - wayOut(other))
      const wrong: string[] = []
      for (const route of inOrder) {
        const isAllowed = allowedOn(route).includes(who)
        if ((await isLetIn(who, route)) !== isAllowed)
          wrong.push(`${route}: ${isAllowed ? 'refused' : 'let in'}`)
      }
      expect(wrong).toEqual([])
    },
    60_000,
  )
})

const WAYS_OUT = [
  'POST /console/account/end-others',
  'POST /console/team/leave',
  'POST /console/sign-out',
]
const wayOut = (route: string) => WAYS_OUT.indexOf(route)
