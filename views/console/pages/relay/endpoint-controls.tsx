import type { Endpoint } from '../../../../src/engines/relay/model/endpoints.ts'
import { Confirm, DangerZone } from '../../confirm.tsx'
import { Select } from '../../form/select.tsx'
import { url } from '../../url.ts'
import { heldWords } from './endpoint-waiting.tsx'

/** What can be done to an endpoint that its receiver notices. */
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
    title: 'Replace its secret',
    text: 'Calls are signed with a new one; the one before may sign beside it for a while.',
    control: (
      <Confirm
        id="rotate"
        verb="Replace secret"
        question="Replace the signing secret?"
        consequence="The new one is shown once. Give it to the receiver before the old one ends."
        action={`${own}/rotate`}
        isHarmless
      >
        <Select
          name="grace"
          label="The old one signs on for"
          value="day"
          options={[
            { value: 'day', label: 'a day' },
            { value: 'week', label: 'a week' },
            { value: 'hour', label: 'an hour' },
            { value: 'none', label: 'no time at all' },
          ]}
        />
      </Confirm>
    ),
  }
  if (!mayDelete) return
  yield {
    title: 'Delete it',
    text: 'What was still to come for it is cancelled. This cannot be taken back.',
    control: (
      <Confirm
        id="delete"
        verb="Delete endpoint"
        question="Delete this endpoint?"
        consequence="It gets nothing any more, and what is held for it is cancelled."
        action={`${own}/delete`}
      />
    ),
  }
}

const pauseOf = (own: string) => ({
  title: 'Pause it',
  text: 'What comes for it is held until it is resumed.',
  control: (
    <Confirm
      id="pause"
      verb="Pause endpoint"
      question="Pause this endpoint?"
      consequence="Nothing is sent there; what comes for it is held."
      action={`${own}/pause`}
      isHarmless
    />
  ),
})

const resumeOf = (own: string, held: number) => ({
  title: 'Resume it',
  text: held === 0 ? 'Events are sent there again.' : `${heldWords(held)} are held for it.`,
  control: (
    <Confirm
      id="resume"
      verb="Resume endpoint"
      question="Resume this endpoint?"
      consequence="What comes from now on is sent at once."
      action={`${own}/resume`}
      isHarmless
    >
      <Select
        name="held"
        label="What was held meanwhile"
        value="drain"
        options={[
          { value: 'drain', label: 'is sent now' },
          { value: 'discard', label: 'is thrown away' },
        ]}
      />
    </Confirm>
  ),
})
