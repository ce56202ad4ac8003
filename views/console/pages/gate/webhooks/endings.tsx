import { Confirm, DangerZone } from '../../../confirm.tsx'
import { ActionButton } from '../../../form/button.tsx'
import { Select } from '../../../form/select.tsx'
import { url } from '../../../url.ts'
import { WEBHOOKS } from './state.tsx'
import type { WebhookView } from './webhook.tsx'

/** What ends a secret, or a webhook, for a while or for good. */
export const Endings = (page: WebhookView) => {
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
  title: 'Replace its secret',
  text: 'A new one signs from now on; this one signs beside it for a while.',
  control: (
    <Confirm
      id="rotate"
      verb="Replace secret"
      question="Replace the signing secret?"
      consequence="The new one is shown once."
      action={to(page, 'rotate')}
      isHarmless
    >
      <Select
        name="grace"
        label="The old one signs as well for"
        value="day"
        options={[
          { value: 'day', label: 'a day' },
          { value: 'week', label: 'a week' },
          { value: 'none', label: 'no time at all' },
        ]}
      />
    </Confirm>
  ),
})

const pause = (page: WebhookView) => ({
  title: 'Pause it',
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
  title: 'Resume it',
  text: 'Sends the events that were held during the pause, then new ones.',
  control: <ActionButton action={to(page, 'resume')}>Resume webhook</ActionButton>,
})

const deletion = (page: WebhookView) => ({
  title: 'Delete it',
  text: 'What was still to come for it is cancelled. This cannot be taken back.',
  control: (
    <Confirm
      id="delete"
      verb="Delete webhook"
      question="Delete this webhook?"
      consequence="Whoever is behind it is told nothing any more, from now on."
      action={to(page, 'delete')}
    />
  ),
})
