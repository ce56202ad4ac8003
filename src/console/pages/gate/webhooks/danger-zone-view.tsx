import { Confirm, DangerZone } from '../../../../../views/console/confirm.tsx'
import { ActionButton } from '../../../../../views/console/form/button.tsx'
import { url } from '../../../../../views/console/url.ts'
import { GracePeriod } from '../../grace-period.tsx'
import { WEBHOOKS } from './state-view.tsx'
import type { WebhookView } from './webhook-view-view.ts'

/** Rotates the secret, pauses, resumes or deletes a webhook. */
export const WebhookDangerZone = (page: WebhookView) => {
  const { webhook, mayChange, mayDelete } = page
  const items = [
    ...(mayChange ? [rotation(page), webhook.active ? pause(page) : resumption(page)] : []),
    ...(mayDelete ? [deletion(page)] : []),
  ]
  return items.length === 0 ? null : <DangerZone items={items} />
}

const to = ({ base, webhook }: WebhookView, verb: string): string =>
  url(base, `${WEBHOOKS}/${webhook.id}/${verb}`)

const rotation = (page: WebhookView) => ({
  title: 'Rotate secret',
  text: 'Creates a new signing secret. Both secrets sign until the old one expires.',
  control: (
    <Confirm
      id="rotate"
      verb="Rotate secret"
      question="Rotate the signing secret?"
      consequence="The new secret is shown once. Update your app before the old secret expires."
      action={to(page, 'rotate')}
      isHarmless
    >
      <GracePeriod label="Old secret expires" />
    </Confirm>
  ),
})

const pause = (page: WebhookView) => ({
  title: 'Pause webhook',
  text: 'Events are held until you resume it.',
  control: (
    <Confirm
      id="pause"
      verb="Pause webhook"
      question="Pause this webhook?"
      consequence="Nothing is sent. Events are held until you resume the webhook."
      action={to(page, 'pause')}
      isHarmless
    />
  ),
})

const resumption = (page: WebhookView) => ({
  title: 'Resume webhook',
  text: 'Sends the events that were held during the pause, then new ones.',
  control: <ActionButton action={to(page, 'resume')}>Resume webhook</ActionButton>,
})

const deletion = (page: WebhookView) => ({
  title: 'Delete webhook',
  text: "Cancels its queued deliveries. This can't be undone.",
  control: (
    <Confirm
      id="delete"
      verb="Delete webhook"
      question="Delete this webhook?"
      consequence="The URL stops receiving events."
      action={to(page, 'delete')}
    />
  ),
})
