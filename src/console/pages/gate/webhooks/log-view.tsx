import { DataTable } from '../../../../../views/console/data-table.tsx'
import { type ListPosition, pagerLinks } from '../../../../../views/console/list-position.ts'
import { Section } from '../../../../../views/console/section.tsx'
import { FilterChips } from '../../../../../views/console/tabs.tsx'
import { url } from '../../../../../views/console/url.ts'
import { DeliveryBadge, time, WEBHOOKS } from './state-view.tsx'
import type { WebhookView } from './webhook-view-view.ts'

/** Deliveries of a webhook. */
export const Log = ({ base, now, webhook, deliveries, filters, position }: WebhookView) => {
  const path = `${WEBHOOKS}/${webhook.id}`
  const { status } = filters
  const hrefOf = (of: ListPosition) => url(base, path, { status, ...of })
  return (
    <Section id="log" title="Deliveries" note="Newest first.">
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
          {
            label: 'Status',
            narrow: 'corner',
            cell: (delivery) => <DeliveryBadge {...delivery} />,
          },
          { label: 'Attempts', align: 'right', cell: ({ attempts }) => attempts },
          {
            label: 'Next attempt',
            align: 'right',
            cell: ({ next_attempt_at: at }) => (at === null ? '–' : time(at, now)),
          },
          { label: 'Time', align: 'right', cell: ({ created_at: at }) => time(at, now) },
        ]}
        pages={pagerLinks(position, deliveries.next_cursor, hrefOf)}
        empty={
          deliveries.next_cursor === null ? (
            <p class="hint">
              {status ? 'No failed deliveries' : 'No deliveries yet. Send a test event to try it.'}
            </p>
          ) : (
            <p class="hint">
              No matches on this page.{' '}
              <a href={hrefOf({ cursor: deliveries.next_cursor })}>View older deliveries</a>
            </p>
          )
        }
      />
    </Section>
  )
}
