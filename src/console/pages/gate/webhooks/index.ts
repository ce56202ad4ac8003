import { Elysia } from 'elysia'
import { contextsOf } from '../asked.ts'
import type { GateParts } from '../parts.ts'
import { webhookDelivery } from './delivery.ts'
import { webhookList } from './list.ts'
import { newWebhook } from './new.ts'
import { webhookPage } from './page.ts'

/** Webhooks for events about users. */
export function webhookPages(parts: GateParts) {
  const asked = contextsOf(parts.callerOf)
  const list = webhookList(parts)
  const { form, create } = newWebhook(parts)
  const page = webhookPage(parts)
  const delivery = webhookDelivery(parts)
  const change = { right: 'change' } as const

  return new Elysia({ name: 'webhook pages', prefix: '/console/webhooks', detail: { hide: true } })
    .use(parts.middleware)
    .get('', (context) => list(asked(context)), { right: 'read' })
    .get('/new', (context) => form(asked(context)), change)
    .post('', (context) => create(asked(context)), change)
    .get('/:id', (context) => page.show(asked(context)), { right: 'read' })
    .post('/:id', (context) => page.change(asked(context)), change)
    .post('/:id/pause', (context) => page.setActive(asked(context), false), change)
    .post('/:id/resume', (context) => page.setActive(asked(context), true), change)
    .post('/:id/test', (context) => page.test(asked(context)), change)
    .post('/:id/rotate', (context) => page.rotate(asked(context)), change)
    .post('/:id/delete', (context) => page.remove(asked(context)), { right: 'delete' })
    .get('/:id/deliveries/:part', (context) => delivery.show(asked(context)), { right: 'read' })
    .post('/:id/deliveries/:part/resend', (context) => delivery.resend(asked(context)), change)
}
