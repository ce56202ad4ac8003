import { expect, test } from 'bun:test'
import { createStore } from '../../../src/engines/gate/store.ts'
import { bootTestApp } from '../../support/app.ts'
import { plansOf } from '../../support/plans.ts'
import type { Json } from './fixture.ts'

const { plans: PLANS, planWith } = await plansOf(createStore)

/** Each reference between tables, and the index that begins with its column. */
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

const TABLES = [
  'identities',
  'addresses',
  'credentials',
  'sessions',
  'access_tokens',
  'decisions',
  'settings',
  'flows',
  'codes',
  'social_links',
  'round_trips',
  'erasures',
]

test('every statement of the store is looked at', () => {
  expect(PLANS.length).toBeGreaterThan(55)
  for (const table of TABLES)
    expect(PLANS.some(({ statement }) => statement.includes(`"gate_${table}"`))).toBe(true)
})

/**
 * Rows wait there only while deliveries are under way, and a page of them is asked for. What is counted
 * up to a limit is walked through in memory, where there is no more of it.
 */
test('nothing is walked through but the first of the pending erasures, and what is counted', () => {
  expect(stepsWith('SCAN').map(({ step }) => step)).toEqual([
    'SCAN some',
    'SCAN gate_erasures USING INDEX gate_erasures_open',
  ])
  for (const { statement } of stepsWith('SCAN')) expect(statement).toMatch(/limit \?(\) "some")?$/)
})

/** Of the first a person has one a provider, of the second a flow has ten at most. */
test('nothing is sorted after it was found but what is never more than a few, and no index is made for the occasion', () => {
  expect(stepsWith('B-TREE').map(({ statement }) => statement)).toEqual([
    expect.stringMatching(/from "gate_social_links" where .*"identity_id" = \?\) order by/),
    expect.stringMatching(/from gate_round_trips\s+where tenant_id = \? and flow_id = \?/),
  ])
  expect(stepsWith('AUTOMATIC')).toEqual([])
})

test('every look-up goes through an index or by row id', () => {
  const others = PLANS.flatMap(({ plan }) => plan).filter(
    (step) =>
      step.startsWith('SEARCH') && !/USING (COVERING )?INDEX|USING INTEGER PRIMARY/.test(step),
  )
  expect(others).toEqual([])
})

test('a deletion goes through an index of each table that refers to the row', () => {
  expect(planWith('delete from "gate_identities"').split('; ').toSorted()).toEqual([
    'SEARCH console_admins USING COVERING INDEX sqlite_autoindex_console_admins_1 (operator_id=?)',
    'SEARCH console_links USING COVERING INDEX console_links_by_operator (operator_id=?)',
    'SEARCH console_memberships USING COVERING INDEX sqlite_autoindex_console_memberships_1 (operator_id=?)',
    'SEARCH gate_addresses USING COVERING INDEX gate_addresses_identity_id_unique (identity_id=?)',
    'SEARCH gate_codes USING COVERING INDEX gate_codes_by_identity (identity_id=?)',
    'SEARCH gate_credentials USING COVERING INDEX sqlite_autoindex_gate_credentials_1 (identity_id=?)',
    'SEARCH gate_flows USING COVERING INDEX gate_flows_by_identity (identity_id=?)',
    'SEARCH gate_identities USING INDEX gate_identities_id_unique (id=?)',
    'SEARCH gate_sessions USING COVERING INDEX gate_sessions_by_identity (identity_id=?)',
    'SEARCH gate_social_links USING COVERING INDEX gate_social_links_by_identity (identity_id=?)',
  ])
  expect(planWith('delete from "gate_flows"', 'expires_at < ?').split('; ').toSorted()).toEqual([
    'LIST SUBQUERY 1',
    'SEARCH gate_codes USING COVERING INDEX gate_codes_by_flow (flow_id=?)',
    'SEARCH gate_flows USING COVERING INDEX sqlite_autoindex_gate_flows_1 (id=?)',
    'SEARCH gate_flows USING INDEX gate_flows_by_expiry (expires_at<?)',
    'SEARCH gate_round_trips USING COVERING INDEX gate_round_trips_by_flow (flow_id=?)',
  ])
})

test('each table that goes with another one is found by an index that begins with what it refers to', async () => {
  const references = await foreignKeysOf('gate_')

  expect(references.length).toBeGreaterThan(10)
  expect(references.filter(({ index }) => index === undefined)).toEqual([])
})

