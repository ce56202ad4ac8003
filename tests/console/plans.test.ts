import { afterAll, expect, test } from 'bun:test'
import { UNKNOWN_ID, useConsole } from './fixture.ts'
import { addOneOfEach, environmentOf, pagesIn, pathOf } from './one-of-each.ts'
import { type Explained, explainer, type Step, watchStatements } from './statements.ts'

/** Lists with filters. */
const FILTERED = `identities?q=ada identities?state=inactive identities?state=active&q=ada
  jobs?q=nightly jobs?state=failing delayed?q=reminder delayed?status=failed
  logins?state=denied logins/users?q=ada endpoints?q=hooks endpoints?state=failing
  messages?event_type=order.paid deliveries?status=failed deliveries?endpoint=${UNKNOWN_ID}
  deliveries?status=failed&endpoint=${UNKNOWN_ID} event-types?q=order keys?engine=relay
  audit?action=key audit/export?format=csv audit?since=2026-01-01T00:00:00Z
  find?q=${UNKNOWN_ID} find?q=ada@example.com find?q=svc_live usage?month=2026-02
  admin/tenants?q=acme admin/tenants?status=suspended admin/mail?state=failed
  admin/mail?tenant=installation admin/operators?q=ada admin/operators?admin=true`
  .split(/\s+/)
  .map((path) => `/console/${path}`)

/** Indexes and tables of which few rows are read, whatever is stored. */
const FEW: Readonly<Record<string, string>> = {
  attempts_by_delivery: 'of one delivery',
  audit_log_by_time: 'of one period, of the index alone',
  backups_by_time: 'the rows of ninety days',
  console_invitations_by_email: 'to one team',
  console_memberships_by_tenant: 'of one team',
  deliveries_by_message: 'to the endpoints of one tenant',
  endpoints_by_stream: 'a thousand at most',
  instances: 'the running processes',
  passepartout_bots_by_tenant: 'one for each environment',
  gate_social_links_by_identity: 'of one user',
  sqlite_autoindex_clockwork_hours_1: 'of one tenant and some hours',
  sqlite_autoindex_console_memberships_1: 'of one operator',
  sqlite_autoindex_endpoint_hours_1: 'of one endpoint and some hours',
  sqlite_autoindex_gate_credentials_1: 'of one user',
  sqlite_autoindex_skipped_slots_1: 'of one job, a row a day',
  sqlite_autoindex_usage_days_1: 'of one tenant and month',
  sqlite_autoindex_usage_months_1: 'of one tenant',
}

const watch = watchStatements()
afterAll(() => watch[Symbol.dispose]())
const app = await useConsole()
const acme = await app.newTenant()
const parameters = await addOneOfEach(app, acme)
const inTenant = await app.signIn({ isAdmin: true, roles: { [acme.id]: 'owner' } })
const inInstallation = await app.sessionOf(inTenant)
await inInstallation.actIn(null)
const pages = pagesIn(app)

const explain = explainer(app.db.client)
const explained = new Map<string, Explained>()
const pathsOf = new Map<string, string[]>()
const failed: string[] = []
for (const route of [...pages, ...FILTERED]) {
  const session = route.startsWith('/console/admin') ? inInstallation : inTenant
  const path = pathOf(route, parameters)
  const statements = await watch.during(async () => {
    const { status } = await session.in(environmentOf(route)).open(path)
    if (status >= 400 && !/\/(link|invitation)\//.test(path)) failed.push(route)
  })
  for (const statement of statements) {
    if (!explained.has(statement)) explained.set(statement, explain(statement))
    pathsOf.set(statement, [...(pathsOf.get(statement) ?? []), route])
  }
}

const isFew = ({ table, index }: Step) => Object.hasOwn(FEW, index || table)

test('Every page of the console opens with what it shows', () => {
  // The export asks for a format.
  expect(failed).toEqual(['/console/audit/export'])
  expect([pages.length > 50, explained.size > 100]).toEqual([true, true])
})

test('Statements are explained', () => {
  const stepOf = (statement: string) => explain(statement).steps[0]
  expect(stepOf('select * from messages')).toMatchObject({ isScan: true, index: '' })
  expect(stepOf('select * from messages where seq > 1')).toMatchObject({ isRange: true })
  expect(stepOf("select * from messages where id = 'x'")).toMatchObject({ isOne: true })
  expect(stepOf("select * from messages where tenant_id = 'x'")).toMatchObject({ isOne: false })
  expect(explain('select * from messages order by payload')).toMatchObject({ isSorted: true })
})

test.each<[string, (one: Explained, step: Step) => boolean]>([
  ['scans a table', ({ isLimited }, step) => step.isScan && !(step.index && isLimited)],
  [
    'looks for rows of one tenant among those of all',
    ({ isOfTenant }, step) => isOfTenant && step.isRange,
  ],
  [
    'reads or sorts everything where there may be much',
    ({ isLimited, isSorted }, step) => !step.isOne && (!isLimited || isSorted),
  ],
])('No page %s', (_, isWrong) => {
  const wrong = [...explained.values()].flatMap((one) =>
    one.steps
      .filter((step) => !isFew(step) && isWrong(one, step))
      .map(({ text }) => [text, one.statement, pathsOf.get(one.statement)]),
  )
  expect(wrong).toEqual([])
})
