import type { Endpoint } from '../../../../src/engines/relay/model/endpoints.ts'
import { Confirm, DangerZone } from '../../confirm.tsx'
import { Select } from '../../form/select.tsx'
import { url } from '../../url.ts'
import { heldWords } from './endpoint-waiting.tsx'

/** Pauses, resumes or deletes an endpoint, or rotates its secret. */
export const EndpointControls = (of: {
  base: string
  endpoint: Endpoint
  held: number
  mayDelete: boolean
}) => <DangerZone items={[...controlsOf(of)]} />

function* controlsOf({ base, endpoint, held, mayDelete }: Parameters<typeof EndpointControls>[0]) {
  const own = url(base, `/console/endpoints/${endpoint.id}`)
  yield endpoint.active ? pauseOf(own) : resumeOf(own, held)
  yield {
    title: 'Rotate secret',
    text: 'Creates a new signing secret. Both secrets sign until the old one expires.',
    control: (
      <Confirm
        id="rotate"
        verb="Rotate secret"
        question="Rotate the signing secret?"
        consequence="The new secret is shown once. Update your receiver before the old secret expires."
        action={`${own}/rotate`}
        isHarmless
      >
        <Select
          name="grace"
          label="Old secret expires"
          value="day"
          options={[
            { value: 'day', label: 'In 1 day' },
            { value: 'week', label: 'In 1 week' },
            { value: 'hour', label: 'In 1 hour' },
            { value: 'none', label: 'Immediately' },
          ]}
        />
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
        action={`${own}/delete`}
      />
    ),
  }
}

const pauseOf = (own: string) => ({
  title: 'Pause endpoint',
  text: 'Deliveries are held until you resume it.',
  control: (
    <Confirm
      id="pause"
      verb="Pause endpoint"
      question="Pause this endpoint?"
      consequence="Nothing is sent while the endpoint is paused. Deliveries are held."
      action={`${own}/pause`}
      isHarmless
    />
  ),
})

const resumeOf = (own: string, held: number) => ({
  title: 'Resume endpoint',
  text: held === 0 ? 'Starts sending again.' : `Held deliveries: ${heldWords(held)}.`,
  control: (
    <Confirm
      id="resume"
      verb="Resume endpoint"
      question="Resume this endpoint?"
      consequence="New messages are sent immediately."
      action={`${own}/resume`}
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
