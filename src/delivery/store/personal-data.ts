import { and, desc, eq } from 'drizzle-orm'
import { isoOrNull, isoTime } from '../../platform/clock.ts'
import type { Snapshot } from '../../platform/portable/snapshot.ts'
import { deliveries, messages } from '../schema.ts'

/** The events about a person that were sent to webhooks, without their payloads. */
export const deliveriesAbout = ({ orm }: Snapshot, tenantId: string, about: string) =>
  orm
    .select({
      id: deliveries.id,
      messageId: messages.id,
      type: messages.type,
      state: deliveries.state,
      acceptedAt: messages.acceptedAt,
      succeededAt: deliveries.succeededAt,
    })
    .from(messages)
    .innerJoin(deliveries, eq(deliveries.messageSeq, messages.seq))
    .where(and(eq(messages.tenantId, tenantId), eq(messages.about, about)))
    .orderBy(desc(messages.seq), desc(deliveries.seq))
    .all()
    .map(({ id, messageId, type, state, acceptedAt, succeededAt }) => ({
      id,
      event_id: messageId,
      type,
      state,
      accepted_at: isoTime(acceptedAt),
      succeeded_at: isoOrNull(succeededAt),
    }))
