import { expect, test } from 'bun:test'
import { createStore } from '../../../src/engines/gate/store.ts'
import { bootTestApp } from '../../support/app.ts'
import { plansOf } from '../../support/plans.ts'
import type { Json } from './fixture.ts'

const { plans: PLANS, planWith } = await plansOf(createStore)

/** Foreign keys, and the index that begins with their column. */
async function foreignKeysOf(prefix: string) {
  await using app = await bootTestApp()
  const ask = (pragma: string): Json[] => app.db.client.query(`pragma ${pragma}`).all()
  const tables = ask('table_list').map(({ name }) => name as string)
  return tables
    .filter((table) => table.startsWith(prefix))
    .flatMap((table) =>
      ask(`foreign_key_list(${table})`).map(({ from }) => ({
        table,
        from,
        index: ask(`index_list(${table})`).find(
          ({ name, partial }) => !partial && ask(`index_info(${name})`)[0]?.name === from,
        )?.name,
      })),
    )
}

const stepsWith = (part: string) =>
  PLANS.flatMap(({ statement, plan }) =>
    plan.filter((step) => step.includes(part)).map((step) => ({ step, statement })),
  )

test('Every statement of the store is checked', () => {
  expect(PLANS.length).toBeGreaterThan(55)
  for (const table of [
    ...['identities', 'addresses', 'credentials', 'sessions', 'access_tokens', 'decisions'],
    ...['settings', 'flows', 'codes', 'social_links', 'round_trips', 'erasures'],
  ])
    expect(PLANS.some(({ statement }) => statement.includes(`"gate_${table}"`))).toBe(true)
})

/** A list of values, and the names of tables. */
const SHORT = /^SCAN (json_each|sqlite_schema)/

test('Only pending erasures and limited counts are scanned', () => {
  const scans = stepsWith('SCAN').filter(({ step }) => !SHORT.test(step))
  expect(scans.map(({ step }) => step)).toEqual([
    'SCAN some',
    'SCAN some',
    'SCAN gate_erasures USING INDEX gate_erasures_open',
  ])
  for (const { statement } of scans) expect(statement).toMatch(/limit \?(\) "some")?$/)
})

test('Only the few links of an identity and round trips of a flow are sorted', () => {
  expect(stepsWith('B-TREE').map(({ statement }) => statement)).toEqual([
    expect.stringMatching(/from "gate_social_links" where .*"identity_id" = \?\) order by/),
    expect.stringMatching(/from gate_round_trips\s+where tenant_id = \? and flow_id = \?/),
  ])
  expect(stepsWith('AUTOMATIC')).toEqual([])
})

test('Every lookup and every foreign key has an index', async () => {
  // The largest row number is where the table ends.
  const others = PLANS.filter(({ statement }) => !/select max\("seq"\)/.test(statement))
    .flatMap(({ plan }) => plan)
    .filter(
      (step) =>
        step.startsWith('SEARCH') && !/USING (COVERING )?INDEX|USING INTEGER PRIMARY/.test(step),
    )
  expect(others).toEqual([])
  const references = await foreignKeysOf('gate_')
  expect(references.length).toBeGreaterThan(10)
  expect(references.filter(({ index }) => index === undefined)).toEqual([])
})

test('Introspection is one lookup, and whoami three', () => {
  expect(planWith('select "subject", "generation"')).toBe(
    'SEARCH gate_access_tokens USING INDEX gate_access_tokens_hash_unique (hash=?)',
  )
  expect(planWith('"gate_sessions"."token_hash" = ?').split('; ')).toEqual([
    'SEARCH gate_sessions USING INDEX gate_sessions_token_hash_unique (token_hash=?)',
    'SEARCH gate_identities USING INDEX gate_identities_id_unique (id=?)',
    'SEARCH gate_addresses USING INDEX gate_addresses_identity_id_unique (identity_id=?)',
  ])
})

test('A search by address has one range of the index', () => {
  const { statement } = PLANS.find(({ plan }) => plan.some((step) => /email>\?/.test(step))) ?? {}
  expect(statement?.match(/"email" >=? /g)).toHaveLength(1)
  expect(statement?.match(/"email" < /g)).toHaveLength(1)
})

const IDENTITIES = '"gate_identities"'
const DECISIONS = '"gate_decisions"'

test.each([
  ['"created_at" = ? and | "seq" < ?', '_by_creation (tenant_id=? AND created_at=? AND seq<?'],
  ['"last_sign_in_at" < ? | order', '_by_sign_in (tenant_id=? AND last_sign_in_at>?'],
  ['"state" = ? and ("gate_identities"."created_at" = ?', '_state_and_creation (tenant_id=? AND'],
  [`${IDENTITIES}."email" = ?`, 'gate_identities_by_email (tenant_id=? AND email=?)'],
  [`${IDENTITIES}."tenant_id" = ? and ${IDENTITIES}."seq" < ?`, '_tenant (tenant_id=? AND seq<?)'],
  [`${IDENTITIES}."state" = ? and`, '_by_state (tenant_id=? AND state=? AND seq<?)'],
  [`order by ${IDENTITIES}."email"`, '_by_email (tenant_id=? AND email>? AND email<?)'],
  ['"gate_sessions"."generation" = ? | order by', '_identity (identity_id=? AND generation=?)'],
  ['delete from "gate_sessions" | offset ?', 'gate_sessions_by_identity (identity_id=?)'],
  ['delete from "gate_sessions" | expires_at < ?', 'gate_sessions_by_expiry (expires_at<?)'],
  ['delete from "gate_access_tokens" | expires_at < ?', '_by_expiry (expires_at<?)'],
  ['delete from "gate_access_tokens" | subject = ?', '_by_subject (tenant_id=? AND subject=?)'],
  [`"is_allowed" = ?) and ${DECISIONS}."seq"`, '_by_result (tenant_id=? AND is_allowed=? AND seq>'],
  [
    `${DECISIONS}."subject" = ?`,
    '_and_result (tenant_id=? AND subject=? AND is_allowed=? AND seq>',
  ],
  [`delete from ${DECISIONS}`, 'gate_decisions_by_time (at<?)'],
  ['delete from "gate_flows" | "gate_flows"."kind" = ?', '_by_identity (identity_id=?)'],
  ['delete from "gate_flows" | expires_at < ?', 'gate_flows_by_expiry (expires_at<?)'],
  ['delete from "gate_flows" | "address" = ?', '_by_address (tenant_id=? AND address=?)'],
  ['delete from "gate_codes" | "gate_codes"."identity_id" = ?)', '_by_identity (identity_id=?)'],
  ['from "gate_social_links" | "subject" = ?', '(tenant_id=? AND provider=? AND subject=?)'],
  ['from "gate_social_links" | order by', 'gate_social_links_by_identity (identity_id=?)'],
  ['delete from "gate_social_links" | "provider" = ?', '_by_identity (identity_id=?'],
  ['delete from "gate_round_trips" | offset ?', 'gate_round_trips_by_flow (flow_id=?)'],
])('%s uses %s', (parts, index) => expect(planWith(...parts.split(' | '))).toContain(index))
