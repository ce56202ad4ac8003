import { Elysia, t } from 'elysia'
import type { Access } from '../../../http/access.ts'
import type { DeliveryLog } from '../../../http/delivery-log/deliveries.ts'
import { Delivery, DeliveryDetail, StatusFilter } from '../../../http/delivery-log/model.ts'
import { PageOf, pageQuery } from '../../../http/paging.ts'
import { CodedErrors, refusalsIn } from '../../../http/responses.ts'
import { reads } from './scopes.ts'

const { 404: Unknown, 409: Conflict } = CodedErrors
const { badBody, refused, spent } = refusalsIn(CodedErrors)

export function deliveryRoutes({
  deliveries,
  access,
}: {
  deliveries: DeliveryLog
  access: Access
}) {
  return new Elysia({ prefix: '/deliveries', tags: ['relay'] })
    .use(access)
    .get('', ({ caller, query }) => deliveries.list(caller, query), {
      scope: reads,
      detail: {
        summary: 'List deliveries',
        description:
          'Newest first. With `status`, a page may be short or empty while `has_more` is true.',
      },
      query: pageQuery({ status: t.Optional(StatusFilter), endpoint_id: t.Optional(t.String()) }),
      response: { 200: PageOf(Delivery), ...refused },
    })
    .get('/:delivery_id', ({ caller, params }) => deliveries.get(caller, params.delivery_id), {
      scope: reads,
      detail: {
        summary: 'Get a delivery',
        description: 'Includes every attempt, with the request and response as sent.',
      },
      response: { 200: DeliveryDetail, ...refused, 404: Unknown },
    })
    .post(
      '/:delivery_id/resend',
      async ({ caller, params, status }) =>
        status(202, await deliveries.resend(caller, params.delivery_id)),
      {
        scope: 'relay:endpoints',
        detail: {
          summary: 'Resend a delivery now',
          description:
            'A success ends the delivery; a failure leaves its retry schedule unchanged. An ended delivery starts over.',
        },
        response: { 202: Delivery, ...badBody, ...refused, ...spent, 404: Unknown, 409: Conflict },
      },
    )
    .post(
      '/:delivery_id/cancel',
      ({ caller, params }) => deliveries.cancel(caller, params.delivery_id),
      {
        scope: 'relay:endpoints',
        detail: {
          summary: 'Cancel a delivery',
          description: 'An attempt in progress may still succeed; no other follows.',
        },
        response: { 200: Delivery, ...badBody, ...refused, 404: Unknown, 409: Conflict },
      },
    )
}
