import type { FormError } from '../../../../../views/console/form/error-summary.tsx'
import type { Fields } from '../../../../http/body.ts'
import { submitted } from '../../../form.ts'
import { crumbTo } from '../../../layout.ts'
import type { Context } from '../context.ts'
import type { GateParts } from '../parts.ts'
import { FIELDS, wantedIn } from './fields.ts'
import { NewWebhookPage } from './form-view.tsx'
import { issuedSecret } from './issued.ts'

/** Creates a webhook. */
export function newWebhook({ layout, gate }: GateParts) {
  const form = (
    { request, operator }: Context,
    of: { values?: Fields; errors?: readonly FormError[] } = {},
  ): Response =>
    layout.page({
      request,
      operator,
      title: 'New webhook',
      active: 'webhooks',
      above: [crumbTo(layout.base(), 'webhooks')],
      status: of.errors ? 422 : 200,
      children: NewWebhookPage({ base: layout.base(), ...of }),
    })

  async function create(context: Context): Promise<Response> {
    const { caller, body } = context
    const { value, errors } = await submitted(
      async () => gate.webhooks.create(caller, wantedIn(body)),
      FIELDS,
    )
    if (!value) return form(context, { values: body, errors })
    const intro = 'The webhook receives new events from now on.'
    return issuedSecret(layout, context, { ...value, intro, title: 'Webhook created' })
  }

  return { form, create }
}
