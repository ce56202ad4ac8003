import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type Explained, explainer, type Step } from './explained.ts'
import { type PlansFixture, plansFixture } from './plans-fixture.ts'

/** Lists as somebody narrows them; one that is long in other words than its first page. */
const NARROWED = [
  '/console/identities?q=ada',
  '/console/identities?state=inactive',
  '/console/identities?state=active&q=ada',
  '/console/jobs?q=nightly',
  '/console/jobs?state=failing',
  '/console/delayed?q=reminder',
  '/console/delayed?status=failed',
  '/console/logins?state=denied',
  '/console/logins/users?q=ada',
  '/console/endpoints?q=hooks',
  '/console/endpoints?state=failing',
  '/console/messages?event_type=order.paid',
  '/console/deliveries?status=failed',
  '/console/deliveries?endpoint=01900000-0000-7000-8000-000000000000',
  '/console/deliveries?status=failed&endpoint=01900000-0000-7000-8000-000000000000',
  '/console/event-types?q=order',
  '/console/keys?engine=relay',
  '/console/audit?action=key',
  '/console/audit/export?format=csv',
  '/console/audit?since=2026-01-01T00:00:00Z',
  '/console/find?q=01900000-0000-7000-8000-000000000000',
  '/console/find?q=ada@example.com',
  '/console/find?q=svc_live',
  '/console/usage?month=2026-02',
  '/console/admin/tenants?q=acme',
  '/console/admin/tenants?status=suspended',
  '/console/admin/mail?state=failed',
  '/console/admin/mail?tenant=installation',
  '/console/admin/operators?q=ada',
  '/console/admin/operators?admin=true',
]

/** By which there is little to be found, whatever else is stored: that may be read whole. */
const FEW: Readonly<Record<string, string>> = {
  attempts_by_delivery: 'of one delivery',
  backups_by_time: 'the rows of ninety days',
  console_invitations_by_email: 'to one team',
  console_memberships_by_tenant: 'of one team',
  deliveries_by_message: 'to the endpoints of one tenant',
  endpoints_by_stream: 'a thousand at most',
  instances: 'the processes that run',
  passepartout_bots_by_tenant: 'one an environment',
  gate_social_links_by_identity: 'of one person',
  sqlite_autoindex_clockwork_hours_1: 'of one tenant and some hours',
  sqlite_autoindex_console_memberships_1: 'of one operator',
  sqlite_autoindex_endpoint_hours_1: 'of one endpoint and some hours',
  sqlite_autoindex_gate_credentials_1: 'of one person',
  sqlite_autoindex_skipped_slots_1: 'of one job, a row a day',
  sqlite_autoindex_usage_days_1: 'of one tenant and month',
  sqlite_autoindex_usage_months_1: 'of one tenant',
}

let fixture: PlansFixture
let opened: Awaited<ReturnType<PlansFixture['open']>>[]
let seen: (Explained & { path: string })[]

beforeAll(async () => {
  fixture = await plansFixture()
  opened = []
  for (const path of [...fixture.pages, ...NARROWED]) opened.push(await fixture.open(path))
  const explain = explainer(fixture.client)
  seen = opened.flatMap(({ path, statements }) =>
    statements.map((statement) => ({ path, ...explain(statement) })),
  )
}, 60_000)
afterAll(() => fixture[Symbol.asyncDispose]())

/** What is found in statements, each with the pages that it was found in. */
function pagesWith(found: (one: Explained & { path: string }) => readonly Step[]) {
  const all = seen.flatMap((one) =>
    found(one).map(({ text }) => ({ path: one.path, what: `${text}: ${one.statement}` })),
  )
  return Object.fromEntries(
    Map.groupBy(all, ({ what }) => what)
      .entries()
      .map(([what, pages]) => [what, pages.map(({ path }) => path)]),
  )
}

const isOfFew = ({ table, index }: Step) => Object.hasOwn(FEW, index || table)

describe('what the pages of the console cost does not grow with what is stored', () => {
  test('since each of them was opened, and its statements were seen', () => {
    const refused = opened.filter(({ path, status }) => status >= 400 && !path.includes(':'))
    // As it asks for a format.
    expect(refused.map(({ path }) => path)).toEqual(['/console/audit/export'])
    expect(fixture.pages.length).toBeGreaterThan(50)
    expect(new Set(seen.map(({ statement }) => statement)).size).toBeGreaterThan(100)
  })

  test('and would be told of otherwise', () => {
    const explain = explainer(fixture.client)
    const stepOf = (statement: string) => explain(statement).steps[0]
    expect(stepOf('select * from messages')).toMatchObject({ isWalk: true, index: '' })
    expect(stepOf('select * from messages where seq > 1')).toMatchObject({ isRange: true })
    expect(stepOf("select * from messages where id = 'x'")).toMatchObject({ isOne: true })
    expect(stepOf("select * from messages where tenant_id = 'x'")).toMatchObject({ isOne: false })
    expect(explain('select * from messages order by payload')).toMatchObject({ isSorted: true })
  })

  test('since no table is walked through', () => {
    const walks = pagesWith(({ steps, isLimited }) =>
      steps.filter((step) => step.isWalk && !isOfFew(step) && !(step.index && isLimited)),
    )
    expect(walks).toEqual({})
  })

  test('since rows of one tenant are not looked for among those of all', () => {
    const among = pagesWith(({ steps, isOfTenant }) =>
      isOfTenant ? steps.filter((step) => step.isRange && !isOfFew(step)) : [],
    )
    expect(among).toEqual({})
  })

  test('since nothing is read whole, or sorted, of which there may be much', () => {
    const whole = pagesWith(({ steps, isLimited, isSorted }) =>
      steps.filter((step) => !step.isOne && !isOfFew(step) && (!isLimited || isSorted)),
    )
    expect(whole).toEqual({})
  })
})