test('introspection is one look-up of one row', () => {
  expect(planWith('select "subject", "generation"')).toBe(
    'SEARCH gate_access_tokens USING INDEX gate_access_tokens_hash_unique (hash=?)',
  )
})

test('whoami is three', () => {
  expect(planWith('"gate_sessions"."token_hash" = ?')).toBe(
    [
      'SEARCH gate_sessions USING INDEX gate_sessions_token_hash_unique (token_hash=?)',
      'SEARCH gate_identities USING INDEX gate_identities_id_unique (id=?)',
      'SEARCH gate_addresses USING INDEX gate_addresses_identity_id_unique (identity_id=?)',
    ].join('; '),
  )
})

test('a search by address has one lower bound, where the index begins', () => {
  const { statement } = PLANS.find(({ plan }) => plan.some((step) => /email>\?/.test(step))) ?? {}
  expect(statement?.match(/"email" >=? /g)).toHaveLength(1)
  expect(statement?.match(/"email" < /g)).toHaveLength(1)
})

test.each([
  [
    'one of the people',
    ['"session_generation", "token_generation"', '"gate_identities"."id" = ?'],
    'gate_identities_id_unique (id=?)',
  ],
  ['whose they are', ['select "tenant_id" from'], 'gate_identities_id_unique (id=?)'],
  [
    'one by address',
    ['"gate_identities"."email" = ?'],
    'gate_identities_by_email (tenant_id=? AND email=?)',
  ],
  [
    'the people of a tenant',
    ['from "gate_identities"', '"gate_identities"."tenant_id" = ? and "gate_identities"."seq" < ?'],
    'gate_identities_by_tenant (tenant_id=? AND seq<?)',
  ],
  [
    'those in a state',
    ['"gate_identities"."state" = ? and "gate_identities"."seq" < ?'],
    'gate_identities_by_state (tenant_id=? AND state=? AND seq<?)',
  ],
  [
    'those whose address begins so',
    ['order by "gate_identities"."email"'],
    'gate_identities_by_email (tenant_id=? AND email>? AND email<?)',
  ],
  [
    'the address of a person',
    ['from "gate_addresses"'],
    'gate_addresses_identity_id_unique (identity_id=?)',
  ],
  [
    'credentials of a person, in order',
    ['order by "gate_credentials"."type"'],
    'sqlite_autoindex_gate_credentials_1 (identity_id=?)',
  ],
  [
    'one credential of a person',
    ['select', 'from "gate_credentials"', '"gate_credentials"."type" = ?'],
    'sqlite_autoindex_gate_credentials_1 (identity_id=? AND type=?)',
  ],
  [
    'one to be removed',
    ['delete from "gate_credentials"', '"gate_credentials"."type" = ?'],
    'sqlite_autoindex_gate_credentials_1 (identity_id=? AND type=?)',
  ],
  [
    'all to be removed',
    ['delete from "gate_credentials" where ("gate_credentials"'],
    'sqlite_autoindex_gate_credentials_1 (identity_id=?)',
  ],
  [
    'live sessions of a person',
    ['"gate_sessions"."generation" = ?', 'order by'],
    'gate_sessions_by_identity (identity_id=? AND generation=?)',
  ],
  [
    'a session and whose it is',
    ['inner join', '"gate_sessions"."id" = ?'],
    'gate_sessions_id_unique (id=?)',
  ],
  [
    'a session to be ended',
    ['update "gate_sessions" set "revoked_at"'],
    'gate_sessions_id_unique (id=?)',
  ],
  [
    'one that is proven anew',
    ['update "gate_sessions" set "assurance_level"'],
    'gate_sessions_id_unique (id=?)',
  ],
  [
    'one that gets another token',
    ['update "gate_sessions" set "token_hash"'],
    'gate_sessions_id_unique (id=?)',
  ],
  [
    'one that is kept when others end',
    ['update "gate_sessions" set "generation"'],
    'gate_sessions_id_unique (id=?)',
  ],
  [
    'sessions beyond those that are kept',
    ['delete from "gate_sessions"', 'offset ?'],
    'gate_sessions_by_identity (identity_id=?)',
  ],
  [
    'expired sessions',
    ['delete from "gate_sessions"', 'expires_at < ?'],
    'gate_sessions_by_expiry (expires_at<?)',
  ],
  [
    'a token to be revoked',
    ['update "gate_access_tokens"'],
    'gate_access_tokens_hash_unique (hash=?)',
  ],
  [
    'expired tokens',
    ['delete from "gate_access_tokens"', 'expires_at < ?'],
    'gate_access_tokens_by_expiry (expires_at<?)',
  ],
  [
    'tokens of somebody who is gone',
    ['delete from "gate_access_tokens"', 'subject = ?'],
    'gate_access_tokens_by_subject (tenant_id=? AND subject=?)',
  ],
  ['a decision', ['"gate_decisions"."id" = ?'], 'gate_decisions_id_unique (id=?)'],
  [
    'decisions of a tenant',
    ['"gate_decisions"."tenant_id" = ? and "gate_decisions"."seq" < ?'],
    'gate_decisions_by_tenant (tenant_id=? AND seq<?)',
  ],
  [
    'those about a subject',
    ['"gate_decisions"."subject" = ?'],
    'gate_decisions_by_subject (tenant_id=? AND subject=? AND seq<?)',
  ],
  ['old decisions', ['delete from "gate_decisions"'], 'gate_decisions_by_time (at<?)'],
  [
    'settings of a tenant',
    ['from "gate_settings"'],
    'sqlite_autoindex_gate_settings_1 (tenant_id=?)',
  ],
  ['a flow', ['select "id"', 'from "gate_flows"'], 'sqlite_autoindex_gate_flows_1 (id=?)'],
  ['one that goes on', ['update "gate_flows" set "state"'], 'sqlite_autoindex_gate_flows_1 (id=?)'],
  [
    'those of one kind that are about somebody',
    ['delete from "gate_flows"', '"gate_flows"."kind" = ?'],
    'gate_flows_by_identity (identity_id=?)',
  ],
  [
    'expired flows',
    ['delete from "gate_flows"', 'expires_at < ?'],
    'gate_flows_by_expiry (expires_at<?)',
  ],
  [
    'those in which a code went to an address',
    ['delete from "gate_flows"', '"gate_flows"."address" = ?'],
    'gate_flows_by_address (tenant_id=? AND address=?)',
  ],
  ['the code of a flow', ['select', 'from "gate_codes"'], 'gate_codes_by_flow (flow_id=?)'],
  [
    'one that is used',
    ['delete from "gate_codes"', '"gate_codes"."flow_id" = ?'],
    'gate_codes_by_flow (flow_id=?)',
  ],
  [
    'codes of a person',
    ['delete from "gate_codes"', '"gate_codes"."identity_id" = ?)'],
    'gate_codes_by_identity (identity_id=?)',
  ],
  [
    'those of one kind',
    ['delete from "gate_codes"', '"gate_codes"."identity_id" = ? and exists'],
    'gate_codes_by_identity (identity_id=?); CORRELATED SCALAR SUBQUERY 1; SEARCH gate_flows USING INDEX sqlite_autoindex_gate_flows_1 (id=?)',
  ],
  [
    'an account elsewhere',
    ['select', 'from "gate_social_links"', '"gate_social_links"."subject" = ?'],
    'sqlite_autoindex_gate_social_links_1 (tenant_id=? AND provider=? AND subject=?)',
  ],
  [
    'accounts of a person elsewhere',
    ['from "gate_social_links"', 'order by'],
    'gate_social_links_by_identity (identity_id=?)',
  ],
  [
    'all of them to be removed',
    ['delete from "gate_social_links" where ("gate_social_links"'],
    'gate_social_links_by_identity (identity_id=?)',
  ],
  // By the provider alone it would go through everybody who signs in there.
  [
    'the one at a provider to be removed',
    ['delete from "gate_social_links"', '"gate_social_links"."provider" = ?'],
    'gate_social_links_by_identity (identity_id=?',
  ],
  [
    'a browser that is away',
    ['select', 'from "gate_round_trips"'],
    'sqlite_autoindex_gate_round_trips_1 (state_hash=?)',
  ],
  [
    'one that comes back',
    ['delete from "gate_round_trips" where "gate_round_trips"'],
    'sqlite_autoindex_gate_round_trips_1 (state_hash=?)',
  ],
  [
    'those of a flow that are too many',
    ['delete from "gate_round_trips"', 'offset ?'],
    'gate_round_trips_by_flow (flow_id=?)',
  ],
])('%s come from their index', (_, parts, index) => {
  expect(planWith(...parts)).toContain(index)
})
