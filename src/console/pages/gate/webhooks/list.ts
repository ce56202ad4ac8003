import type { Webhook } from '../../../../engines/gate/webhooks/model.ts'
import type { Caller } from '../../../../platform/caller.ts'
import type { Context } from '../context.ts'
import type { GateParts } from '../parts.ts'
import { FLASHES } from './existing.ts'
import { FILTERS, WebhooksPage } from './list-view.tsx'

const ON_A_PAGE = 25

/** List of webhooks with their state. */
export function webhookList({ layout, gate, clock, baseUrl }: GateParts) {
  const { webhooks } = gate

  const rowOf = (caller: Caller, webhook: Webhook) => ({
    webhook,
    hours: webhooks.hours(caller, webhook.id),
    latest: webhooks.log.list(caller, { limit: 1, endpoint_id: webhook.id }).data[0],
  })

  return ({ request, operator, caller, mayChange, query }: Context): Response => {
    const all = webhooks.list(caller).webhooks.toReversed()
    const state = FILTERS.find((one) => one === query.state)
    const found = state ? all.filter(({ active }) => active === (state === 'active')) : all
    // The number of webhooks is limited, so the last ID of a page serves as cursor.
    const from = found.findIndex(({ id }) => id === query.cursor) + 1
    const shown = found.slice(from, from + ON_A_PAGE)
    return layout.page({
      request,
      operator,
      title: 'User webhooks',
      active: 'webhooks',
      flash: FLASHES.get(query.done ?? ''),
      children: WebhooksPage({
        base: layout.base(),
        apiUrl: baseUrl(),
        now: clock.now(),
        all,
        rows: shown.map((webhook) => rowOf(caller, webhook)),
        state,
        position: { cursor: query.cursor || undefined, trail: query.trail },
        next: from + shown.length < found.length ? shown.at(-1)?.id : undefined,
        mayChange,
      }),
    })
  }
}
