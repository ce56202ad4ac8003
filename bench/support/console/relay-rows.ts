import { ENDPOINTS_PER_STREAM } from '../../../src/delivery/limits.ts'
import { EVENT_TYPES_SEEN } from '../../../src/engines/relay/limits.ts'
import { TYPE } from '../relay.ts'
import { type Filling, type Ground, HASH, oneIn10 } from './filling.ts'

const HOURS = 24
const HOUR_MS = 3_600_000

/** As many endpoints as there may be, and what was delivered to them; a tenth of it to one. */
export function relayRows({ first, both, ids, owner, at, created }: Ground): Filling[] {
  const endpoints = 2 * ENDPOINTS_PER_STREAM
  const types = 2 * EVENT_TYPES_SEEN
  const endpointOf = (i: string) => oneIn10(i, first.endpoint, ids.endpoint(`${i} % ${endpoints}`))
  const typeOf = (i: string) => `printf('order.kind%05d', ${i} % ${types} / 2)`
  return [
    {
      table: 'endpoints',
      of: first.endpoint,
      count: endpoints,
      columns: (i) => ({
        id: ids.endpoint(i),
        ...owner(i),
        ...created(i),
        url: `'https://hooks-' || ${i} || '.example.com/in'`,
      }),
    },
    {
      table: 'endpoint_hours',
      of: first.endpoint,
      by: 'endpoint_id',
      count: HOURS * endpoints,
      columns: (i) => ({
        endpoint_id: ids.endpoint(`${i} / ${HOURS}`),
        hour: `row.hour - (${i} % ${HOURS}) * ${HOUR_MS}`,
      }),
    },
    {
      table: 'messages',
      of: first.message,
      count: both,
      columns: (i) => ({
        id: ids.message(i),
        ...owner(i),
        type: `iif(${i} % 20 < 10, '${TYPE}', ${typeOf(i)})`,
        idempotency_key: HASH,
        accepted_at: at(i),
      }),
    },
    {
      table: 'deliveries',
      of: `${first.deliverySeq}`,
      by: 'seq',
      count: both,
      columns: (i) => ({
        id: ids.delivery(i),
        ...owner(i),
        message_seq: `row.message_seq + 1 + ${i}`,
        endpoint_id: endpointOf(i),
        state: `iif(${i} % 200 < 2, 'failed', 'succeeded')`,
        attempts: '1',
        tries: '1',
        created_at: at(i),
        ended_at: at(i),
      }),
    },
    {
      table: 'attempts',
      of: first.attempt,
      count: both,
      columns: (i) => ({
        id: ids.attempt(i),
        ...owner(i),
        delivery_seq: `row.delivery_seq + 1 + ${i}`,
        started_at: at(i),
      }),
    },
    {
      table: 'relay_event_types',
      of: TYPE,
      by: 'name',
      count: types,
      columns: (i) => ({
        ...owner(i),
        name: `printf('order.kind%05d', (${types} - 1 - ${i}) / 2)`,
        last_seen_at: at(i),
      }),
    },
  ]
}
