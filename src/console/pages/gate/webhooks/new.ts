import type { FormError } from '../../../../../views/console/form/error-summary.tsx'
import { NewWebhookPage } from '../../../../../views/console/pages/gate/webhooks/form.tsx'
import type { Fields } from '../../../../http/body.ts'
import { submitted } from '../../../form.ts'
import { crumbTo } from '../../../frame.ts'
import type { Visit } from '../asked.ts'
import type { GateParts } from '../parts.ts'
import { FIELDS, wantedIn } from './fields.ts'
import { issuedSecret } from './issued.ts'

/** Creates a webhook. */
export function newWebhook({ frames, gate }: GateParts) {
  const form = (
    { request, visitor }: Visit,
    of: { typed?: Fields; errors?: readonly FormError[] } = {},
  ): Response =>
    frames.page({
      request,
      visitor,
      title: 'New webhook',
      active: 'webhooks',
      above: [crumbTo(frames.base(), 'webhooks')],
      status: of.errors ? 422 : 200,
      children: NewWebhookPage({ base: frames.base(), ...of }),
    })

  async function create(visit: Visit): Promise<Response> {
    const { caller, body } = visit
    const { value, errors } = await submitted(
      async () => gate.webhooks.create(caller, wantedIn(body)),
      FIELDS,
    )
    if (!value) return form(visit, { typed: body, errors })
    const intro = 'The webhook receives new events from now on.'
    return issuedSecret(frames, visit, { ...value, intro, title: 'Webhook created' })
  }

  return { form, create }
}
