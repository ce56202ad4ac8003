import { Elysia } from 'elysia'
import { createContexts } from '../context.ts'
import type { GateParts } from '../parts.ts'
import { webhookDelivery } from './delivery.ts'
import { webhookList } from './list.ts'
import { newWebhook } from './new.ts'
import { webhookPage } from './page.ts'

/** Webhooks for events about users. */
export function webhookPages(parts: GateParts) {
  const contextOf = createContexts(parts.callerOf)
  const list = webhookList(parts)
  const { form, create } = newWebhook(parts)
  const page = webhookPage(parts)
  const delivery = webhookDelivery(parts)
  const change = { right: 'change' } as const

  return new Elysia({ name: 'webhook pages', prefix: '/console/webhooks', detail: { hide: true } })
    .use(parts.middleware)
    .get('', (context) => list(contextOf(context)), { right: 'read' })
    .get('/new', (context) => form(contextOf(context)), change)
    .post('', (context) => create(contextOf(context)), change)
    .get('/:id', (context) => page.show(contextOf(context)), { right: 'read' })
    .post('/:id', (context) => page.change(contextOf(context)), change)
    .post('/:id/pause', (context) => page.setActive(contextOf(context), false), change)
    .post('/:id/resume', (context) => page.setActive(contextOf(context), true), change)
    .post('/:id/test', (context) => page.test(contextOf(context)), change)
    .post('/:id/rotate', (context) => page.rotate(contextOf(context)), change)
    .post('/:id/delete', (context) => page.remove(contextOf(context)), { right: 'delete' })
    .get('/:id/deliveries/:part', (context) => delivery.show(contextOf(context)), { right: 'read' })
    .post('/:id/deliveries/:part/resend', (context) => delivery.resend(contextOf(context)), change)
}
