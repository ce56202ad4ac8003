import { Elysia, t } from 'elysia'
import type { Access } from '../../../http/access.ts'
import {
  Delivery,
  DeliveryDetail,
  Rotated,
  Rotation,
  StatusFilter,
  TestResult,
} from '../../../http/delivery-log/model.ts'
import { PageOf, pageQuery } from '../../../http/paging.ts'
import { Empty, PlainErrors, refusalsIn } from '../../../http/responses.ts'
import type { Webhooks } from './index.ts'
import {
  CreatedWebhook,
  NewWebhook,
  TestRequest,
  Webhook,
  WebhookChange,
  Webhooks as WebhookList,
} from './model.ts'

const { 404: Unknown, 409: Conflict } = PlainErrors
const { refused, badBody, spent } = refusalsIn(PlainErrors)
const reads = 'settings:read'
const writes = 'settings:write'

/** contract/gate, webhook settings; plus secret rotation, test events and the log. */
export function webhookRoutes({ webhooks, access }: { webhooks: Webhooks; access: Access }) {
  const { log } = webhooks

  return new Elysia({ prefix: '/settings/webhooks', tags: ['gate'] })
    .use(access)
    .get('', ({ caller }) => webhooks.list(caller), {
      scope: reads,
      detail: { summary: 'List webhooks' },
      response: { 200: WebhookList, ...refused },
    })
    .post(
      '',
      async ({ caller, body, status }) => status(201, await webhooks.create(caller, body)),
      {
        scope: writes,
        detail: {
          summary: 'Create a webhook',
          description:
            'Subscribes to all events unless you list some. The secret is shown only once.',
        },
        body: NewWebhook,
        response: { 201: CreatedWebhook, ...badBody, ...refused, 409: Conflict },
      },
    )
    .patch(
      '/:webhook_id',
      ({ caller, params, body }) => webhooks.update(caller, params.webhook_id, body),
      {
        scope: writes,
        detail: {
          summary: 'Update, pause or resume a webhook',
          description: 'Changes only the given fields. Replaces `events` as a whole.',
        },
        body: WebhookChange,
        response: { 200: Webhook, ...badBody, ...refused, 404: Unknown, 409: Conflict },
      },
    )
    .delete(
      '/:webhook_id',
      ({ caller, params, status }) =>
        webhooks.remove(caller, params.webhook_id).then(() => status(204, undefined)),
      {
        scope: writes,
        detail: { summary: 'Delete a webhook' },
        response: { 204: Empty, ...refused, 404: Unknown },
      },
    )
    .post(
      '/:webhook_id/rotate-secret',
      ({ caller, params, body }) => webhooks.rotate(caller, params.webhook_id, body),
      {
        scope: writes,
        detail: {
          summary: 'Rotate the secret of a webhook',
          description: 'The previous secret also signs during the grace period.',
        },
        body: t.Nullable(Rotation),
        response: { 200: Rotated, ...badBody, ...refused, 404: Unknown, 409: Conflict },
      },
    )
    .post(
      '/:webhook_id/test',
      ({ caller, params, body }) => webhooks.test(caller, params.webhook_id, body),
      {
        scope: writes,
        detail: {
          summary: 'Send a test event to a webhook',
          description: 'Waits for the response. The event is not stored.',
        },
        body: t.Nullable(TestRequest),
        response: {
          200: TestResult,
          ...badBody,
          ...refused,
          404: Unknown,
          409: Conflict,
          ...spent,
        },
      },
    )
    .get('/deliveries', ({ caller, query }) => log.list(caller, query), {
      scope: reads,
      detail: {
        summary: 'List the deliveries of webhooks',
        description:
          'Newest first. With `status`, a page may be short or empty while `has_more` is true.',
      },
      query: pageQuery({ status: t.Optional(StatusFilter), endpoint_id: t.Optional(t.String()) }),
      response: { 200: PageOf(Delivery), ...refused },
    })
    .get('/deliveries/:delivery_id', ({ caller, params }) => log.get(caller, params.delivery_id), {
      scope: reads,
      detail: {
        summary: 'Get a delivery of a webhook',
        description: 'Includes every attempt, with the request and response as sent.',
      },
      response: { 200: DeliveryDetail, ...refused, 404: Unknown },
    })
    .post(
      '/deliveries/:delivery_id/resend',
      async ({ caller, params, status }) =>
        status(202, await log.resend(caller, params.delivery_id)),
      {
        scope: writes,
        detail: { summary: 'Resend a delivery of a webhook now' },
        response: { 202: Delivery, ...badBody, ...refused, ...spent, 404: Unknown, 409: Conflict },
      },
    )
}
