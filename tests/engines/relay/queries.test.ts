import { expect, test } from 'bun:test'
import { createStore as createDeliveryStore } from '../../../src/delivery/store/index.ts'
import { createStore } from '../../../src/engines/relay/store/index.ts'
import { plansOf } from '../../support/plans.ts'

const { plans: PLANS, planWith } = await plansOf(createStore, createDeliveryStore)

/** A walk through something that lies in a table, or in an index of one. */
const isWalk = (step: string) =>
  step.startsWith('SCAN') && !/^SCAN (json_each|some|\(subquery-\d+\))/.test(step)

test('No statement walks through a table', () => {
  const walks = PLANS.filter(({ plan }) =>
    plan.some((step) => isWalk(step) && !/USING (COVERING )?INDEX/.test(step)),
  )

  expect(PLANS.length).toBeGreaterThan(60)
  expect(walks).toEqual([])
})

test('Only the small indexes of leases and of endpoints that recover are walked through', () => {
  const walks = PLANS.flatMap(({ plan }) => plan.filter(isWalk))

  expect(walks.toSorted()).toEqual([
    // Once for each of the two queues.
    'SCAN deliveries USING INDEX deliveries_leased',
    'SCAN deliveries USING INDEX deliveries_leased',
    'SCAN endpoint_health USING INDEX endpoint_health_releasing',
  ])
})

test('Rows are counted up to a limit', () => {
  const counted = PLANS.filter(({ plan }) => plan.some((step) => step.startsWith('CO-ROUTINE')))

  expect(counted.length).toBeGreaterThan(0)
  expect(counted.filter(({ statement }) => !/limit \+?(\?|\$\w+)\)/.test(statement))).toEqual([])
})

/** The hours of a day of a thousand endpoints, and two hundred deliveries of one. */
const BOUNDED = ['group by h.hour', 'order by (select max(a.seq) from attempts a']

test('Nothing is sorted after it was found, but for the few deliveries of one message', () => {
  const sorted = PLANS.filter(({ plan }) => plan.some((step) => step.includes('B-TREE')))
  const isOfMany = ({ statement }: { statement: string }) =>
    !/\bmessage_seq"? = (\?|\$\w+)/.test(statement) &&
    !BOUNDED.some((part) => statement.includes(part))

  expect(sorted.filter(isOfMany)).toEqual([])
})

test.each<[what: string, parts: string[], index: string]>([
  [
    'messages',
    ['"accepted_at" from', 'desc limit', '"seq" <'],
    'messages_by_stream (tenant_id=? AND stream=? AND seq<?)',
  ],
  [
    'messages of a type',
    ['"messages"."type" = ?'],
    'messages_by_type (tenant_id=? AND stream=? AND type=? AND seq<?)',
  ],
  [
    'messages of a replay',
    ['"messages"."seq" <= ?', 'order by'],
    'messages_by_stream (tenant_id=? AND stream=? AND seq>? AND seq<?)',
  ],
  ['the place of a time', ['"accepted_at" desc'], 'messages_by_time (accepted_at<?)'],
  ['expired messages', ['"accepted_at" asc'], 'messages_by_time (accepted_at<?)'],
  [
    'deliveries of a message',
    ['"deliveries"."message_seq" = ? and +"deliveries"'],
    'deliveries_by_message (message_seq=?)',
  ],
  [
    'deliveries of an endpoint',
    ['"endpoint_id" = ? and "deliveries"."seq" < ?'],
    'deliveries_by_endpoint (endpoint_id=? AND seq<?)',
  ],
  [
    'failed deliveries',
    [`"deliveries"."state" = 'failed'`],
    'deliveries_failed (tenant_id=? AND stream=? AND seq<?)',
  ],
  [
    'one delivery',
    ['"message_seq" = ? and "deliveries"."endpoint_id" = ?'],
    'deliveries_by_message (message_seq=? AND endpoint_id=?)',
  ],
  [
    'the first that waits',
    ['select "due_at" as "dueAt" from "deliveries"'],
    'deliveries_waiting (line=?)',
  ],
  [
    'what comes due',
    [`"state" = 'waiting'`, '"due_at" <= ?'],
    'deliveries_waiting (line=? AND due_at<?)',
  ],
  [
    'the next lane',
    ['"deliveries"."due_at") >'],
    'deliveries_ready (line=? AND (tenant_id,endpoint_id,due_at)>(?,?,?))',
  ],
  [
    'what is ready in a lane',
    [`"state" = 'ready'`, '"due_at" asc, "deliveries"."seq" asc'],
    'deliveries_ready (line=? AND tenant_id=? AND endpoint_id=?)',
  ],
  [
    'what is under way',
    [`"state" = 'leased' and "deliveries"."endpoint_id" = ?`],
    'deliveries_leased (endpoint_id=?)',
  ],
  ['lost leases', ['not in (select value from json_each'], 'INDEX deliveries_leased'],
  [
    'what is held',
    ["state = 'held'", 'order by due_at, seq limit'],
    'deliveries_held (endpoint_id=?)',
  ],
  ['what waits for an endpoint', ['union all'], 'deliveries_waiting_by_endpoint (endpoint_id=?)'],
  ['breakers to be tried', ['"open_until" <= ?'], 'endpoint_health_open (open_until<?)'],
  ['attempts', ['"attempts"."delivery_seq" = ?'], 'attempts_by_delivery (delivery_seq=?)'],
  ['the hours of an endpoint', ['"hour" >= ?'], '(endpoint_id=? AND hour>? AND hour<?)'],
  ['old hours', ['hour < ?', 'limit'], 'endpoint_hours_by_time (hour<?)'],
  ['expired keys', ['expires_at <= ?'], 'relay_idempotency_keys_expired (expires_at<?)'],
  ['old event types', ['last_seen_at < ?'], 'relay_event_types_by_time (last_seen_at<?)'],
])('An index leads to %s', (_, parts, index) => {
  expect(planWith(...parts)).toContain(index)
})
