import { Elysia } from 'elysia'
import { visitsOf } from '../asked.ts'
import type { GateParts } from '../parts.ts'
import { webhookDelivery } from './delivery.ts'
import { webhookList } from './list.ts'
import { newWebhook } from './new.ts'
import { webhookPage } from './page.ts'

/** Webhooks for events about users. */
export function webhookPages(parts: GateParts) {
  const asked = visitsOf(parts.callerOf)
  const list = webhookList(parts)
  const { form, create } = newWebhook(parts)
  const page = webhookPage(parts)
  const delivery = webhookDelivery(parts)
  const change = { right: 'change' } as const

  return new Elysia({ name: 'webhook pages', prefix: '/console/webhooks', detail: { hide: true } })
    .use(parts.kit)
    .get('', (visit) => list(asked(visit)), { right: 'read' })
    .get('/new', (visit) => form(asked(visit)), change)
    .post('', (visit) => create(asked(visit)), change)
    .get('/:id', (visit) => page.show(asked(visit)), { right: 'read' })
    .post('/:id', (visit) => page.change(asked(visit)), change)
    .post('/:id/pause', (visit) => page.setActive(asked(visit), false), change)
    .post('/:id/resume', (visit) => page.setActive(asked(visit), true), change)
    .post('/:id/test', (visit) => page.test(asked(visit)), change)
    .post('/:id/rotate', (visit) => page.rotate(asked(visit)), change)
    .post('/:id/delete', (visit) => page.remove(asked(visit)), { right: 'delete' })
    .get('/:id/deliveries/:part', (visit) => delivery.show(asked(visit)), { right: 'read' })
    .post('/:id/deliveries/:part/resend', (visit) => delivery.resend(asked(visit)), change)
}
