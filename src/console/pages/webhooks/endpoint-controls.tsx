import { Confirm, DangerZone } from '../../../../views/console/confirm.tsx'
import { Select } from '../../../../views/console/form/select.tsx'
import type { Endpoint } from '../../../engines/relay/model/endpoints.ts'
import { usePage } from '../../page.tsx'
import { GracePeriod } from '../grace-period.tsx'
import { heldWords } from './endpoint-waiting.tsx'

/** Pauses, resumes or deletes an endpoint, or rotates its secret. */
export function EndpointControls({ endpoint, held }: { endpoint: Endpoint; held: number }) {
  const { may, actionHref } = usePage()
  return <DangerZone items={[...controlsOf(endpoint, held, actionHref, may('delete'))]} />
}

type ActionHref = (action: string) => string

function* controlsOf(endpoint: Endpoint, held: number, actionHref: ActionHref, mayDelete: boolean) {
  yield endpoint.active ? pauseOf(actionHref) : resumeOf(actionHref, held)
  yield {
    title: 'Rotate secret',
    text: 'Creates a new signing secret. Both secrets sign until the old one expires.',
    control: (
      <Confirm
        id="rotate"
        verb="Rotate secret"
        question="Rotate the signing secret?"
        consequence="The new secret is shown once. Update your receiver before the old secret expires."
        action={actionHref('rotate')}
        isHarmless
      >
        <GracePeriod label="Old secret expires" />
      </Confirm>
    ),
  }
  if (!mayDelete) return
  yield {
    title: 'Delete endpoint',
    text: "Cancels its queued deliveries. This can't be undone.",
    control: (
      <Confirm
        id="delete"
        verb="Delete endpoint"
        question="Delete this endpoint?"
        consequence="The endpoint stops receiving messages. Its queued and held deliveries are cancelled."
        action={actionHref('delete')}
      />
    ),
  }
}

const pauseOf = (actionHref: ActionHref) => ({
  title: 'Pause endpoint',
  text: 'Deliveries are held until you resume it.',
  control: (
    <Confirm
      id="pause"
      verb="Pause endpoint"
      question="Pause this endpoint?"
      consequence="Nothing is sent while the endpoint is paused. Deliveries are held."
      action={actionHref('pause')}
      isHarmless
    />
  ),
})

const resumeOf = (actionHref: ActionHref, held: number) => ({
  title: 'Resume endpoint',
  text: held === 0 ? 'Starts sending again.' : `Held deliveries: ${heldWords(held)}.`,
  control: (
    <Confirm
      id="resume"
      verb="Resume endpoint"
      question="Resume this endpoint?"
      consequence="New messages are sent immediately."
      action={actionHref('resume')}
      isHarmless
    >
      <Select
        name="held"
        label="Held deliveries"
        value="drain"
        options={[
          { value: 'drain', label: 'Send now' },
          { value: 'discard', label: 'Discard' },
        ]}
      />
    </Confirm>
  ),
})
