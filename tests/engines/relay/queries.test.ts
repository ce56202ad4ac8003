import { expect, test } from 'bun:test'
import { createStore as createDeliveryStore } from '../../../src/delivery/store/index.ts'
import { createStore } from '../../../src/engines/relay/store/index.ts'
import { plansOf } from '../../support/plans.ts'

const { plans: PLANS, planWith } = await plansOf(createStore, createDeliveryStore)

/** A walk through something that lies in a table, or in an index of one. */
const isWalk = (step: string) =>
  step.startsWith('SCAN') && !/^SCAN (json_each|some|\(subquery-\d+\))/.test(step)

test('Only the small indexes of leases and of endpoints that recover are walked through', () => {
  expect(PLANS.length).toBeGreaterThan(60)
  expect(PLANS.flatMap(({ plan }) => plan.filter(isWalk)).toSorted()).toEqual([
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

const OF_STREAM = 'tenant_id=? AND stream=?'
test.each<[index: string, parts: string[]]>([
  [
    `messages_by_stream (${OF_STREAM} AND seq>? AND seq<?)`,
    ['"accepted_at" from', 'desc limit', '"seq" <'],
  ],
  [`messages_by_type (${OF_STREAM} AND type=? AND seq>? AND seq<?)`, ['"messages"."type" = ?']],
  [`messages_by_stream (${OF_STREAM} AND seq>? AND`, ['"messages"."seq" <= ?', 'order by']],
  ['messages_by_time (accepted_at<?)', ['"accepted_at" desc']],
  ['messages_by_time (accepted_at<?)', ['"accepted_at" asc']],
  ['deliveries_by_message (message_seq=?)', ['"deliveries"."message_seq" = ? and +"deliveries"']],
  [
    'deliveries_by_endpoint (endpoint_id=? AND seq>? AND seq<?)',
    ['"endpoint_id" = ? and "deliveries"."seq"'],
  ],
  [`deliveries_failed (${OF_STREAM} AND seq>? AND seq<?)`, [`"deliveries"."state" = 'failed'`]],
  [
    'deliveries_by_message (message_seq=? AND endpoint_id=?)',
    ['"message_seq" = ? and "deliveries"."endpoint_id" = ?'],
  ],
  ['deliveries_waiting (line=?)', ['select "due_at" as "dueAt" from "deliveries"']],
  ['deliveries_waiting (line=? AND due_at<?)', [`"state" = 'waiting'`, '"due_at" <= ?']],
  ['(line=? AND (tenant_id,endpoint_id,due_at)>(?,?,?))', ['"deliveries"."due_at") >']],
  [
    'deliveries_ready (line=? AND tenant_id=? AND endpoint_id=?)',
    [`"state" = 'ready'`, '"due_at" asc,'],
  ],
  ['deliveries_leased (endpoint_id=?)', [`"state" = 'leased' and "deliveries"."endpoint_id" = ?`]],
  ['INDEX deliveries_leased', ['not in (select value from json_each']],
  ['deliveries_held (endpoint_id=?)', ["state = 'held'", 'order by due_at, seq limit']],
  ['deliveries_waiting_by_endpoint (endpoint_id=?)', ['union all']],
  ['endpoint_health_open (open_until<?)', ['"open_until" <= ?']],
  ['attempts_by_delivery (delivery_seq=?)', ['"attempts"."delivery_seq" = ?']],
  ['(endpoint_id=? AND hour>? AND hour<?)', ['"hour" >= ?']],
  ['endpoint_hours_by_time (hour<?)', ['hour < ?', 'limit']],
  ['relay_idempotency_keys_expired (expires_at<?)', ['expires_at <= ?']],
  ['relay_event_types_by_time (last_seen_at<?)', ['last_seen_at < ?']],
])('The index %s serves its query', (index, parts) => {
  expect(planWith(...parts)).toContain(index)
})
