import type { Db } from '../../db/open.ts'
import type { Stream } from '../stream.ts'
import type { EndpointSummary } from './endpoints.ts'
import type { DeliveryRow } from './rows.ts'

/** A delivery's stages in the order of pages: those that need attention come first. */
export const STAGES = ['failed', 'retrying', 'held', 'under way', 'cancelled', 'delivered'] as const
export type Stage = (typeof STAGES)[number]

export type SentRow = Pick<
  DeliveryRow,
  'seq' | 'id' | 'endpointId' | 'state' | 'tries' | 'attempts' | 'dueAt' | 'createdAt' | 'endedAt'
> & {
  stage: number
  /** Null if the endpoint is deleted. */
  url: string | null
  isActive: number | null
}

type UnreachedRow = EndpointSummary & { seq: number }

type InMessage = { tenantId: string; messageSeq: number }

/** SQL for the position of a delivery in `STAGES`. */
const STAGE = `case state when 'failed' then 0 when 'held' then 2 when 'leased' then 3
  when 'cancelled' then 4 when 'succeeded' then 5 else iif(tries > 0, 1, 3) end`

/** A message's deliveries are bounded by a tenant's endpoints, so every query here is too. */
const OF_MESSAGE = 'message_seq = $messageSeq and +tenant_id = $tenantId'

const UNREACHED = `from endpoints e where e.tenant_id = $tenantId and e.stream = $name and e.deleted_at is null
  and not exists (select 1 from deliveries d where d.message_seq = $messageSeq and d.endpoint_id = e.id)`

/** The deliveries of a message and the endpoints without one, page by page. */
export function createFanOutStore({ client }: Db) {
  const counts = client.prepare<{ stage: number; count: number }, InMessage>(
    `select stage, count(*) as count
      from (select ${STAGE} as stage from deliveries where ${OF_MESSAGE}) group by stage`,
  )
  const sent = client.prepare<
    SentRow,
    InMessage & { stage: number; seq: number; first: number; last: number; limit: number }
  >(
    `select some.*, e.url, e.is_active as isActive from (
        select * from (
          select ${STAGE} as stage, seq, id, endpoint_id as endpointId, state, tries, attempts,
            due_at as dueAt, created_at as createdAt, ended_at as endedAt
          from deliveries where ${OF_MESSAGE})
        where (stage, seq) > ($stage, $seq) and stage between $first and $last
        order by stage, seq limit $limit) some
      left join endpoints e on e.id = some.endpointId and e.deleted_at is null
      order by some.stage, some.seq`,
  )
  const unreachedCount = client.prepare<{ count: number }, InMessage & Stream>(
    `select count(*) as count ${UNREACHED}`,
  )
  const unreached = client.prepare<
    Omit<UnreachedRow, 'isActive'> & { isActive: number },
    InMessage & Stream & { after: number; limit: number }
  >(
    `select e.seq, e.id, e.url, e.event_types as eventTypes, e.channels, e.is_active as isActive,
        e.created_at as createdAt ${UNREACHED} and e.seq > $after order by e.seq limit $limit`,
  )

  return {
    counts: (tenantId: string, messageSeq: number): Record<Stage, number> => {
      const found = new Map(
        counts.all({ messageSeq, tenantId }).map(({ stage, count }) => [stage, count]),
      )
      const entries = STAGES.map((stage, index) => [stage, found.get(index) ?? 0] as const)
      return Object.fromEntries(entries) as Record<Stage, number>
    },
    /** By stage, then oldest first, starting after `after`; optionally of one stage only. */
    sent: (
      tenantId: string,
      messageSeq: number,
      page: { after: readonly [stage: number, seq: number]; stage?: Stage; limit: number },
    ): SentRow[] => {
      const only = page.stage === undefined ? undefined : STAGES.indexOf(page.stage)
      const [first, last] = [only ?? 0, only ?? STAGES.length]
      const [stage, seq] = page.after
      return sent.all({ messageSeq, tenantId, stage, seq, first, last, limit: page.limit })
    },
    unreachedCount: ({ tenantId, name }: Stream, messageSeq: number): number =>
      unreachedCount.get({ tenantId, name, messageSeq })?.count ?? 0,
    /** Existing endpoints without a delivery of the message, oldest first, after `after`. */
    unreached: (
      { tenantId, name }: Stream,
      messageSeq: number,
      { after, limit }: { after: number; limit: number },
    ): UnreachedRow[] =>
      unreached
        .all({ tenantId, name, messageSeq, after, limit })
        .map((row) => ({ ...row, isActive: row.isActive === 1 })),
  }
}
