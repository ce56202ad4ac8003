import { DataTable } from '../../../data-table.tsx'
import { Section } from '../../../section.tsx'
import { FilterChips } from '../../../tabs.tsx'
import { type ListPlace, pagesAlong } from '../../../trail.ts'
import { url } from '../../../url.ts'
import { DeliveryMark, time, WEBHOOKS } from './state.tsx'
import type { WebhookView } from './webhook.tsx'

/** What a webhook was sent, and what became of that. */
export const Log = ({ base, now, webhook, deliveries, asked, place }: WebhookView) => {
  const path = `${WEBHOOKS}/${webhook.id}`
  const { status } = asked
  const hrefOf = (of: ListPlace) => url(base, path, { status, ...of })
  return (
    <Section
      id="log"
      title="What it was sent"
      note="The latest first; each with what was sent and what came back."
    >
      <FilterChips
        label="Deliveries"
        tabs={[
          { label: 'All', href: url(base, path), isCurrent: !status },
          { label: 'Failed', href: url(base, path, { status: 'failed' }), isCurrent: !!status },
        ]}
      />
      <DataTable
        caption="Deliveries"
        rows={deliveries.data}
        hrefOf={({ id }) => url(base, `${path}/deliveries/${id}`)}
        idOf={({ id }) => id}
        columns={[
          { label: 'Event', isWide: true, cell: ({ event_type: type }) => type },
          { label: 'State', narrow: 'corner', cell: (delivery) => <DeliveryMark {...delivery} /> },
          { label: 'Attempts', align: 'right', cell: ({ attempts }) => attempts },
          {
            label: 'Next attempt',
            align: 'right',
            cell: ({ next_attempt_at: at }) => (at === null ? '–' : time(at, now)),
          },
          { label: 'When', align: 'right', cell: ({ created_at: at }) => time(at, now) },
        ]}
        pages={pagesAlong(place, deliveries.next_cursor, hrefOf)}
        empty={
          deliveries.next_cursor === null ? (
            <p class="hint">
              {status ? 'None has failed.' : 'Nothing yet. Send a test to try it.'}
            </p>
          ) : (
            <p class="hint">
              None among these.{' '}
              <a href={hrefOf({ cursor: deliveries.next_cursor })}>Look further</a>
            </p>
          )
        }
      />
    </Section>
  )
}
