import { shorten } from '../../../../../views/console/text.tsx'
import type { Gate } from '../../../../engines/gate/index.ts'
import type { Webhook } from '../../../../engines/gate/webhooks/model.ts'
import { fail, notFound } from '../../../../platform/errors.ts'
import type { Context } from '../context.ts'
import { flash } from '../parts.ts'

/** The webhook in the path, of the operator's tenant. */
export const existing = ({ webhooks }: Gate, { caller, params }: Context): Webhook =>
  webhooks.list(caller).webhooks.find(({ id }) => id === params.id) ??
  fail(notFound('webhook not found'))

export const crumbOf = (base: string, { id, url }: Webhook) => ({
  label: shorten(new URL(url).host, 40),
  href: `${base}/console/webhooks/${id}`,
})

/** Message about the last action. */
export const FLASHES = new Map(
  Object.entries({
    changed: flash.good('Saved.'),
    paused: flash.good('Webhook paused. Events are held until you resume it.'),
    resumed: flash.good('Webhook resumed. Held events are being sent.'),
    deleted: flash.good('Webhook deleted. Its queued deliveries are cancelled.'),
    resent: flash.good('Retry started.'),
  }),
)
