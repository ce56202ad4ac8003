import { expect, test } from 'bun:test'
import { createStore } from '../../../src/engines/gate/store/index.ts'
import { plansOf } from '../../support/plans.ts'

const { plans: PLANS, planWith } = await plansOf(createStore)

const stepsWith = (part: string) =>
  PLANS.flatMap(({ statement, plan }) =>
    plan.filter((step) => step.includes(part)).map((step) => ({ step, statement })),
  )

test('every statement of the store is looked at', () => {
  expect(PLANS.length).toBeGreaterThan(35)
  for (const table of ['identities', 'sessions', 'access_tokens', 'decisions', 'flows'])
    expect(PLANS.some(({ statement }) => statement.includes(`"gate_${table}"`))).toBe(true)
})

/** Rows wait there only while deliveries are under way, and a page of them is asked for. */
test('nothing is walked through but the first of the pending erasures', () => {
  expect(stepsWith('SCAN').map(({ step }) => step)).toEqual([
    'SCAN gate_erasures USING INDEX gate_erasures_open',
  ])
  expect(stepsWith('SCAN')[0]?.statement).toEndWith('limit ?')
})

test('nothing is sorted after it was found, and no index is made for the occasion', () => {
  expect(stepsWith('B-TREE')).toEqual([])
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
    'SEARCH gate_addresses USING COVERING INDEX gate_addresses_identity_id_unique (identity_id=?)',
    'SEARCH gate_codes USING COVERING INDEX gate_codes_by_identity (identity_id=?)',
    'SEARCH gate_credentials USING COVERING INDEX sqlite_autoindex_gate_credentials_1 (identity_id=?)',
    'SEARCH gate_flows USING COVERING INDEX gate_flows_by_identity (identity_id=?)',
    'SEARCH gate_identities USING INDEX gate_identities_id_unique (id=?)',
    'SEARCH gate_sessions USING COVERING INDEX gate_sessions_by_identity (identity_id=?)',
  ])
  expect(planWith('delete from "gate_flows"')).toContain('gate_codes_by_flow (flow_id=?)')
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
    ['from "gate_credentials"'],
    'sqlite_autoindex_gate_credentials_1 (identity_id=?)',
  ],
  [
    'live sessions of a person',
    ['"gate_sessions"."generation" = ?', 'order by'],
    'gate_sessions_by_identity (identity_id=? AND generation=?)',
  ],
  ['a session to be ended', ['update "gate_sessions"'], 'gate_sessions_id_unique (id=?)'],
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
  ['expired flows', ['delete from "gate_flows"'], 'gate_flows_by_expiry (expires_at<?)'],
  ['codes of a person', ['delete from "gate_codes"'], 'gate_codes_by_identity (identity_id=?)'],
])('%s come from their index', (_, parts, index) => {
  expect(planWith(...parts)).toContain(index)
})
